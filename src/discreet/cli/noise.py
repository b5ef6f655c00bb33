"""discreet noise: draw exact integer noise from a named distribution."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import click

from discreet.cli.shared.output import Output
from discreet.core.rational import parse_written

# Distribution, its parameter, and what the parameter means.
_DISTRIBUTIONS = {
    "laplace": ("scale", "P(k) is proportional to exp(-|k| / scale)"),
    "gaussian": ("sigma", "P(k) is proportional to exp(-k^2 / (2 sigma^2))"),
    "geometric": ("scale", "P(k) is proportional to exp(-k / scale), for k = 0, 1, 2, ..."),
    "uniform": ("n", "0, 1, ..., n - 1, each with probability 1 / n"),
    "bernoulli": ("p", "1 with probability p, else 0"),
    "bernoulli_exp": ("x", "1 with probability exp(-x), else 0"),
}


@click.group()
def command() -> None:
    """Draw exact integer noise from a named distribution.

    Parameters are read exactly as written: 2, 0.1 (one tenth), 1e-6 or 1/3. Numbers come one a line.
    """


def _add(name: str, parameter: str, meaning: str) -> None:
    @click.pass_obj
    def draw(output: Output, /, size: int | None, **given: str) -> None:
        import discreet.noise as noise

        value = parse_written(parameter, given[parameter])
        sampler: Callable[..., Any] = getattr(noise, name)
        exact: int | Fraction = value.numerator if value.denominator == 1 else value
        drawn = sampler(exact, size)
        values = [drawn] if size is None else drawn.tolist()
        output.plain({"distribution": name, parameter: str(value), "values": values}, values)

    options = [
        click.Option([f"--{parameter}"], required=True, metavar="NUMBER", help=meaning + "."),
        click.Option(["--size"], type=int, metavar="COUNT", help="How many to draw; default: one."),
    ]
    word = name.replace("_", "-")
    command.add_command(click.Command(word, callback=draw, params=list(options), help=f"Draw: {meaning}."))


for _name, (_parameter, _meaning) in _DISTRIBUTIONS.items():
    _add(_name, _parameter, _meaning)
