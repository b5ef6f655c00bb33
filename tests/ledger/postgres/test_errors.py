"""PostgreSQL's errors as refusals: by their SQLSTATE, in our own words, never in the server's."""

import pytest

from discreet.ledger import Tampered, Unavailable
from discreet.ledger.place import place_of
from discreet.ledger.postgres.errors import refusal


@pytest.mark.parametrize(
    ("state", "kind", "words"),
    [
        (None, Unavailable, "connection to the database was lost"),
        ("57P01", Unavailable, "connection to the database was lost"),
        ("08006", Unavailable, "connection to the database was lost"),
        ("40001", Unavailable, "locked it for too long"),
        ("40P01", Unavailable, "locked it for too long"),
        ("53100", Unavailable, "disk is full"),
        ("53300", Unavailable, "full of connections"),
        ("28P01", Unavailable, "does not let this role in"),
        ("23503", Tampered, "SQLSTATE 23503"),
        ("42P01", Tampered, "SQLSTATE 42P01"),
        ("XX001", Tampered, "SQLSTATE XX001"),
        ("58030", Unavailable, "SQLSTATE 58030"),
    ],
)
def test_what_the_server_says_becomes_a_refusal_in_our_own_words(state, kind, words):
    said = refusal(place_of("postgresql://ann:hunter2@example.org/db"), state)
    assert type(said) is kind
    assert words in str(said)
    assert "hunter2" not in str(said)
