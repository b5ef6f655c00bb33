"""Restored vaults: every combination of vault, log, anchor and receipts, newest, older or absent, and what it does."""

from fractions import Fraction
from itertools import product

import pytest

from discreet.ledger import Frozen, Ledger, NotAVault, Tampered
from tests.ledger.helpers import charge, kinds
from tests.ledger.recovery.worlds import STATES, TwoMoments

# What the two answers of a vault leave of it.
LAST = Fraction(8, 10)


def never(_draws):
    raise AssertionError("nothing is worked on")


@pytest.fixture(params=[False, True], ids=["usual", "required"])
def world(request, tmp_path, path):
    return TwoMoments(tmp_path, required=request.param), request.param


def expected(vault, log, anchor, receipt, *, required):
    """What docs/restore.md says."""
    if vault == "absent":
        return "refused"
    if vault == "older" and "newest" in (log, anchor, receipt):
        return "frozen"
    if required and "absent" in (log, anchor):
        return "frozen"
    return "answers and says so" if "absent" in (log, anchor) else "answers"


def test_every_cell_of_the_matrix_does_what_is_said_of_it(world):
    moments, required = world
    seen = set()
    for vault, log, anchor, receipt in product(STATES, repeat=4):
        cell = (vault, log, anchor, receipt)
        does = expected(*cell, required=required)
        seen.add(does)
        moments.put(vault, log, anchor)
        if does == "refused":
            with pytest.raises(NotAVault):
                Ledger.open(moments.path)
            continue
        with Ledger.open(moments.path) as ledger:
            before = kinds(ledger)
            ledger.show([moments.receipts[receipt]] if receipt != "absent" else [])
            spent = ledger.spent("people")
            assert (ledger.frozen is not None) == (does == "frozen"), cell
            assert ledger.run(charge("q"), never)[0] == "41", cell
            if does == "frozen":
                for ask in (lambda: ledger.run(charge("s"), never), lambda: ledger.charge(charge("s"))):
                    with pytest.raises(Frozen, match="frozen"):
                        ask()
                assert ledger.spent("people") == spent, cell
            else:
                assert ledger.run(charge("s"), lambda _: "43")[0] == "43", cell
                assert (before[-1] == "anchor") == (does == "answers and says so"), cell
                assert ledger.verify().entries == ledger.head[0], cell
        with Ledger.open(moments.path) as again:  # what was shown is remembered
            assert (again.frozen is not None) == (does == "frozen"), cell
    assert seen >= {"refused", "frozen", "answers"}


def test_of_two_copies_that_share_a_witness_one_alone_spends_the_last_unit(tmp_path, path):
    moments = TwoMoments(tmp_path)
    copy = tmp_path / "copy" / "vault.discreet"
    copy.parent.mkdir()
    for place in (moments.put().path, moments.anchors[0]):
        copy.with_name(place.name).write_bytes(place.read_bytes())
    with Ledger.open(moments.path) as one, Ledger.open(copy) as two:  # the state folder knows both
        one.run(charge("last", epsilon=LAST), lambda _: "41")
        for ask in ("last", "another"):
            with pytest.raises(Tampered, match="another program has charged"):
                two.run(charge(ask, epsilon=LAST), never)


def test_of_two_copies_on_two_machines_the_second_is_frozen_by_a_receipt_of_the_first(tmp_path, path):
    moments = TwoMoments(tmp_path)
    with Ledger.open(moments.put().path) as one:
        _, receipt = one.run(charge("last", epsilon=LAST), lambda _: "41")
    with Ledger.open(moments.put("newest", "absent", "absent").path) as two:
        assert two.frozen is None  # as far as heads can tell
        assert "charges are lost" in two.show([receipt])
        with pytest.raises(Frozen):
            two.run(charge("another", epsilon=LAST), never)
