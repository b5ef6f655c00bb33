"""Texts: what is a text, and how long one may be."""

from __future__ import annotations

from discreet.core.errors import show
from discreet.plan.expressions import Call
from discreet.plan.refusals import IllTyped
from discreet.plan.typed_expression import Typed


def check_text(node: Call, value: Typed) -> None:
    """Refuse what is neither a text nor a category whose keys are text."""
    if not value.has_text:
        why = f"{show(value.expression)} is a {value.kind}, not text"
        raise IllTyped(node, why=why, fix="use a text column, or a category whose keys are text")
