"""Relabelling: the same loss, stated under the other neighbour relation, where the noise covers that too."""

from __future__ import annotations

from discreet.account.losses.composition import Composed, total
from discreet.account.losses.loss import PrivacyLoss
from discreet.core.unit import Relation, check_relation


def under(loss: PrivacyLoss, relation: Relation) -> PrivacyLoss:
    """Return a loss, with all losses inside it, under another relation.

    Guarantee: none by itself; the caller vouches that the promise holds for the neighbours named. It does for noise and
    scores made for add_remove and units of 2R rows in 2G groups, asked of units of R rows in G groups under replace:
    one unit is taken out and one put in, so that at most 2R rows in 2G groups count with one sign or the other, and
    what sensitivities bound has no sign. It does not where a proof uses that all rows move one way: monotone scores, or
    parallel composition and Poisson sampling, which refuse to be relabelled.
    """
    if loss.relation == check_relation(relation):
        return loss
    if isinstance(loss, Composed):
        return total(under(part, relation) * count for part, count in loss.parts)
    return type(loss)(**{**loss.parameters(), "relation": relation})
