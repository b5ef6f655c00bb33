"""Joins between private tables: whose rows meet, how many, what they cost, and what is refused."""

import itertools

import pandas as pd
import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.plan.stability import UnboundedSensitivity
from tests.curator.questions import PLENTY, answered, curator_of

VISITS = {
    "id": [1, 1, 1, 2, 2, 3, None],
    "visit": [10, 11, 12, 20, 21, 30, 40],
    "ward": ["A", "A", "B", "B", "A", "C", "A"],
    "cost": [100, 200, 300, 400, 500, 600, 700],
}
DRUGS = {
    "patient": [1, 1, 1, 2, 3, 3, 4, None],
    "visit": [10, 10, 12, 20, 31, 30, 10, 40],
    "drug": ["x", "y", "x", "y", "x", "x", "y", "x"],
    "cost": [1, 2, 3, 4, 5, 6, 7, 8],
}
VISIT_COLUMNS = {"visit": dp.between(0, 99), "ward": dp.one_of("A", "B", "C"), "cost": dp.between(0, 1000)}
DRUG_COLUMNS = {"visit": dp.between(0, 99), "drug": dp.one_of("x", "y"), "cost": dp.between(0, 10)}

_vaults = itertools.count()


def session_of(folder, visits=None, drugs=None, *, group="hospital", budget=PLENTY, texts=False):
    """Register two tables of the same people and return the session of an analyst who may ask about both."""
    curator = Curator(folder / f"join{next(_vaults)}.discreet")
    frames = {"visits": pd.DataFrame(VISITS), "drugs": pd.DataFrame(DRUGS)}
    frames["visits"]["id"] = frames["visits"]["id"].astype("Int64")
    frames["drugs"]["patient"] = frames["drugs"]["patient"].astype("Int64").astype("string" if texts else "Int64")
    units = {"visits": visits or person("id", max_rows=3), "drugs": drugs or person("patient", max_rows=4)}
    columns = {"visits": VISIT_COLUMNS, "drugs": DRUG_COLUMNS}
    for name, frame in frames.items():
        account = {"group": group, "people": "same"} if group else {"people": "distinct"}
        first = name == "visits" or not group
        curator.register(
            name, frame, unit=units[name], columns=columns[name], **({"budget": budget} if first else {}), **account
        )
    return curator.session(curator.grant("alice", ["visits", "drugs"]))


def exactly(report, **others):
    (answer,) = answered(report.asked(epsilon=10**12, **others))
    return answer


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return session_of(tmp_path_factory.mktemp("join"))


@pytest.fixture
def visits(session):
    return session.table("visits")


@pytest.fixture
def drugs(session):
    return session.table("drugs")


def test_rows_of_the_same_person_meet_and_nobody_called_null_does(visits, drugs):
    joined = visits.join(drugs, columns={"drug": "drug"})
    # 3 x 3 pairs of person 1, of which 4 count; 2 x 1 of person 2; 1 x 2 of person 3.
    assert exactly(joined.count()).value() == pytest.approx(4 + 2 + 2, abs=1e-4)
    assert exactly(joined.count(), max_rows=1).value() == pytest.approx(3, abs=1e-4)


def test_rows_meet_by_more_than_the_person_where_that_is_asked(visits, drugs):
    joined = visits.join(drugs, on="visit", columns=["drug"])
    assert exactly(joined.count()).value() == 3 + 1 + 1
    answer = exactly(joined.group_by("ward", "drug").agg(n=dp.count()))
    found = {(each["ward"], each["drug"]): each["n"] for each in answer}
    assert found == {("A", "x"): 1, ("A", "y"): 1, ("B", "x"): 1, ("B", "y"): 1, ("C", "x"): 1, ("C", "y"): 0}


def test_the_person_may_be_named_by_the_identifiers(visits, drugs):
    named = visits.join(drugs, on={"id": "patient", "visit": "visit"}, columns=["drug"])
    plain = visits.join(drugs, on="visit", columns=["drug"])
    assert named.count().asked(epsilon=1).question == plain.count().asked(epsilon=1).question


def test_people_called_by_numbers_meet_those_called_by_text(tmp_path):
    session = session_of(tmp_path, texts=True)
    joined = session.table("visits").join(session.table("drugs"), on="visit", columns=["drug"])
    assert exactly(joined.count()).value() == 5


def test_partners_are_bounded_as_declared(visits, drugs):
    joined = visits.join(drugs, most=1, columns=["drug"])
    assert exactly(joined.count()).value() == 3 + 2 + 1
    assert joined.count().asked(epsilon=1).unit.max_rows == 3


def test_a_table_meets_itself(visits):
    pairs = visits.join(visits, columns={"other": "cost"})
    assert exactly(pairs.count()).value() == pytest.approx(3 + 3 + 1, abs=1e-4)
    assert exactly(pairs.where(pairs.cost == pairs.other).count()).value() == 3 + 2 + 1


def test_the_order_of_verbs_is_free(visits, drugs):
    dear = drugs.where(drugs.cost >= 3).derive(double=drugs.cost * 2).select("visit", twice="double")
    joined = visits.where(visits.ward != "C").join(dear, on="visit")
    assert list(joined.columns) == ["visit", "ward", "cost", "twice"]
    assert exactly(joined.agg(twice=dp.sum("twice"))).value() == 6 + 8


def test_a_selection_keeps_rows_and_renames_columns(visits):
    chosen = visits.select("ward", visits.visit, price="cost")
    assert list(chosen.columns) == ["ward", "visit", "price"]
    assert chosen.columns["price"].name == "price"
    # The last row is nobody's.
    assert exactly(chosen.agg(price=dp.sum("price"))).value() == sum(VISITS["cost"][:-1])
    assert [each["n"] for each in exactly(chosen.group_by("ward").agg(n=dp.count()))] == [3, 2, 1]


def test_a_selection_of_nothing_or_of_the_unknown_is_refused(visits):
    with pytest.raises(BadParameter, match="no column is left"):
        visits.select()
    with pytest.raises(UnknownName, match="did you mean 'ward'"):
        visits.select("wrad")
    with pytest.raises(BadParameter, match="there is a column 'ward' already"):
        visits.select("ward", Ward="cost")


def test_columns_of_one_name_are_refused_with_the_way_out(visits, drugs):
    with pytest.raises(BadParameter, match="both tables have columns") as refused:
        visits.join(drugs, on="visit")
    assert refused.value.value == ["cost"]
    assert 'columns={"their_cost": "cost"}' in refused.value.fix


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (lambda session: session.table("drugs").group_by("drug"), "grouped already"),
        (lambda session: "drugs", "neither a table of this session nor a public table"),
        (lambda session: 7, "neither a table of this session nor a public table"),
    ],
)
def test_what_is_no_ungrouped_table_is_not_joined(session, other, words):
    with pytest.raises(BadParameter, match=words):
        session.table("visits").join(other(session))


def test_a_table_of_another_session_is_not_joined(visits, tmp_path):
    with pytest.raises(BadParameter, match="not a table of this session"):
        visits.join(session_of(tmp_path).table("drugs"))


def test_a_public_table_keeps_the_first_rows_of_each_key_where_that_is_asked(session, visits):
    wards = session.public("wards", {"ward": ["A", "B", "A", "A", None, None], "floor": [1, 2, 3, 4, 5, 6]})
    joined = visits.join(wards, on="ward", most=2)
    assert joined.plan.public.rows == (("A", 1), ("B", 2), ("A", 3), (None, 5), (None, 6))
    fewer = session.public("wards", {"ward": ["A", "B", "A", None, None], "floor": [1, 2, 3, 5, 6]})
    asked, same = (each.count().asked(epsilon=1) for each in (joined, visits.join(fewer, on="ward")))
    assert asked.unit == same.unit
    with pytest.raises(BadParameter, match="positive integer"):
        visits.join(wards, on="ward", most=0)


def test_a_public_table_needs_a_column_and_takes_no_bounds(session, visits):
    wards = session.public("wards", {"ward": ["A"], "floor": [1]})
    with pytest.raises(BadParameter, match="has no people"):
        visits.join(wards)
    with pytest.raises(BadParameter, match="of a public table are known"):
        visits.join(wards, on="ward", columns=["floor"])


@pytest.mark.parametrize("most", [0, -1, True, 1.5, "3"])
def test_a_number_of_partners_is_positive_and_whole(visits, drugs, most):
    with pytest.raises(BadParameter, match="positive integer"):
        visits.join(drugs, most=most, columns=["drug"])


def test_columns_that_never_are_equal_or_are_not_there_are_refused(visits, drugs):
    with pytest.raises(BadParameter, match="never equals"):
        visits.join(drugs, on={"ward": "cost"}, columns=["drug"])
    with pytest.raises(UnknownName, match="column of the other table"):
        visits.join(drugs, on={"visit": "visits"}, columns=["drug"])
    with pytest.raises(UnknownName, match="did you mean 'drug'"):
        visits.join(drugs, columns=["drugs"])


def test_tables_of_different_accounts_are_not_joined(tmp_path):
    session = session_of(tmp_path, group=None)
    with pytest.raises(BadParameter, match="different accounts") as refused:
        session.table("visits").join(session.table("drugs"), columns=["drug"])
    assert "group=" in refused.value.fix


@pytest.mark.parametrize("which", ["visits", "drugs"])
def test_rows_without_people_are_not_joined(tmp_path, which):
    session = session_of(tmp_path, **{which: row()}, group=None)  # one group has one unit
    with pytest.raises(UnboundedSensitivity, match="rows are protected there, not people") as refused:
        session.table("visits").join(session.table("drugs"), columns=["drug"])
    assert "person(" in refused.value.fix
    assert refused.value.value == [which]


@pytest.mark.parametrize("change", [{"relation": "replace"}, {"bound": "table"}])
def test_people_who_are_protected_in_different_ways_are_not_joined(tmp_path, change):
    # Tables of one group have one relation anyway.
    session = session_of(tmp_path, drugs=person("patient", max_rows=4, **change), group=None)
    with pytest.raises(UnboundedSensitivity, match="in different ways"):
        session.table("visits").join(session.table("drugs"), columns=["drug"])


@pytest.mark.parametrize("doubled", [lambda t: t.join(t, columns=()), lambda t: t.union(t)])
def test_a_question_without_end_is_refused(visits, doubled):
    found = visits
    for _ in range(6):
        found = doubled(found)
    with pytest.raises(BadParameter, match="at most 64 tables"):
        doubled(found)


@pytest.mark.parametrize(
    ("visits_unit", "drugs_unit", "most", "rows", "groups"),
    [
        (person("id", max_rows=3), person("patient", max_rows=4), None, 4, 4),
        (person("id", max_rows=1), person("patient", max_rows=20, max_groups=3), None, 20, 3),
        (person("id", max_rows=3), person("patient", max_rows=20), 2, 6, 6),
        (person("id", max_rows=3, bound="table"), person("patient", max_rows=4, bound="table"), None, 12, 4),
        (person("id", max_rows=3, bound="table"), person("patient", max_rows=4, bound="table"), 2, 6, 4),
    ],
)
def test_people_reach_as_far_as_their_tables_let_them(tmp_path, visits_unit, drugs_unit, most, rows, groups):
    session = session_of(tmp_path, visits_unit, drugs_unit)
    joined = session.table("visits").join(session.table("drugs"), most=most, columns=["drug"])
    asked = joined.group_by("ward").agg(n=dp.count()).asked(epsilon=1)
    assert (asked.unit.max_rows, asked.unit.max_groups, asked.unit.identifier) == (rows, groups, "id")
    assert (asked.reach.rows, asked.reach.groups) == (rows, groups)


def test_a_join_bounded_once_for_the_tables_has_all_pairs_of_what_is_kept(tmp_path):
    units = person("id", max_rows=3, bound="table"), person("patient", max_rows=4, bound="table")
    session = session_of(tmp_path, *units)
    joined = session.table("visits").join(session.table("drugs"), columns=["drug"])
    assert exactly(joined.count()).value() == 9 + 2 + 2
    with pytest.raises(BadParameter, match="bounded once"):
        joined.count().preview(epsilon=1, max_rows=2)


def test_replaced_people_count_twice(tmp_path):
    units = (person(name, max_rows=2, relation="replace") for name in ("id", "patient"))
    session = session_of(tmp_path, *units)
    joined = session.table("visits").join(session.table("drugs"), columns=["drug"])
    assert joined.count().asked(epsilon=1).reach.rows == 4


def test_one_charge_names_both_tables_and_their_one_account(tmp_path):
    session = session_of(tmp_path, budget=dp.Budget(epsilon=2))
    ledger = curator_of(session).ledger
    joined = session.table("visits").join(session.table("drugs"), on="visit", columns=["drug"])
    answer = joined.count().release(epsilon=0.5)
    assert ledger.spent("hospital").loss == pytest.approx(0.5)
    assert not answer.receipt["replayed"]
    assert joined.count().release(epsilon=0.5).receipt["replayed"]
    assert ledger.spent("hospital").loss == pytest.approx(0.5)
    assert any("partners in drugs at most 4" in note for note in answer.notes)


def test_a_refreshed_partner_makes_it_another_question(tmp_path):
    session = session_of(tmp_path)
    joined = session.table("visits").join(session.table("drugs"), on="visit", columns=["drug"])
    joined.count().release(epsilon=0.5)
    frame = pd.DataFrame(DRUGS).iloc[:1]
    curator_of(session).refresh("drugs", frame.assign(patient=frame["patient"].astype("Int64")))
    assert not joined.count().release(epsilon=0.5).receipt["replayed"]


def test_a_join_is_partitioned_whole_and_a_part_is_not_joined(tmp_path):
    session = session_of(tmp_path)
    visits, drugs = session.table("visits"), session.table("drugs")
    parts = visits.join(drugs, on="visit", columns=["drug"]).partition("drug")
    found = parts.release(lambda part: part.select("ward").agg(n=dp.count()), epsilon=10**4)
    assert [round(answer.value()) for answer in found.values()] == [3, 2]
    with pytest.raises(BadParameter, match="uses rows outside this part"):
        visits.partition("ward").release(lambda part: part.join(drugs, columns=["drug"]).count(), epsilon=1)


def test_a_preview_says_how_far_a_person_reaches_and_why(visits, drugs):
    joined = visits.join(drugs, columns=["drug"])
    words = joined.group_by("ward").agg(n=dp.count()).preview(epsilon=1, max_rows=2).stability
    assert words == (
        "one person changes at most 2 rows",
        "visits joined with drugs: at most 3 x 4 = 12 pairs of each person's rows, of which 2 count",
    )
    assert words[1] in str(joined.count().preview(epsilon=1, max_rows=2))
