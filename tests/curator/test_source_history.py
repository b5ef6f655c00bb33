"""The list of sources: each that a table has had stays on it, with whose rows they are, and no one overwrites it."""

import pandas as pd
import pytest

from discreet.account.budgets.budget import Budget
from discreet.core.schema import between
from discreet.core.unit import row
from discreet.curator.curator import Curator
from discreet.curator.source_history import Sources
from discreet.ledger.refusals import Conflict

FIRST, SECOND, THIRD = ([1, 20, 33, 47], [5, 61, 72], [8, 9, 10, 99, 3])


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as opened:
        yield opened


def written(folder, name, values):
    pd.DataFrame({"x": values}).to_csv(folder / f"{name}.csv", index=False)
    return folder / f"{name}.csv"


def register(curator, source, name):
    return curator.register(name, source, unit=row(), columns={"x": between(0, 100)}, budget=Budget(epsilon=1))


@pytest.fixture
def three(curator, tmp_path):
    """Two tables, one of which has moved on to a third file."""
    one, two, three = (written(tmp_path, f"s{place}", values) for place, values in enumerate((FIRST, SECOND, THIRD)))
    register(curator, one, "one")
    register(curator, two, "two")
    curator.refresh("one", three)
    return one, two, three


def test_every_source_of_every_table_is_remembered_with_the_account_that_pays(curator, three):
    past = Sources.of(curator.ledger).past
    assert [(each.name, each.account) for each in past] == [("one", "one"), ("two", "two"), ("one", "one")]
    assert [each.source.path for each in past] == [str(path) for path in three]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_file_that_was_ever_a_source_gets_no_other_account_whatever_it_holds_now(curator, three, tmp_path, place):
    written(tmp_path, f"s{place}", [77, 78, 79, 80, 81, 82])
    again = curator.register("again", three[place], unit=row(), columns={"x": between(0, 100)})
    assert again.account == ["one", "two", "one"][place]


@pytest.mark.parametrize(("values", "account"), [(FIRST, "one"), (SECOND, "two"), (THIRD, "one")])
def test_rows_that_ever_answered_are_known_wherever_they_turn_up(curator, three, tmp_path, values, account):
    with pytest.raises(Conflict, match=f"which '{account}' pays for"):
        register(curator, written(tmp_path, "elsewhere", values), "elsewhere")


def test_the_first_account_of_rows_is_theirs_for_good(curator, three):
    """Rows of one account that another table claims, as if nobody had looked, stay with the one that paid first."""
    listed = Sources.of(curator.ledger)
    digest = next(digest for digest, (name, _) in listed.digests.items() if name == "one")
    listed.claim(curator.ledger, [], curator.table("two"), digest, None)
    assert Sources.of(curator.ledger).digests[digest] == ("one", "one")


def test_what_was_registered_meanwhile_is_noticed(curator, three, tmp_path):
    early = Sources.of(curator.ledger)
    register(curator, written(tmp_path, "late", [50, 51, 55]), "late")
    with pytest.raises(Conflict):
        early.claim(curator.ledger, [], curator.table("one"), "another digest", None)
    assert any(each.name == "late" for each in Sources.of(curator.ledger).past)
