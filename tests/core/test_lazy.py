"""Lazy names: found on first touch, and a slip is answered with the nearest."""

import pytest

from discreet.core.lazy import lazy

HOMES = {"Fraction": "fractions", "path": "os.path"}


def test_a_name_is_fetched_from_its_home():
    from fractions import Fraction

    getattr_, _ = lazy("numbers_of_mine", HOMES)
    assert getattr_("Fraction") is Fraction


def test_a_home_below_the_module_is_a_subpackage():
    import os.path

    getattr_, _ = lazy("os", HOMES)
    assert getattr_("path") is os.path


def test_dir_lists_the_names():
    _, dir_ = lazy("os", HOMES)
    assert dir_() == ["Fraction", "path"]


def test_names_that_a_folder_lists_are_looked_for_last():
    asked = []
    getattr_, dir_ = lazy("os", HOMES, lambda: asked.append(1) or {"pi": "math", "path": "nowhere"})
    assert getattr_("Fraction").__name__ == "Fraction"
    assert asked == []
    assert getattr_("pi") == pytest.approx(3.14159, abs=1e-5)
    assert getattr_("path").__name__ != "nowhere"
    assert dir_() == ["Fraction", "path", "pi"]
    with pytest.raises(AttributeError, match="did you mean 'pi'"):
        getattr_("pii")


def test_a_slip_is_answered_with_the_nearest_name():
    getattr_, _ = lazy("os", HOMES)
    with pytest.raises(AttributeError, match="did you mean 'Fraction'"):
        getattr_("Fractoin")
    with pytest.raises(AttributeError, match=r"has no attribute '__wrapped__'$"):
        getattr_("__wrapped__")
