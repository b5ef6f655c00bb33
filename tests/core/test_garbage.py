"""The search for cyclic garbage is off inside a block, and as it was after it."""

import gc

import pytest

from discreet.core.garbage import uncollected


def test_the_search_is_off_inside_and_on_again_after_whatever_happened():
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError):
        _failing()
    assert gc.isenabled()


@uncollected()
def _failing():
    assert not gc.isenabled()
    return 1 / 0


def test_a_program_that_turned_the_search_off_finds_it_off():
    gc.disable()
    try:
        with uncollected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
