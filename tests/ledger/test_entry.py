"""Entries: sealed over all they say, with lengths, in one canonical form."""

from dataclasses import replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.ledger.entry import GENESIS, Entry, canonical, digest


def test_the_hash_is_the_sha256_of_length_prefixed_fields():
    entry = Entry.after(0, GENESIS, "note", '{"a":1}')
    fields = [GENESIS, "1", "note", '{"a":1}']
    written = b"".join(len(field).to_bytes(8, "big") + field.encode() for field in fields)
    assert entry.hash == sha256(written).hexdigest()
    assert entry.sealed


@given(st.lists(st.text(), max_size=4), st.lists(st.text(), max_size=4))
def test_different_lists_of_texts_have_different_digests(first, second):
    assert (digest(*first) == digest(*second)) == (first == second)


@pytest.mark.parametrize("change", [{"sequence": 2}, {"kind": "nota"}, {"body": "{}"}, {"previous": "1" + GENESIS[1:]}])
def test_a_change_of_any_field_breaks_the_seal(change):
    assert not replace(Entry.after(0, GENESIS, "note", '{"a":1}'), **change).sealed


def test_a_canonical_text_does_not_depend_on_the_order_of_keys():
    assert canonical({"b": 1, "a": "ä"}) == canonical({"a": "ä", "b": 1}) == '{"a":"ä","b":1}'


def test_what_is_no_json_number_is_never_hashed():
    with pytest.raises(ValueError, match="JSON"):
        canonical({"a": float("nan")})
