"""Unhash: identifiers read back from their hashes, patterns, digests against hashlib, and keys that end it."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import BadParameter, UnknownName
from discreet.lab.attacks import unhash as lab
from discreet.lab.attacks.unhash.digests import DIGESTS, MOST_BYTES
from discreet.lab.attacks.unhash.patterns import NAMED, Pattern
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.testing import seeded


@pytest.mark.parametrize("name", DIGESTS)
@given(texts=st.integers(1, MOST_BYTES).flatmap(lambda n: st.lists(st.binary(min_size=n, max_size=n), min_size=1)))
def test_digests_of_many_texts_are_those_of_hashlib(name, texts):
    digest = DIGESTS[name]
    rows = np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), -1)
    found = np.broadcast_to(digest.first(digest.message(rows)), len(texts)).astype(digest.order).tobytes()
    assert found == b"".join(hashlib.new(name, text).digest()[:4] for text in texts)


@pytest.mark.parametrize("name", DIGESTS)
def test_a_head_may_be_put_into_a_message_afterwards(name):
    digest = DIGESTS[name]
    tails = np.frombuffer(b"0123456789", np.uint8).reshape(5, 2)
    message = digest.message(np.pad(tails, ((0, 0), (3, 0))))
    found = digest.first(digest.started(message, b"abc")).astype(digest.order).tobytes()
    assert found == b"".join(hashlib.new(name, b"abc" + tail.tobytes()).digest()[:4] for tail in tails)


def texts_of(pattern):
    return [
        head.decode() + tail.tobytes().decode()
        for shape in Pattern.parse(pattern).shapes
        for heads, tails in [shape.cut()]
        for head in heads
        for tail in tails
    ]


def test_a_pattern_has_each_of_its_texts_once():
    assert texts_of("[01]9") == [f"{number:02d}" for number in range(20)]
    assert texts_of("x|[a-c]-") == ["x", "a-", "b-", "c-"]
    assert texts_of(r"\9\A\|[\]-]") == ["9A|]", "9A|-"]
    assert len(set(texts_of("A99|9a"))) == Pattern.parse("A99|9a").size == 2600 + 260


def test_the_medallions_of_new_york_are_eighteen_million():
    assert Pattern.parse("medallion").size == 26_000 + 676_000 + 17_576_000
    assert lab.size_of("ssn") == 10**9
    assert lab.size_of("birthdate") == 320_000
    assert all(Pattern.parse(name).text == name for name in NAMED)


@pytest.mark.parametrize("pattern", ["", "9|", "[", "[]", "9\\", "[9-", "é"])
def test_a_pattern_that_cannot_be_read_is_refused(pattern):
    with pytest.raises(BadParameter) as refusal:
        Pattern.parse(pattern)
    assert refusal.value.value == pattern


def test_the_pattern_of_values_has_them_all():
    assert Pattern.of(["5X55", None, "AB123", "1-a", "a|b"]).text == r"9A99|AA999|9-a|a\|a"
    assert "a|b" in texts_of(Pattern.of(["a|b"]).text)


@pytest.mark.parametrize("algorithm", DIGESTS)
def test_hashed_identifiers_are_read_back(algorithm):
    hashes = lab.hashed(["5X55", "9Z99"], algorithm)
    found = lab.unhash([hashes[0].upper(), hashes[1] + " ", None, hashes[0]], "9A99")
    assert dict(found.found) == dict(zip(hashes, ["5X55", "9Z99"], strict=True))
    assert found.algorithm == algorithm
    assert (found.asked, found.share) == (2, 1.0)
    assert found.outcome.succeeds
    assert "2 of 2 identifiers read back (100.0%" in found.outcome.sentence
    assert svg(found.outcome.picture)


def test_it_stops_when_all_are_found_and_tells_how_far_it_is():
    shares = []
    found = lab.unhash(lab.hashed(["AA000"]), "AA999|99999", progress=shares.append)
    assert found.tried < found.size == 776_000
    assert shares == sorted(shares)
    assert shares[-1] == found.tried / found.size


def test_a_published_salt_changes_nothing():
    hashes = lab.hashed(["4711"], salt=b"NaCl")
    assert [*lab.unhash(hashes, "9999", salt=b"NaCl").found.values()] == ["4711"]
    assert not lab.unhash(hashes, "9999").found


def test_a_secret_key_leaves_nothing_to_find():
    found = lab.unhash(lab.keyed(range(1000, 2000), b"a secret that is kept", "md5"), "9999")
    assert not found.found
    assert found.tried == found.size == 10_000
    assert not found.outcome.succeeds
    assert found.outcome.success == 0


def test_what_is_no_hash_is_refused_and_not_quoted():
    for hashes in (["0" * 31], ["g" * 32], ["0" * 32, "0" * 40]):
        with pytest.raises(BadParameter, match="hexadecimal digits") as refusal:
            lab.unhash(hashes, "9")
        assert hashes[0] not in str(refusal.value)
    with pytest.raises(UnknownName):
        lab.unhash([], "9", algorithm="crc32")


def test_patterns_that_are_too_large_or_too_long_are_refused_with_the_time_they_would_take():
    with pytest.raises(BadParameter, match=r"1,000,000,000,000 texts, which would take .* hours"):
        lab.unhash([], "9" * 12)
    with pytest.raises(BadParameter, match="57 bytes"):
        lab.unhash([], "9" + "x" * 48, salt=b"12345678")


def test_no_hashes_are_answered_at_once():
    found = lab.unhash([], "9999")
    assert (found.asked, found.share) == (0, 0.0)
    assert not found.outcome.succeeds


def test_the_time_is_estimated_from_a_short_run():
    assert lab.seconds_for("99") < lab.seconds_for("9999999")
    assert 0 < lab.seconds_for("medallion") < 600


def test_a_copys_own_identifiers_fall_unless_keyed():
    said = []
    copied = TableCopy.read({"card": [f"{number:04d}" for number in range(60)], "age": [40] * 60}, identifier="card")
    outcomes = lab.expose(copied, said.append)
    assert [each.verdict for each in outcomes] == ["succeeds", "succeeds", "succeeds", "not shown"]
    assert not any(each.demonstration for each in outcomes)
    assert all("card of table" in each.target for each in outcomes)
    assert len(said) == 4


@pytest.mark.parametrize("identifiers", [None, ["x" * 60, "y"], ["no-such-1234567", None], ["é", "b"]])
def test_where_there_is_nothing_to_hash_medallions_are_made_up(identifiers):
    columns = {"a": [1, 2]} if identifiers is None else {"a": [1, 2], "who": identifiers}
    with seeded(1):
        outcomes = lab.expose(TableCopy.read(columns, identifier=None if identifiers is None else "who"))
    assert [each.verdict for each in outcomes] == ["succeeds", "succeeds", "succeeds", "not shown"]
    assert "made-up taxi medallions" in outcomes[0].target
    assert all(each.demonstration for each in outcomes)


def test_made_up_medallions_repeat_under_a_seed():
    with seeded(2):
        first = lab.medallions(50)
    with seeded(2):
        assert lab.medallions(50) == first
    assert all(Pattern.of([each]).text == "9A99" for each in first)
