"""Deployments: what others have published about the privacy of their products, as losses on one scale."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Literal

from discreet.account.losses.approx import Approx
from discreet.account.losses.loss import PrivacyLoss
from discreet.account.losses.pure import Pure
from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import Number, failure
from discreet.account.numeric.rounding import up
from discreet.core.value import dataclass

Model = Literal["local", "central", "not told"]

DELTA = Fraction(1, 10**6)  # the delta of the one scale

# How often a promise is made again to the same person: in a month of 30 days, and in a year.
RENEWED = {"a day": (30, 365), "six hours": (120, 1460), "a month": (1, 12)}


@dataclass(frozen=True, slots=True)
class Deployment:
    """A promise someone published: for whom, in which model, and in which words and numbers.

    `protects` is what one neighbour step changes. `renewed` says after which time the same person is promised as much
    again ("" where that is never, or where nobody told); `loss` is None where no number was published.
    """

    organisation: str
    product: str
    year: int
    published: str
    protects: str
    model: Model
    source: str
    loss: PrivacyLoss | None = None
    renewed: str = ""
    remark: str = ""

    def epsilon(self, delta: Number = DELTA, times: int = 1) -> float | None:
        """Return the epsilon of so many such promises together; None where what was published does not say.

        Guarantee: an upper bound, by composition: no mechanism that keeps the promise loses more.
        """
        if self.loss is None:
            return None
        loss, slack = self.loss * times, failure("delta", delta)
        # At just its own delta a loss costs its peak, however the accountants round.
        found = min(loss.epsilon(slack), up(loss.peak)) if slack >= loss.slack else loss.epsilon(slack)
        return found if math.isfinite(found) else None

    def over(self, delta: Number = DELTA) -> tuple[float | None, float | None]:
        """Return the epsilon that one person may lose in a month of 30 days, and in a year, at most.

        None where the promise is not renewed by the calendar: it is permanently, or for each event, however many.
        """
        month, year = RENEWED.get(self.renewed, (0, 0))
        return (self.epsilon(delta, month) if month else None), (self.epsilon(delta, year) if year else None)

    def guess(self, delta: Number = DELTA) -> float | None:
        """Return how often the best attacker is right about a fair bit that one neighbour step changes, at most."""
        epsilon = self.epsilon(delta)
        return None if epsilon is None else (1 + float(delta) * math.exp(-epsilon)) / (1 + math.exp(-epsilon))

    def record(self, delta: Number = DELTA) -> dict[str, Any]:
        """Return it as plain JSON values, with its place on the scale."""
        month, year = self.over(delta)
        return {
            "organisation": self.organisation,
            "product": self.product,
            "year": self.year,
            "published": self.published,
            "loss": None if self.loss is None else self.loss.record(),
            "protects": self.protects,
            "model": self.model,
            "renewed": self.renewed or None,
            "source": self.source,
            "remark": self.remark or None,
            "delta": float(delta),
            "epsilon": self.epsilon(delta),
            "guess": self.guess(delta),
            "month": month,
            "per_year": year,
        }


def compared(delta: Number = DELTA) -> list[Deployment]:
    """Return all deployments on one scale, the smallest epsilon first, and those that cannot be placed last."""

    def place(each: Deployment) -> tuple[float, str, str]:
        found = each.epsilon(delta)
        return (math.inf if found is None else found), each.organisation, each.product

    return sorted(DEPLOYMENTS, key=place)


_REGISTRY = "OpenDP deployments registry"
_LEARNING = "Apple, Learning with Privacy at Scale (2017)"
_TANG = "Tang, Korolova, Bai, Wang, Wang (2017), who reverse-engineered the system"
_CENSUS = "TopDown algorithm, Abowd and others (2022)"
_ROGERS = "Rogers and others (2020)"

DEPLOYMENTS = (
    Deployment(
        "Apple",
        "macOS 10.12, all collections together",
        2017,
        "epsilon 6 a day",
        "a person's day",
        "local",
        _TANG,
        Pure(6, relation="replace"),
        "a day",
        "found by others, not published by Apple",
    ),
    Deployment(
        "Apple",
        "iOS 10, all collections together",
        2017,
        "epsilon 14 a day",
        "a person's day",
        "local",
        _TANG,
        Pure(14, relation="replace"),
        "a day",
        "found by others, not published by Apple",
    ),
    Deployment(
        "Apple",
        "health types",
        2017,
        "epsilon 2",
        "a person's day",
        "local",
        f"{_LEARNING}; {_REGISTRY}",
        Pure(2, relation="replace"),
        "a day",
    ),
    Deployment(
        "Apple",
        "popular emojis",
        2017,
        "epsilon 4",
        "an emoji typed",
        "local",
        f"{_LEARNING}; {_REGISTRY}",
        Pure(4, relation="replace"),
        remark="the number sent per day is limited, and the limit is not published",
    ),
    Deployment(
        "Apple",
        "Safari domains that drain energy or crash",
        2017,
        "epsilon 4",
        "a page loaded",
        "local",
        f"{_LEARNING}; {_REGISTRY}",
        Pure(4, relation="replace"),
        remark="the number sent per day is limited, and the limit is not published",
    ),
    Deployment(
        "Google",
        "RAPPOR in Chrome",
        2014,
        "2h ln((1 - f/2) / (f/2)) in total",
        "a person's answer",
        "local",
        "Erlingsson, Pihur, Korolova (2014)",
        remark="h and f differ from collection to collection",
    ),
    Deployment(
        "Google",
        "Community Mobility Reports",
        2020,
        "epsilon 2.64 a day",
        "a person's day",
        "central",
        f"Aktay and others (2020); {_REGISTRY}",
        Pure(Fraction("2.64")),
        "a day",
    ),
    Deployment(
        "Google",
        "Vaccine Search Insights",
        2021,
        "epsilon 2.19, delta 1e-5",
        "a person's day",
        "central",
        _REGISTRY,
        Approx(Fraction("2.19"), Fraction("1e-5")),
        "a day",
    ),
    Deployment(
        "Google",
        "Gboard, Spanish next words",
        2022,
        "rho 0.81",
        "a device",
        "central",
        _REGISTRY,
        Zcdp(Fraction("0.81")),
        remark="of one model; later models are not counted",
    ),
    Deployment(
        "LinkedIn",
        "Audience Engagements, one query",
        2020,
        "epsilon 0.15, delta 1e-10 a query",
        "a person, in one query",
        "central",
        _ROGERS,
        Approx(Fraction("0.15"), Fraction("1e-10")),
        remark="per query only: see the monthly guarantee",
    ),
    Deployment(
        "LinkedIn",
        "Audience Engagements, a month of queries",
        2020,
        "epsilon 34.9, delta 7e-9 a month",
        "a person's month",
        "central",
        f"{_ROGERS}; {_REGISTRY}",
        Approx(Fraction("34.9"), Fraction("7e-9")),
        "a month",
    ),
    Deployment(
        "LinkedIn",
        "hiring reports",
        2020,
        "epsilon 4.8, delta 4e-10 a month",
        "a person hired",
        "central",
        _REGISTRY,
        Approx(Fraction("4.8"), Fraction("4e-10")),
        remark="one hiring may be in the reports of several months",
    ),
    Deployment(
        "Meta",
        "URLs that people shared",
        2020,
        "rho 0.0728; epsilon 1.453, delta 1e-5",
        "a person",
        "central",
        _REGISTRY,
        Zcdp(Fraction("0.0728")),
        remark="the published epsilon is that of Gaussian privacy with mu 0.376",
    ),
    Deployment(
        "Meta",
        "Movement Range Maps",
        2020,
        "epsilon 2 a day",
        "a person's day",
        "central",
        _REGISTRY,
        Pure(2),
        "a day",
    ),
    Deployment(
        "Microsoft",
        "Windows telemetry",
        2017,
        "epsilon 1.672 each six hours",
        "six hours of a person",
        "local",
        f"Ding, Kulkarni, Yekhanin (2017); {_REGISTRY}",
        Pure(Fraction("1.672"), relation="replace"),
        "six hours",
        "answers are memoized, so unchanging ones lose less over time than this bound",
    ),
    Deployment(
        "Microsoft and IOM",
        "victims of trafficking, synthetic",
        2023,
        "epsilon 12, delta 5.8e-6",
        "a person",
        "central",
        _REGISTRY,
        Approx(12, Fraction("5.8e-6")),
    ),
    Deployment(
        "US Census Bureau",
        "2020 redistricting data, persons",
        2021,
        "rho 2.56; epsilon 17.14, delta 1e-10",
        "a person, replaced",
        "central",
        f"{_CENSUS}; {_REGISTRY}",
        Zcdp(Fraction("2.56"), relation="replace"),
        remark="some totals are exact, and outside the guarantee",
    ),
    Deployment(
        "US Census Bureau",
        "2020 redistricting data, housing units",
        2021,
        "rho 0.07; epsilon 2.47, delta 1e-10",
        "a housing unit, replaced",
        "central",
        f"{_CENSUS}; {_REGISTRY}",
        Zcdp(Fraction("0.07"), relation="replace"),
        remark="some totals are exact, and outside the guarantee",
    ),
    Deployment(
        "US Census Bureau",
        "2020 demographic and housing data, persons",
        2023,
        "rho 4.96; epsilon 26.34, delta 1e-10",
        "a person, replaced",
        "central",
        _REGISTRY,
        Zcdp(Fraction("4.96"), relation="replace"),
        remark="on top of the redistricting data",
    ),
    Deployment(
        "Wikimedia",
        "page views by country",
        2023,
        "rho 0.015 a day",
        "a device's day",
        "central",
        _REGISTRY,
        Zcdp(Fraction("0.015")),
        "a day",
        "of one device; a person with several counts as several",
    ),
    Deployment(
        "Israel, Ministry of Health",
        "live births of 2014, synthetic",
        2024,
        "epsilon 9.98",
        "a birth",
        "central",
        _REGISTRY,
        Pure(Fraction("9.98")),
    ),
)
