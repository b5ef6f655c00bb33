"""Curator: tables behind a vault, whose budgets are set once and shared by whoever shares rows."""

import datetime as dt
import os
import stat

import pandas as pd
import pytest

from discreet.account.budgets.budget import Budget
from discreet.account.losses.pure import Pure
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from discreet.curator.connect import connect
from discreet.curator.curator import Curator
from discreet.curator.tables import Tables
from discreet.engines.duckdb.engine import connect as connect_engine
from discreet.engines.duckdb.files import fingerprint
from discreet.engines.duckdb.options import csv
from discreet.engines.duckdb.source import from_sql
from discreet.engines.source import Source, SourceChanged
from discreet.ledger.charge import Charge
from discreet.ledger.refusals import AccessRefused, Conflict, NotAVault

ROWS = "patient_id,age,ward\n1,41,A\n2,7,B\n1,42,C\n"
COLUMNS = {"age": between(0, 110), "ward": one_of("A", "B", "C")}
UNIT = person("patient_id", max_rows=20)
BUDGET = Budget(epsilon=3, delta=1e-6)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "visits.csv").write_text(ROWS)
    return tmp_path / "visits.csv"


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as opened:
        yield opened


@pytest.fixture
def visits(curator, file):
    return register(curator, file)


def register(curator, source, name="visits", **changes):
    terms = {"unit": UNIT, "columns": COLUMNS, "budget": BUDGET} | changes
    return curator.register(name, source, **terms)


def refusal(kind, call):
    with pytest.raises(kind) as caught:
        call()
    return str(caught.value)


def spend(curator, account="visits", epsilon=1, table="visits"):
    return curator.ledger.charge(Charge(f'"{epsilon}"', {account: Pure(epsilon)}, {table: 1}))


def test_a_table_is_registered_and_found_again(curator, visits, file):
    assert curator.tables() == ["visits"]
    assert curator.table("visits") == visits
    assert (visits.version, visits.account, visits.revision) == (1, "visits", 1)
    assert visits.table.unit == UNIT
    assert visits.source.path == str(file)
    assert dict(visits.physical) == dict.fromkeys(("patient_id", "age", "ward"), "VARCHAR")
    assert visits.from_sql == from_sql(visits.source)
    assert curator.budget("visits") == Budget(epsilon=3, delta=curator.budget("visits").delta)


def test_a_vault_is_for_its_owner_alone(curator, visits):
    assert stat.S_IMODE(curator.path.stat().st_mode) == 0o600


def test_a_relative_path_is_resolved_when_it_is_registered(curator, file, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    register(curator, "visits.csv")
    monkeypatch.chdir("/")
    curator.check("visits")
    assert curator.table("visits").source.path == str(file)


def test_registering_the_same_again_changes_nothing(curator, visits, file):
    head = curator.ledger.head
    assert register(curator, file) == visits
    assert curator.ledger.head == head


def test_registering_something_else_under_the_name_is_refused(curator, visits, file):
    assert refusal(Conflict, lambda: register(curator, file, columns={"age": between(0, 90)})) == (
        "table 'visits': it is registered with another declaration."
        " Fix: use refresh('visits', source) for new rows, declare('visits', ...) for new bounds."
    )


def test_nothing_computed_from_rows_is_in_the_chain(curator, visits):
    chained = "\n".join(entry.body for entry in curator.ledger.entries())
    document = curator.ledger.get("table", "visits")
    assert document.private["fingerprint"]["digest"] not in chained
    assert "VARCHAR" not in chained
    assert "fingerprint" not in chained


def test_a_missing_column_is_refused_with_the_nearest(curator, file):
    assert refusal(UnknownName, lambda: register(curator, file, columns={"agee": between(0, 110)})) == (
        "column of the source 'agee': there is no column of the source of that name. Fix: did you mean 'age'?"
    )


def test_a_missing_identifier_is_refused_with_the_nearest(curator, file):
    assert refusal(UnknownName, lambda: register(curator, file, unit=person("patientid", max_rows=2))) == (
        "identifier column of the source 'patientid': there is no identifier column of the source of that name."
        " Fix: did you mean 'patient_id'?"
    )


def test_a_missing_file_is_refused(curator, tmp_path):
    assert refusal(Refusal, lambda: register(curator, tmp_path / "none.csv")) == (
        f"source {tmp_path / 'none.csv'}: a CSV source is one file, and there is none."
        " Fix: give the path of a file that can be read."
    )


def test_a_table_without_a_budget_is_refused(curator, file):
    assert refusal(BadParameter, lambda: register(curator, file, budget=None)) == (
        "budget=None: without a budget a table would reveal everything in the end."
        " Fix: set the privacy loss it may incur: budget=Budget(epsilon=1)."
    )
    assert curator.tables() == []


@pytest.mark.parametrize("source", [3, None, [1, 2], Source("memory-copy", "t.parquet")])
def test_what_is_no_source_is_refused(curator, source):
    with pytest.raises(BadParameter, match="rows come from a file or a data frame"):
        register(curator, source)


def test_an_unknown_table_is_refused_with_the_nearest(curator, visits):
    assert refusal(UnknownName, lambda: curator.table("visit")) == (
        "table 'visit': there is no table of that name. Fix: did you mean 'visits'?"
    )


# Budgets that are shared ----------------------------------------------------------------------------------------------


def test_the_same_file_registered_again_shares_the_budget(curator, visits, file, tmp_path):
    (tmp_path / "soft.csv").symlink_to(file)
    os.link(file, tmp_path / "hard.csv")
    again = register(curator, tmp_path / "soft.csv", "again", budget=None)
    third = register(curator, tmp_path / "hard.csv", "third", budget=BUDGET)
    assert {again.account, third.account} == {"visits"}
    assert curator.ledger.accounts() == ("visits",)


def test_another_budget_for_the_same_file_is_refused(curator, visits, file):
    assert refusal(Conflict, lambda: register(curator, file, "again", budget=Budget(epsilon=5, delta=1e-6))) == (
        "budget epsilon=5, delta=1e-06: it reads the same source as 'visits', which 'visits' pays for with epsilon=3,"
        " delta=1e-06: a permanent guarantee to people. Fix: leave the budget out or repeat it; to allow an analyst"
        " less, cap the grant."
    )


def test_a_copy_of_the_rows_is_refused_a_budget_of_its_own(curator, visits, tmp_path):
    (tmp_path / "copy.csv").write_text(ROWS)
    assert refusal(Conflict, lambda: register(curator, tmp_path / "copy.csv", "copy")) == (
        "the rows of 'copy': they are those of 'visits', which 'visits' pays for; a second budget would double their"
        " loss. Fix: register it with group='visits'."
    )
    assert register(curator, tmp_path / "copy.csv", "copy", group="visits", budget=None).account == "visits"


def test_a_group_shares_one_budget(curator, visits, tmp_path):
    (tmp_path / "tests.csv").write_text("patient_id,age,ward\n9,1,A\n")
    (tmp_path / "drugs.csv").write_text("patient_id,age,ward\n9,2,A\n")
    register(curator, tmp_path / "tests.csv", "tests", group="patients")
    register(curator, tmp_path / "drugs.csv", "drugs", group="patients", budget=None)
    assert curator.ledger.accounts() == ("patients", "visits")
    assert refusal(BadParameter, lambda: register(curator, tmp_path / "tests.csv", "more", group="visits")) == (
        "group='visits': its rows are those of 'tests', which 'patients' pays for."
        " Fix: leave it out, or use group='patients'."
    )


def test_a_table_does_not_join_a_group_by_its_name_alone(curator, file, tmp_path):
    register(curator, file, group="patients")
    (tmp_path / "other.csv").write_text("patient_id,age,ward\n9,1,A\n")
    assert refusal(BadParameter, lambda: register(curator, tmp_path / "other.csv", "patients")) == (
        "name='patients': a budget group of that name already pays for other tables."
        " Fix: use another name, or group='patients' if the tables share people."
    )


def test_tables_of_a_group_have_one_relation(curator, visits, tmp_path):
    (tmp_path / "other.csv").write_text("patient_id,age,ward\n9,1,A\n")
    unit = person("patient_id", max_rows=2, relation="replace")
    with pytest.raises(BadParameter, match="losses under two relations do not add up"):
        register(curator, tmp_path / "other.csv", "other", unit=unit, group="visits", budget=None)


# Changed sources ------------------------------------------------------------------------------------------------------


def test_a_changed_source_is_refused_until_it_is_refreshed(curator, visits, file):
    spend(curator)
    spent = curator.ledger.spent("visits")
    curator.check("visits")
    file.write_text(ROWS + "3,50,A\n")
    assert refusal(Refusal, lambda: curator.check("visits")).startswith("the source of 'visits' changed: ")
    assert curator.refresh("visits").version == 2
    curator.check("visits")
    assert curator.ledger.spent("visits") == spent
    assert curator.budget("visits").epsilon == 3


def test_an_unchanged_source_may_be_refreshed_too_and_counts_on(curator, visits):
    assert [curator.refresh("visits").version for _ in range(2)] == [2, 3]


def test_a_refresh_that_lost_a_declared_column_is_refused(curator, visits, file):
    file.write_text("patient_id,ward\n1,A\n")
    for source in (None, csv(file)):
        with pytest.raises(UnknownName, match="age"):
            curator.refresh("visits", source)
    assert curator.table("visits").version == 1


def test_a_refresh_follows_columns_to_their_new_places(curator, visits, file):
    file.write_text("ward,age,patient_id\nA,41,1\n")
    curator.refresh("visits")
    with connect_engine() as engine:
        sql = f"SELECT patient_id, age, ward FROM {curator.table('visits').from_sql}"
        assert engine.execute(sql).fetchall() == [("1", "41", "A")]


def test_a_refresh_may_bring_a_new_file_but_not_one_that_others_pay_for(curator, visits, tmp_path):
    (tmp_path / "next.csv").write_text(ROWS + "4,4,A\n")
    assert curator.refresh("visits", tmp_path / "next.csv").source.path.endswith("next.csv")
    (tmp_path / "other.csv").write_text("patient_id,age,ward\n9,1,A\n")
    register(curator, tmp_path / "other.csv", "other")
    assert refusal(Conflict, lambda: curator.refresh("visits", tmp_path / "other.csv")) == (
        "the new source of 'visits': its rows are those of 'other', which 'other' pays for and not 'visits'."
        " Fix: register it as a new table with group='other'."
    )


def test_a_file_that_changes_while_it_is_registered_is_refused(curator, file, monkeypatch):
    def meanwhile(source, key):
        file.write_text("ward,age,patient_id\nA,41,1\n")
        return fingerprint(source, key)

    monkeypatch.setattr("discreet.engines.duckdb.source.fingerprint", meanwhile)
    assert refusal(SourceChanged, lambda: register(curator, file)) == (
        "the source of 'visits': it changed while it was looked at. Fix: repeat this once nobody writes to it."
    )
    assert curator.tables() == []


def test_two_custodians_notice_each_other(curator, visits, tmp_path):
    with Curator(curator.path) as other:
        other.refresh("visits")
    assert refusal(Conflict, lambda: curator.refresh("visits", expected=visits.revision)) == (
        "table 'visits' at revision 1: it is at revision 2 by now, so someone else has changed it meanwhile."
        " Fix: look at what it says now, and repeat the change."
    )


def test_two_custodians_cannot_give_the_same_rows_two_budgets(curator, file, monkeypatch):
    with Curator(curator.path) as other:
        # The other one registers the file just when this one has looked and found it free.
        real = Tables._fingerprint

        def meanwhile(self, registered):
            if self is curator._tables:
                register(other, file, "theirs")
            return real(self, registered)

        monkeypatch.setattr(Tables, "_fingerprint", meanwhile)
        with pytest.raises(Conflict):
            register(curator, file, "mine")
    assert curator.ledger.accounts() == ("theirs",)


def test_a_custodian_who_looks_while_another_is_storing_the_same_rows_joins_their_account(curator, file, monkeypatch):
    with Curator(curator.path) as other:
        # This one has claimed the source and not stored its table yet when the other one looks.
        real = Tables._store

        def meanwhile(self, *stored):
            if self is curator._tables:
                assert register(other, file, "theirs").account == "mine"
            return real(self, *stored)

        monkeypatch.setattr(Tables, "_store", meanwhile)
        register(curator, file, "mine")
    assert curator.ledger.accounts() == ("mine",)


def test_rows_that_a_table_has_moved_on_from_stay_on_its_account(curator, visits, file, tmp_path):
    (tmp_path / "next.csv").write_text(ROWS + "4,4,A\n")
    curator.refresh("visits", tmp_path / "next.csv")
    assert register(curator, file, "again", budget=None).account == "visits"
    (tmp_path / "other.csv").write_text("patient_id,age,ward\n9,1,A\n")
    register(curator, tmp_path / "other.csv", "other")
    with pytest.raises(Conflict, match="'visits' pays for and not 'other'"):
        curator.refresh("other", file)


def test_a_copy_of_rows_that_a_table_once_had_gets_no_budget_of_its_own(curator, visits, file, tmp_path):
    (tmp_path / "kept.csv").write_text(ROWS)
    file.write_text(ROWS + "4,4,A\n")
    curator.refresh("visits")
    for _ in range(2):
        with pytest.raises(Conflict, match="those of 'visits', which 'visits' pays for"):
            register(curator, tmp_path / "kept.csv", "kept")
        file.write_text(ROWS + "5,5,A\n")
        curator.refresh("visits")


def test_a_vault_whose_list_of_sources_was_empty_has_it_from_the_next_source_on(curator, visits, file, tmp_path):
    curator.ledger.put("registry", "sources", {"edition": 2}, private={})
    (tmp_path / "next.csv").write_text(ROWS + "4,4,A\n")
    curator.refresh("visits", tmp_path / "next.csv")
    (tmp_path / "kept.csv").write_text(ROWS)
    assert register(curator, file, "again", budget=None).account == "visits"
    with pytest.raises(Conflict, match="those of 'visits'"):
        register(curator, tmp_path / "kept.csv", "kept")


def test_the_list_of_sources_has_no_digest_in_the_chain(curator, visits):
    (listed,) = curator.ledger.list("registry")
    assert listed.private["digests"]
    assert not any(digest in entry.body for digest in listed.private["digests"] for entry in curator.ledger.entries())


def test_the_same_rows_are_not_counted_for_other_people_or_one_by_one(curator, visits, file, tmp_path):
    for unit in (row(), person("age", max_rows=20)):
        assert refusal(BadParameter, lambda unit=unit: register(curator, file, "more", unit=unit, budget=None)) == (
            f"unit={unit.identifier or 'row'!r}: its rows are those of 'visits', and the budget of 'visits' is counted"
            " for people, identified by 'patient_id'. Fix: use unit=person('patient_id', max_rows=20)."
        )
    (tmp_path / "next.csv").write_text(ROWS + "4,4,A\n")
    curator.refresh("visits", tmp_path / "next.csv")
    with pytest.raises(BadParameter, match="its rows are those of 'visits'"):
        register(curator, file, "more", unit=row(), budget=None)
    assert register(curator, file, "more", unit=person("patient_id", max_rows=1), budget=None).account == "visits"


SAME_PEOPLE = (
    "visits has the same identifier column: if these are the same people, they may lose both budgets;"
    " then use only one of the two tables, or put both into the budget group visits of a new vault"
)


def test_a_table_whose_people_may_be_those_of_another_account_is_noted(curator, visits):
    copied = {"Patient_ID": [9], "age": [77], "ward": ["A"]}
    more = register(curator, copied, "more", unit=person("Patient_ID", max_rows=1))
    assert visits.notes == ()
    assert more.notes == (SAME_PEOPLE,)
    assert repr(more).endswith(f"note: {SAME_PEOPLE}")
    assert register(curator, copied, "more", unit=person("Patient_ID", max_rows=1)).notes == more.notes
    assert curator.table("more") == more
    assert "told apart" not in "\n".join(entry.body for entry in curator.ledger.entries())


def test_tables_of_one_account_of_rows_or_of_other_people_are_not_noted(curator, visits):
    columns = {"age": between(0, 110)}
    frames = ({"patient_id": [number], "nurse": [number], "age": [number]} for number in range(10, 13))
    found = [
        register(curator, next(frames), "grouped", columns=columns, budget=None, group="visits"),
        register(curator, next(frames), "rows", unit=row(), columns=columns),
        register(curator, next(frames), "nurses", unit=person("nurse", max_rows=1), columns=columns),
    ]
    assert [each.notes for each in found] == [(), (), ()]


def test_of_a_group_the_note_names_a_table_and_the_account(curator):
    columns = {"age": between(0, 110)}
    frames = ({"patient_id": [number], "age": [number]} for number in range(3))
    for name in ("stays", "drugs"):
        register(curator, next(frames), name, columns=columns, group="patients")
    (note,) = register(curator, next(frames), "more", columns=columns).notes
    assert note.startswith("drugs has the same identifier column: ")
    assert note.endswith("put both into the budget group patients of a new vault")


def test_a_registered_table_shows_its_declaration_and_not_its_source(curator, visits, file):
    shown = repr(visits)
    assert shown.startswith("visits\nprotects one person (patient_id), at most ")
    assert "\nversion 1, paid by the account visits\n" in shown
    assert "\nage     number    0 to 110 in steps of 1\n" in shown
    assert str(file) not in shown
    assert "VARCHAR" not in shown


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_people_told_apart_by_moments_are_refused(curator, zone):
    frame = pd.DataFrame({"patient_id": pd.to_datetime(["2024-01-01"]).tz_localize(zone), "age": [1], "ward": ["A"]})
    kind = "TIMESTAMP" if zone is None else "TIMESTAMP WITH TIME ZONE"
    assert refusal(BadParameter, lambda: register(curator, frame)) == (
        f"identifier='patient_id': people cannot be identified safely by timestamps, of the type {kind}."
        " Fix: use a text or integer column."
    )
    assert curator.tables() == []


# Rows from memory -----------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"patient_id": [1, 2, 1], "age": [41, 7, 42], "ward": ["A", "B", "C"]})


def test_rows_from_memory_are_copied_beside_the_vault(curator):
    registered = register(curator, FRAME)
    (copy,) = (curator.path.parent / "vault.discreet.data").iterdir()
    assert registered.source.path == str(copy)
    assert registered.physical["age"] == "BIGINT"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    curator.check("visits")


def test_a_new_copy_replaces_the_old(curator):
    first = register(curator, FRAME)
    second = curator.refresh("visits", FRAME.assign(age=1))
    assert second.version == 2
    assert [file.name for file in (curator.path.parent / "vault.discreet.data").iterdir()] == [
        os.path.basename(second.source.path)  # noqa: PTH119
    ]
    assert first.source != second.source


def test_a_copy_may_be_refreshed_as_it_is(curator):
    first = register(curator, FRAME)
    assert curator.refresh("visits").source == first.source
    curator.check("visits")


@pytest.mark.parametrize("rows", [FRAME, FRAME.to_dict("list")], ids=["frame", "dict"])
def test_the_same_rows_from_memory_may_be_registered_again(curator, rows):
    first, head = register(curator, rows), curator.ledger.head
    assert register(curator, rows.copy()) == first
    assert curator.ledger.head == head
    (copy,) = (curator.path.parent / "vault.discreet.data").iterdir()
    assert first.source.path == str(copy)


def test_many_rows_from_memory_are_known_again(curator):
    frame = pd.DataFrame({"patient_id": range(300_000), "age": range(300_000), "ward": ["A"] * 300_000})
    assert register(curator, frame) == register(curator, frame)


def test_other_rows_from_memory_are_refused_under_the_name_and_leave_no_copy(curator, file):
    first = register(curator, FRAME)
    for other in (FRAME.assign(age=[41, 7, 43]), FRAME.to_dict("list"), file):
        assert refusal(Conflict, lambda other=other: register(curator, other)) == (
            "table 'visits': it is registered with another source."
            " Fix: use refresh('visits', source) for new rows, declare('visits', ...) for new bounds."
        )
    curator.refresh("visits", FRAME.assign(age=1))
    with pytest.raises(Conflict, match="another source"):  # what it was once is not what it is
        register(curator, FRAME)
    assert len(list((curator.path.parent / "vault.discreet.data").iterdir())) == 1
    assert curator.table("visits").source != first.source


def test_the_same_rows_under_another_declaration_are_refused_for_that(curator):
    register(curator, FRAME)
    with pytest.raises(Conflict, match="another declaration"):
        register(curator, FRAME, columns={"age": between(0, 90)})


def test_a_file_is_not_taken_for_the_rows_in_memory(curator, visits):
    with pytest.raises(Conflict, match="another source"):
        register(curator, FRAME)


def test_a_refused_registration_leaves_no_copy(curator):
    for changes in ({"budget": None}, {"columns": {"wrong": text()}}):
        with pytest.raises(Refusal):
            register(curator, FRAME, **changes)
    folder = curator.path.parent / "vault.discreet.data"
    assert not folder.exists() or list(folder.iterdir()) == []


def test_the_copies_move_with_the_vault(curator, tmp_path):
    register(curator, FRAME)
    curator.close()
    moved = tmp_path / "moved"
    moved.mkdir()
    for path in list(tmp_path.glob("vault.discreet*")):
        path.rename(moved / path.name)
    with Curator(moved / "vault.discreet", create=False) as again:
        again.check("visits")


# Declarations ---------------------------------------------------------------------------------------------------------


def test_new_bounds_are_a_new_version(curator, visits):
    wider = COLUMNS | {"age": between(0, 120)}
    assert curator.declare("visits", unit=UNIT, columns=wider)
    assert curator.table("visits").version == 2
    assert curator.table("visits").table["age"].steps == (0, 120)
    assert not curator.declare("visits", unit=UNIT, columns=wider)


def test_a_new_declaration_does_not_let_changed_rows_in(curator, visits, file):
    file.write_text("ward,age,patient_id\nA,41,1\n")
    with pytest.raises(SourceChanged):
        curator.declare("visits", unit=UNIT, columns=COLUMNS | {"age": between(0, 120)})
    assert curator.table("visits").version == 1


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        (row(), "identifier=None: 'visits' was registered with identifier='patient_id', and what it answered"),
        (person("age", max_rows=2), "identifier='age': 'visits' was registered with"),
        (person("patient_id", max_rows=2, relation="replace"), "relation='replace': 'visits' was registered with"),
    ],
)
def test_whom_a_table_protects_stays(curator, visits, unit, words):
    assert refusal(Conflict, lambda: curator.declare("visits", unit=unit, columns=COLUMNS)).startswith(words)


def test_a_budget_is_neither_raised_nor_lowered(curator, visits):
    for epsilon in (4, 2):
        with pytest.raises(Conflict, match="a permanent guarantee"):
            curator.declare("visits", unit=UNIT, columns=COLUMNS, budget=Budget(epsilon=epsilon, delta=1e-6))


# Grants ---------------------------------------------------------------------------------------------------------------


def test_a_token_opens_a_session_on_its_tables(curator, visits):
    token = curator.grant("alice", "visits", budget=Budget(epsilon=1, delta=1e-6))
    session = curator.session(token)
    assert (session.analyst, session.tables()) == ("alice", ["visits"])
    with connect(curator.path, token) as other:
        assert other.tables() == ["visits"]


def test_a_bad_token_opens_nothing(curator, visits):
    token = curator.grant("alice", "visits")
    for wrong in ("", "x", token[:-1], "0" * 12 + token[12:]):
        assert refusal(AccessRefused, lambda wrong=wrong: curator.session(wrong)) == (
            "this token: it is not valid here. Fix: check that it was copied completely."
        )


def test_a_revoked_grant_opens_nothing(curator, visits):
    token = curator.grant("alice", "visits")
    grant = token.partition("_")[0]
    assert curator.revoke("alice") == (grant,)
    assert refusal(AccessRefused, lambda: connect(curator.path, token)) == (
        f"the grant {grant} of alice: it was revoked. Fix: ask the custodian for a new token."
    )


def test_an_expired_grant_opens_nothing(curator, visits, monkeypatch):
    moment = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    for expires in (moment, "2020-01-01", dt.timedelta(seconds=-1)):
        with pytest.raises(BadParameter, match="it has passed"):
            curator.grant("alice", "visits", expires=expires)
    token = curator.grant("alice", "visits", expires="1h")
    late = dt.datetime.now(dt.UTC) + dt.timedelta(hours=2)
    monkeypatch.setattr(curator.ledger._clock, "machine", lambda: late)
    assert "it expired at " in refusal(AccessRefused, lambda: curator.session(token))


def test_a_grant_is_to_tables_that_exist(curator, visits):
    assert refusal(UnknownName, lambda: curator.grant("alice", ["visits", "vists"])) == (
        "table 'vists': there is no table of that name. Fix: did you mean 'visits'?"
    )
    with pytest.raises(BadParameter, match="an analyst asks about tables"):
        curator.grant("alice", [])


def test_a_cap_holds_below_the_budget(curator, visits):
    token = curator.grant("alice", "visits", budget=Budget(epsilon=0.5))
    grant = curator.ledger.authenticate(token)
    limits = {(each.scope, each.analyst) for each in curator.budgets(grant)}
    assert limits == {("account", None), ("grant", "alice")}


def test_an_analyst_sees_neither_other_analysts_nor_other_accounts(curator, visits, tmp_path):
    (tmp_path / "other.csv").write_text("patient_id,age,ward\n9,1,A\n")
    register(curator, tmp_path / "other.csv", "other")
    curator.grant("bob", ["visits", "other"], budget=Budget(epsilon=1), monthly=Budget(epsilon=0.1))
    alice = curator.ledger.authenticate(curator.grant("alice", "visits", budget=Budget(epsilon=1)))
    seen = curator.budgets(alice)
    assert {(each.account, each.analyst) for each in seen} == {("visits", None), ("visits", "alice")}
    assert {each.analyst for each in curator.budgets()} == {None, "alice", "bob"}
    custodian = curator.ledger.authenticate(curator.grant("root", role="custodian"))
    assert curator.budgets(custodian) == curator.budgets()


def test_a_window_is_set_once_until_it_differs(curator, visits):
    assert curator.window("visits", Budget(epsilon=1))
    assert not curator.window("visits", Budget(epsilon=1))
    assert curator.window("visits", Budget(epsilon=2))
    with pytest.raises(UnknownName, match="did you mean 'visits'"):
        curator.window("vists", Budget(epsilon=1))


# The vault ------------------------------------------------------------------------------------------------------------


def test_a_missing_vault_is_refused_and_not_made(tmp_path):
    path = tmp_path / "none.discreet"
    expected = f"vault {path}: there is none. Fix: run discreet init {path}, or give the path of a vault."
    assert refusal(NotAVault, lambda: Curator(path, create=False)) == expected
    assert refusal(NotAVault, lambda: connect(path, "x_y")) == expected
    assert list(tmp_path.iterdir()) == []


def test_the_whole_vault_verifies(curator, visits):
    curator.grant("alice", "visits")
    curator.refresh("visits")
    head = curator.verify().head
    assert curator.verify(head).entries == curator.ledger.head[0]


def test_a_curator_says_what_it_holds(curator, visits):
    assert repr(curator) == f"Curator({str(curator.path)!r}, tables=['visits'])"


def test_a_grant_that_would_outlast_the_calendar_is_refused(curator, visits):
    with pytest.raises(BadParameter, match="the date is too far in the future"):
        curator.grant("alice", "visits", expires=dt.timedelta.max)


def test_what_is_no_token_opens_nothing(curator, visits):
    for token in (None, 7, b"bytes", "", "_"):
        with pytest.raises(AccessRefused, match="it is not valid here"):
            curator.session(token)
