"""Values: what the standard library's dataclasses promise holds of classes whose methods are written at first use."""

import dataclasses
import inspect
import pickle
from typing import ClassVar

import pytest

from discreet.core.value import dataclass, fields, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A value with a default, a list of its own and a field that is not compared."""

    unit: ClassVar[str] = "m"
    x: int
    y: int = 0
    seen: list[int] = dataclasses.field(default_factory=list, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named(Point):
    """A value with one more field, by keyword, that checks itself."""

    name: str = ""
    size: int = dataclasses.field(init=False, default=1)

    def __post_init__(self):
        object.__setattr__(self, "name", self.name.strip())


@dataclass(slots=True, eq=False)
class Counter:
    """A value that may change, and is equal to itself alone."""

    count: int = 0


def test_values_are_made_by_place_and_by_name():
    assert (Point(1).x, Point(1).y, Point(x=1, y=2).y) == (1, 0, 2)
    assert Point(1).seen is not Point(1).seen
    made = Named(1, 2, name=" a ")
    assert (made.x, made.y, made.name, made.size) == (1, 2, "a", 1)
    with pytest.raises(TypeError):
        Point()
    with pytest.raises(TypeError):
        Named(1, 2, [], "a")


def test_values_are_equal_by_their_fields_and_of_one_class():
    assert Point(1, 2, [3]) == Point(1, 2)
    assert hash(Point(1, 2, [3])) == hash(Point(1, 2))
    assert Point(1) != Point(2)
    assert Point(1) != Named(1)
    assert Counter() != Counter()
    assert len({Point(1), Point(1), Point(2)}) == 2


def test_a_value_shows_its_fields():
    assert repr(Point(1, 2)) == "Point(x=1, y=2)"
    assert repr(Named(1, name="a")) == "Named(x=1, y=0, name='a', size=1)"


def test_a_frozen_value_does_not_change_and_has_no_other_attributes():
    for name in ("x", "other"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(Point(1), name, 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        del Point(1).x
    assert not hasattr(Point(1), "__dict__")
    counter = Counter()
    counter.count += 1
    assert counter.count == 1
    with pytest.raises(AttributeError):
        counter.other = 1


def test_values_are_pickled_and_matched():
    assert pickle.loads(pickle.dumps(Named(1, name="a"))) == Named(1, name="a")
    match Point(1, 2):
        case Point(x, y):
            assert (x, y) == (1, 2)


@pytest.mark.parametrize("kind", [Point, Named])
def test_the_standard_library_reads_them_as_its_own(kind):
    names = [each.name for each in dataclasses.fields(kind)]
    assert [each.name for each in fields(kind)] == names == list(dataclasses.asdict(kind(1)))
    assert dataclasses.is_dataclass(kind)
    assert dataclasses.replace(kind(1), x=2) == replace(kind(1), x=2) == kind(2)
    assert list(inspect.signature(kind).parameters)[:3] == ["x", "y", "seen"]


def test_a_dataclass_of_the_standard_library_may_extend_one():
    @dataclasses.dataclass(frozen=True, slots=True)
    class Weighted(Point):
        weight: int = 1

    assert repr(Weighted(1, weight=2)).endswith("Weighted(x=1, y=0, weight=2)")
    assert fields(Weighted)[-1].name == "weight"
