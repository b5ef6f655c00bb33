"""Documents: revisions in the chain, private records beside it, two custodians who cannot overwrite each other."""

import pytest

from discreet.core.errors import BadParameter, UnknownName
from discreet.ledger import Conflict, Document, Ledger

EVERY_STORE = True


def test_a_document_is_stored_revision_by_revision(ledger):
    first = ledger.put("table", "visits", {"rows": 10, "columns": ["a"]})
    assert first == Document("table", "visits", 1, {"rows": 10, "columns": ["a"]}, {})
    ledger.put("table", "visits", {"rows": 20})
    ledger.put("policy", "visits", {})
    assert ledger.get("table", "visits").record == {"rows": 20}
    assert ledger.get("table", "visits").revision == 2
    assert [each.kind for each in ledger.list("table")] == ["table"]


def test_documents_are_listed_by_name(ledger):
    for name in ("b", "ä", "a"):
        ledger.put("table", name, {})
    assert [each.name for each in ledger.list("table")] == ["a", "b", "ä"]
    assert ledger.list("nothing") == ()


def test_an_unknown_document_is_refused_with_the_nearest(ledger):
    ledger.put("table", "visits", {})
    with pytest.raises(UnknownName, match="did you mean 'visits'"):
        ledger.get("table", "visit")


def test_two_custodians_cannot_overwrite_each_other(ledger, path):
    ledger.put("table", "visits", {"rows": 1}, expected=0)
    with Ledger.open(path) as other:
        seen = other.get("table", "visits").revision
        ledger.put("table", "visits", {"rows": 2}, expected=seen)
        with pytest.raises(Conflict, match="at revision 2 by now") as refused:
            other.put("table", "visits", {"rows": 3}, expected=seen)
        assert refused.value.value == 1
    with pytest.raises(Conflict):
        ledger.put("table", "visits", {"rows": 4}, expected=0)
    assert ledger.get("table", "visits").record == {"rows": 2}


def test_a_private_record_stays_beside_the_chain(ledger):
    ledger.put("table", "visits", {"rows": 1}, private={"digest": "of the data"})
    assert ledger.get("table", "visits").private == {"digest": "of the data"}
    assert not any("of the data" in entry.body for entry in ledger.entries())
    ledger.put("table", "visits", {"rows": 2})
    assert ledger.get("table", "visits").private == {"digest": "of the data"}
    ledger.put("table", "visits", {"rows": 2}, private={})
    assert ledger.get("table", "visits").private == {}
    assert ledger.verify().entries == ledger.head[0]


@pytest.mark.parametrize("record", [{"a": {1, 2}}, {"a": float("inf")}, {"a": b"bytes"}])
def test_what_is_no_json_is_refused(ledger, record):
    for arguments in ({"record": record}, {"record": {}, "private": record}):
        with pytest.raises(BadParameter, match="plain JSON"):
            ledger.put("table", "visits", **arguments)
    assert ledger.list("table") == ()
