"""Tails: the public functions hand on whatever was sampled, however far out, and tables reach as far as their words."""

from importlib import import_module

import numpy as np
import pytest

from discreet import noise
from discreet.noise import bits, rejection, sampling

FAR = 10**6
# The function, which has the name of its module and of its sampler by rejection, and what makes its tables.
PUBLIC = [("gaussian", "Bins"), ("laplace", "_tables"), ("geometric", "_tables")]


class Outermost:
    """A sampler whose every draw lies a million scales out, on both sides in turn."""

    nbytes = 0

    def __init__(self, *_):
        pass

    def draw(self, source, out):
        out[...] = np.where(np.arange(len(out)) % 2, -FAR, FAR)
        return out

    def one(self, source):
        return FAR


@pytest.fixture(autouse=True)
def _no_tables():
    sampling.clear()
    yield
    sampling.clear()


@pytest.mark.parametrize(("name", "tables"), PUBLIC)
@pytest.mark.parametrize("scale", [1, 7])
def test_what_a_table_gives_is_handed_on_as_it_is(monkeypatch, name, tables, scale):
    monkeypatch.setattr(import_module(f"discreet.noise.{name}"), tables, Outermost)
    draw = getattr(noise, name)
    drawn = draw(scale, (2, 300))
    assert drawn.shape == (2, 300)
    assert set(drawn.ravel().tolist()) == {FAR, -FAR}
    assert draw(scale) == FAR


@pytest.mark.parametrize(("name", "tables"), PUBLIC)
def test_what_rejection_gives_is_handed_on_as_it_is(monkeypatch, name, tables):
    values = iter([FAR, -FAR, 10**30, -(10**30), 3])
    monkeypatch.setattr(rejection, name, lambda source, scale: next(values))
    draw = getattr(noise, name)
    assert [draw(2), draw(2)] == [FAR, -FAR]
    assert draw(2, 3).tolist() == [10**30, -(10**30), 3]


class Lowest(bits.BitSource):
    """A stream whose first words are all zeros, and then all ones: it leads as far down as a table's bits can tell."""

    __slots__ = ("_calls",)

    def __init__(self):
        super().__init__()
        self._calls = 0

    def words(self, count, bits_):
        self._calls += 1
        found = np.full(count, 0 if self._calls == 1 else (1 << bits_) - 1, dtype=np.uint64)
        return found.astype(f"u{2 if bits_ <= 16 else 4 if bits_ <= 32 else 8}")


@pytest.mark.parametrize(("name", "least"), [("gaussian", 4), ("laplace", 10)])
def test_the_least_word_of_a_table_lies_as_far_out_as_the_law_has_it(name, least):
    """P(X <= -4 sigma) is 3e-5 and P(X <= -10 scales) 2e-5, above and about 2^-16; zeros are followed by ones."""
    with bits.drawing(Lowest()):
        drawn = getattr(noise, name)(1, 600)
    assert drawn.max() <= -least
