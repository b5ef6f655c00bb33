"""Planted bugs of `core`: exact values that can be read, units that nobody checked."""

from tests.mutants.mutant import SourceMutant

MUTANTS = [
    SourceMutant(
        "core/exact.py",
        "__eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _closed",
        "__eq__ = __ne__ = __lt__ = __le__ = __gt__ = __hash__ = _closed",
        "exact values have no comparison of their own by one of six ways",
        harmless="Python then asks the other side's <=, which is closed or knows nothing of exact values: it raises too",
    ),
    SourceMutant(
        "core/exact.py",
        "__format__ = __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _closed",
        "__format__ = __getstate__ = __copy__ = __deepcopy__ = _closed",
        "exact values are pickled as any object is",
        harmless="Python's own way to pickle an object with slots asks for its state, which is closed",
    ),
    SourceMutant(
        "core/exact.py",
        "__iter__ = __len__ = __getitem__ = __contains__ = __reversed__ = _closed",
        "__iter__ = __getitem__ = __contains__ = __reversed__ = _closed\n"
        '        __len__ = lambda self: len(object.__getattribute__(self, "_hidden_exact"))',
        "an exact value tells how many numbers it has",
        ("core/test_exact.py",),
    ),
    SourceMutant(
        "core/exact.py",
        "__format__ = __reduce__ = __reduce_ex__ = __getstate__ = __copy__ = __deepcopy__ = _closed",
        "__format__ = __getstate__ = __copy__ = __deepcopy__ = _closed\n"
        '        __reduce_ex__ = lambda self, _: (Exact, (object.__getattribute__(self, "_hidden_exact"),))',
        "exact values can be pickled, with what is inside",
        ("core/test_exact.py",),
    ),
    SourceMutant(
        "core/exact.py",
        '        if not isinstance(kernel, Kernel):\n            raise Closed("only a kernel sees an exact value")\n',
        '        if not isinstance(kernel, Kernel):\n            return Exact(kernel(object.__getattribute__(self, "_hidden_exact")))\n',
        "any function may look at an exact value",
        ("core/test_exact.py",),
    ),
    SourceMutant(
        "core/exact.py",
        '        return "Exact(hidden)"',
        "        return f\"Exact({object.__getattribute__(self, '_hidden_exact')})\"",
        "an exact value prints what is inside",
        ("core/test_exact.py",),
    ),
    SourceMutant(
        "core/unit.py",
        "groups = max_rows if max_groups is None else max_groups",
        "groups = 1 if max_groups is None else max_groups",
        "people whose groups were not bounded are taken to be in one",
        ("core/test_unit.py",),
    ),
    SourceMutant(
        "core/unit.py",
        "    if not isinstance(value, int) or isinstance(value, bool) or value < 1:",
        "    if not isinstance(value, int) or isinstance(value, bool) or value < 0:",
        "a person may be declared to have no rows, for whom no noise is needed",
        ("core/test_unit.py",),
    ),
]
