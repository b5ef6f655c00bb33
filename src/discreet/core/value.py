"""Values: slotted dataclasses whose methods are written when they are first used, so that importing them is cheap."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field, make_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:

    def dataclass(*, slots: bool, **options: bool) -> Callable[[type], type]:
        """Make a slotted dataclass, with the standard library's options and its meaning of them.

        A process that asks one question imports some two hundred of them and makes values of a third. Here a class
        costs no more than its slots; `__init__` and the like are written at their first use, and so is what
        `dataclasses.fields`, `replace` and `asdict` read.
        """
        assert slots, "values have slots"
        assert options.keys() <= _OPTIONS, options
        return lambda cls: _slotted(cls, options)

    def fields(of: object) -> tuple[Field[Any], ...]:
        """Return the fields of a value or of its class."""
        kind = of if isinstance(of, type) else type(of)
        standard = "__dataclass_fields__" in vars(kind) and "__discreet_fields__" not in vars(kind)
        if standard or not hasattr(kind, "__discreet_fields__"):
            return dataclasses.fields(kind)
        return tuple(_fields(kind).values())

    def replace(value: Any, /, **changes: object) -> Any:  # noqa: ANN401  (the value's own kind)
        """Return a value like this one, made anew with the changes."""
        for each in fields(value):
            if not each.init:
                assert each.name not in changes, each.name
            elif each.name not in changes:
                changes[each.name] = getattr(value, each.name)
        return type(value)(**changes)


_OPTIONS = {"frozen", "init", "repr", "eq", "kw_only", "weakref_slot"}


class _Late:
    """An attribute of a class that is made, and put in its own place, when it is first asked for."""

    __slots__ = ("make", "name", "owner")

    def __init__(self, name: str, make: Callable[[type], Any]) -> None:
        self.name, self.make = name, make
        self.owner: type = object

    def __set_name__(self, owner: type, name: str) -> None:
        self.owner = owner

    def __get__(self, instance: object, kind: type | None = None) -> Any:  # noqa: ANN401  (whatever is asked for)
        made = self.make(self.owner)
        setattr(self.owner, self.name, made)
        return made.__get__(instance, kind) if instance is not None and callable(made) else made


def _slotted(cls: type, options: dict[str, bool]) -> type:
    """Return the class again, with slots for its fields and with what a dataclass adds to it."""
    space = {name: value for name, value in cls.__dict__.items() if name not in ("__dict__", "__weakref__")}
    kinds = space.get("__annotations__", {})
    own = [name for name, kind in kinds.items() if not str(kind).removeprefix("typing.").startswith("ClassVar")]
    specs = {name: space.pop(name) for name in own if name in space}
    taken = {slot for base in cls.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    weak = ("__weakref__",) if options.get("weakref_slot") else ()
    space["__slots__"] = tuple(name for name in (*own, *weak) if name not in taken)
    space["__discreet_fields__"] = ({name: kinds[name] for name in own}, specs, options)
    space["__dataclass_fields__"] = _Late("__dataclass_fields__", lambda cls: _standard(cls).__dataclass_fields__)
    space["__dataclass_params__"] = _Late("__dataclass_params__", lambda cls: _standard(cls).__dataclass_params__)
    frozen, equal = options.get("frozen"), options.get("eq", True)
    made: dict[str, Callable[[type], Any]] = {"__match_args__": _match_args}
    if options.get("repr", True):
        made["__repr__"] = _repr
    if equal:
        made["__eq__"] = _eq
    for name, make in made.items():
        if name not in space:
            space[name] = _Late(name, make)
    if options.get("init", True):
        space["__init__"] = _Late("__init__", _init)
    # A class that defines `__eq__` alone has a hash of None, which is nobody's choice.
    if equal and (space.get("__hash__") is None):
        space["__hash__"] = _Late("__hash__", _hash) if frozen else None
    if frozen:
        space.setdefault("__getstate__", _getstate)
        space.setdefault("__setstate__", _setstate)
        space["__setattr__"], space["__delattr__"] = _Late("__setattr__", _setattr), _Late("__delattr__", _delattr)
    made_anew = type(cls)(cls.__name__, cls.__bases__, space)
    made_anew.__qualname__ = cls.__qualname__
    return made_anew


@cache
def _fields(cls: type) -> dict[str, Field[Any]]:
    """Return all fields, those of base classes first."""
    found: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__):
        if "__discreet_fields__" in base.__dict__:
            own, specs, options = base.__dict__["__discreet_fields__"]
            for name, kind in own.items():
                spec = specs.get(name, MISSING)
                each: Field[Any] = spec if isinstance(spec, Field) else field(default=spec)
                each.name, each.type = name, kind
                if each.kw_only is MISSING:
                    each.kw_only = bool(options.get("kw_only"))
                found[name] = each
        else:
            found.update(base.__dict__.get("__dataclass_fields__", {}))
    return found


def _standard(cls: type) -> Any:  # noqa: ANN401  (of whose attributes no type tells)
    """Return a dataclass of the standard library with the same fields."""
    options = cls.__dict__["__discreet_fields__"][2]
    shape = [(name, each.type, each) for name, each in _fields(cls).items()]
    frozen = options.get("frozen", False)
    return make_dataclass(cls.__name__, shape, init=False, repr=False, eq=False, frozen=frozen)


def _match_args(cls: type) -> tuple[str, ...]:
    return tuple(name for name, each in _fields(cls).items() if each.init and not each.kw_only)


def _init(cls: type) -> Callable[..., None]:
    """Write `__init__`: a parameter for each field, in their order, then those by keyword alone."""
    frozen = cls.__dict__["__discreet_fields__"][2].get("frozen")
    known: dict[str, Any] = {"_set": object.__setattr__, "_missing": MISSING}
    by_place: list[str] = []
    by_keyword: list[str] = []
    lines: list[str] = []
    every = _fields(cls)
    for name, each in every.items():
        value = name
        if each.default is not MISSING:
            known[f"_default_{name}"] = each.default
            value = name if each.init else f"_default_{name}"
        elif each.default_factory is not MISSING:
            known[f"_default_{name}"] = each.default_factory
            value = f"_default_{name}()"
            if each.init:
                value = f"{value} if {name} is _missing else {name}"
        elif not each.init:
            continue
        lines.append(f" _set(self, {name!r}, {value})" if frozen else f" self.{name} = {value}")
        if each.init:
            default = "_missing" if each.default is MISSING else f"_default_{name}"
            needed = each.default is MISSING and each.default_factory is MISSING
            (by_keyword if each.kw_only else by_place).append(name if needed else f"{name}={default}")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    head = ", ".join(["self", *by_place, *(["*", *by_keyword] if by_keyword else [])])
    made = _written("__init__", f"def __init__({head}):\n" + ("\n".join(lines) or " pass"), known, cls)
    made.__annotations__ = {name: each.type for name, each in every.items() if each.init} | {"return": None}
    return made


def _repr(cls: type) -> Callable[[object], str]:
    shown = ", ".join(f"{name}={{self.{name}!r}}" for name, each in _fields(cls).items() if each.repr)
    return _written("__repr__", f'def __repr__(self):\n return f"{{type(self).__qualname__}}({shown})"', {}, cls)


def _eq(cls: type) -> Callable[[object, object], bool]:
    names = [name for name, each in _fields(cls).items() if each.compare]
    one, other = (f"({''.join(f'{who}.{name},' for name in names)})" for who in ("self", "other"))
    body = f" if other.__class__ is self.__class__:\n  return {one} == {other}\n return NotImplemented"
    return _written("__eq__", f"def __eq__(self, other):\n{body}", {}, cls)


def _hash(cls: type) -> Callable[[object], int]:
    compared = [name for name, each in _fields(cls).items() if (each.compare if each.hash is None else each.hash)]
    parts = "".join(f"self.{name}," for name in compared)
    return _written("__hash__", f"def __hash__(self):\n return hash(({parts}))", {}, cls)


def _written(name: str, text: str, known: dict[str, Any], cls: type) -> Callable[..., Any]:
    exec(text, known)  # noqa: S102  (the text is made of the names of fields alone)
    made: Callable[..., Any] = known.pop(name)
    made.__qualname__ = f"{cls.__qualname__}.{name}"
    return made


def _setattr(cls: type) -> Callable[[object, str, object], None]:
    names, kind = frozenset(_fields(cls)), cast("Any", cls)

    def refused(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)

    return refused


def _delattr(cls: type) -> Callable[[object, str], None]:
    names, kind = frozenset(_fields(cls)), cast("Any", cls)

    def refused(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)

    return refused


def _getstate(self: object) -> list[Any]:
    return [getattr(self, name) for name in _fields(cast("Any", type(self)))]


def _setstate(self: object, state: list[Any]) -> None:
    for name, value in zip(_fields(cast("Any", type(self))), state, strict=True):
        object.__setattr__(self, name, value)
