"""Hardness: signatures that copies keep and that private rows lose."""

import numpy as np
import pytest

from discreet.core.errors import UnknownName
from discreet.lab.attacks import hardness as lab
from discreet.lab.table_copy import TableCopy
from discreet.testing import seeded


@pytest.fixture(scope="module")
def signed():
    return lab.SignedMessages.make(40)


def test_every_real_row_is_valid_and_one_bit_less_makes_it_invalid(signed):
    assert signed.valid(signed.rows) == 40
    for place in (0, 7, 8, 71):
        changed = signed.rows.copy()
        changed[:, place] ^= 1
        assert signed.valid(changed) == 0
        assert signed.leaked(changed) == 0


def test_rows_signed_with_another_key_are_invalid(signed):
    assert signed.valid(lab.SignedMessages.make(5).rows) == 0


def test_copies_are_valid_and_each_is_a_row_that_leaked(signed):
    with seeded(40):
        found = lab.judged(signed, "copy")
    assert found.valid == 40
    assert 0 < found.leaked <= 40
    assert found.error == 0
    assert found.outcome.succeeds
    assert "word for word" in found.outcome.sentence


def test_columns_taken_apart_lose_every_signature(signed):
    with seeded(41):
        found = lab.judged(signed, "shuffle")
    assert (found.valid, found.leaked, found.forged) == (0, 0, False)
    assert sorted(signed.rows[:, 3]) == sorted(lab._shuffled(signed.rows)[:, 3])


@pytest.mark.parametrize("method", lab.PRIVATE)
def test_private_rows_carry_no_valid_signature_and_leak_nobody(signed, method):
    with seeded(42):
        found = lab.judged(signed, method)
    assert (found.valid, found.leaked) == (0, 0)
    assert found.error == 1
    assert not found.outcome.succeeds
    assert "cannot both be had in reasonable time" in found.outcome.sentence


def test_the_question_by_itself_is_answered_well_for_the_same_price(signed):
    with seeded(43):
        asked = [lab.judged(signed, "shuffle").asked for _ in range(20)]
    assert np.mean(asked) > 0.9


def test_a_valid_row_that_was_never_signed_would_be_a_forgery():
    made = lab.Hardness("mst", 10, valid=1, leaked=0, asked=1.0, epsilon=1.0)
    assert made.forged
    assert not lab.Hardness("copy", 10, valid=1, leaked=1, asked=1.0, epsilon=None).forged


def test_as_many_rows_are_signed_as_a_table_has():
    with seeded(44):
        outcomes = lab.expose(TableCopy.read({"a": [1, 2] * 10}))
    assert [outcome.succeeds for outcome in outcomes] == [True, False, False]
    assert outcomes[0].figures["rows"] == 20
    assert lab.expose(TableCopy.read({"a": [1]})) == []


def test_an_unknown_synthesizer_is_refused_with_those_there_are():
    with pytest.raises(UnknownName, match="mst"):
        lab.hardness("msd", rows=2)
