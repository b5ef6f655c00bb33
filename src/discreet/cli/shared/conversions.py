"""Conversions between ways of stating privacy, each figure with the formula it comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from discreet.account.numeric.checks import nonnegative, positive, positive_failure
from discreet.account.numeric.rounding import decimal, precise, raised, up
from discreet.core.errors import BadParameter

_CENSUS = (
    "The naive formula is the one behind published figures: the 2020 Census's rho 2.63 became epsilon 13.64 at delta"
    " 1e-5 by it, although the same rho guarantees the smaller figures below."
)


@dataclass(frozen=True, slots=True)
class ConversionLine:
    """One converted figure."""

    name: str
    value: float
    note: str


@dataclass(frozen=True, slots=True)
class Conversion:
    """What was given, what was sought, and each formula's answer."""

    title: str
    quantity: str
    given: dict[str, float]
    lines: list[ConversionLine]
    remark: str = ""


def converted(
    *, rho: Fraction | None, mu: Fraction | None, epsilon: Fraction | None, delta: Fraction | None
) -> Conversion:
    """Convert what was given into what was not."""
    given = {"rho": rho, "mu": mu, "epsilon": epsilon, "delta": delta}
    named = {name: value for name, value in given.items() if value is not None}
    makers: dict[tuple[str, ...], Callable[..., Conversion]] = {
        ("rho", "delta"): _rho_to_epsilon,
        ("rho", "epsilon"): _rho_to_delta,
        ("mu", "delta"): _mu_to_epsilon,
        ("epsilon", "delta"): _approx_to_others,
        ("epsilon",): _pure_to_rho,
    }
    if tuple(named) not in makers:
        ways = ", ".join(" and ".join(f"--{name}" for name in names) for names in makers)
        raise BadParameter(
            "given", tuple(named) or "nothing", why="there is no conversion from just these", fix=f"give one of {ways}"
        )
    for name, value in named.items():
        (positive_failure if name == "delta" else nonnegative if name == "epsilon" else positive)(name, value)
    return makers[tuple(named)](**named)


def naive_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return rho + 2 sqrt(rho ln(1/delta)), rounded up (Bun and Steinke 2016, Proposition 1.3)."""
    with precise():
        return raised(decimal(rho) + 2 * (-decimal(rho) * decimal(delta).ln()).sqrt())


def _rho_to_epsilon(rho: Fraction, delta: Fraction) -> Conversion:
    from discreet.account.losses.gaussian import GaussianDP
    from discreet.account.losses.zcdp import Zcdp

    lines = [
        ConversionLine("naive", naive_epsilon(rho, delta), "rho + 2 sqrt(rho ln(1/delta)); Bun and Steinke 2016"),
        ConversionLine("tight", Zcdp(rho).epsilon(delta=delta), "best Renyi order; Canonne, Kamath, Steinke 2020"),
        ConversionLine("gaussian", GaussianDP(_mu(rho)).epsilon(delta=delta), "exact, if all of it is Gaussian noise"),
    ]
    return Conversion(_title(rho=rho, delta=delta), "epsilon", _given(rho=rho, delta=delta), lines, _CENSUS)


def _rho_to_delta(rho: Fraction, epsilon: Fraction) -> Conversion:
    from discreet.account.losses.gaussian import GaussianDP
    from discreet.account.losses.zcdp import Zcdp

    excess = max(Fraction(0), epsilon - rho)
    with precise():
        naive = min(1.0, raised((-decimal(excess * excess / (4 * rho))).exp()))
    lines = [
        ConversionLine("naive", naive, "exp(-(epsilon - rho)^2 / (4 rho)); Bun and Steinke 2016"),
        ConversionLine("tight", Zcdp(rho).delta(epsilon=epsilon), "best Renyi order; Canonne, Kamath, Steinke 2020"),
        ConversionLine(
            "gaussian", GaussianDP(_mu(rho)).delta(epsilon=epsilon), "exact, if all of it is Gaussian noise"
        ),
    ]
    return Conversion(_title(rho=rho, epsilon=epsilon), "delta", _given(rho=rho, epsilon=epsilon), lines)


def _mu_to_epsilon(mu: Fraction, delta: Fraction) -> Conversion:
    from discreet.account.losses.gaussian import GaussianDP
    from discreet.account.losses.zcdp import Zcdp

    rho = mu * mu / 2
    lines = [
        ConversionLine("gaussian", GaussianDP(mu).epsilon(delta=delta), "exact; Balle and Wang 2018"),
        ConversionLine("tight", Zcdp(rho).epsilon(delta=delta), f"through rho = mu^2/2 = {float(rho):.6g}"),
    ]
    return Conversion(_title(mu=mu, delta=delta), "epsilon", _given(mu=mu, delta=delta), lines)


def _approx_to_others(epsilon: Fraction, delta: Fraction) -> Conversion:
    import discreet.account.budgets.calibrate as calibrate
    from discreet.account.budgets.conversion import zcdp_budget

    positive("epsilon", epsilon)
    sigma = calibrate.gaussian(epsilon=epsilon, delta=delta)
    rho = zcdp_budget(epsilon, delta)
    lines = [
        ConversionLine("rho", rho, "the most rho-zCDP that implies it; Canonne, Kamath, Steinke 2020"),
        ConversionLine("mu", 1 / sigma, "the most Gaussian privacy that implies it; Balle and Wang 2018"),
        ConversionLine("sigma", sigma, "the least Gaussian noise, over the sensitivity, that gives it"),
    ]
    return Conversion(_title(epsilon=epsilon, delta=delta), "value", _given(epsilon=epsilon, delta=delta), lines)


def _pure_to_rho(epsilon: Fraction) -> Conversion:
    from discreet.account.losses.exponential import Exponential
    from discreet.account.losses.pure import Pure

    lines = [
        ConversionLine("naive", up(epsilon * epsilon / 2), "epsilon^2/2, for any pure mechanism; Bun and Steinke 2016"),
        ConversionLine("tight", Pure(epsilon).zcdp(), "that of randomized response, the worst pure mechanism"),
        ConversionLine(
            "bounded range", Exponential(epsilon).zcdp(), "epsilon^2/8, for the exponential mechanism alone"
        ),
    ]
    return Conversion(_title(epsilon=epsilon), "rho", _given(epsilon=epsilon), lines)


def _mu(rho: Fraction) -> float:
    """Return sqrt(2 rho), rounded up: Gaussian noise of mu-GDP is mu^2/2-zCDP."""
    with precise():
        return raised(decimal(2 * rho).sqrt())


def _given(**values: Fraction) -> dict[str, float]:
    return {name: float(value) for name, value in values.items()}


def _title(**values: Fraction) -> str:
    return ", ".join(f"{name} {float(value):.6g}" for name, value in values.items())
