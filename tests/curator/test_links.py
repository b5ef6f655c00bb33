"""Linked tables in a vault: one account, unique keys, versions, and answers that follow the table referred to."""

import itertools

import pytest

import discreet as dp
from discreet.ask.programme import Programme
from discreet.ask.registered import versions_of
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.curator import Curator
from discreet.engines.source import SourceChanged
from discreet.ledger import QuestionFailed
from discreet.ledger.refusals import Conflict
from tests.curator.questions import PLENTY, answered

CUSTOMER = {"custkey": [1, 2, 3], "segment": ["A", "B", "A"]}
ORDERS = {"orderkey": [10, 11, 12, 13, 14], "custkey": [1, 1, 2, 9, None], "status": ["x", "y", "x", "x", "x"]}
# Of order 13 nobody is the customer, of 14 it is not known, and of 99 there is none.
LINES = {"orderkey": [10, 10, 11, 12, 13, 14, 99, None], "quantity": [1, 2, 3, 4, 5, 6, 7, 8]}
COLUMNS = {
    "customer": {"segment": dp.one_of("A", "B")},
    "orders": {"status": dp.one_of("x", "y")},
    "lines": {"quantity": dp.between(0, 10)},
}
UNITS = {
    "customer": dp.person("custkey", max_rows=1),
    "orders": dp.person(via=dp.link("custkey", "customer", "custkey"), max_rows=10),
    "lines": dp.person(via=dp.link("orderkey", "orders", "orderkey"), max_rows=10),
}

_vaults = itertools.count()


def curator_of(folder, **sources):
    """Put the three tables, or what stands in the place of their rows, behind a vault of their own."""
    rows = {"customer": CUSTOMER, "orders": ORDERS, "lines": LINES} | sources
    curator = Curator(folder / f"links{next(_vaults)}.discreet")
    for name, source in rows.items():
        budget = {"budget": PLENTY} if name == "customer" else {}
        curator.register(name, source, unit=UNITS[name], columns=COLUMNS[name], **budget)
    return curator


def session_of(curator, tables=("customer", "orders", "lines")):
    return curator.session(curator.grant("alice", tables))


def exactly(report):
    """The numbers of an answer without noise to speak of."""
    (answer,) = answered(report.asked(epsilon=10**12))
    (row,) = answer
    return tuple(map(round, [*row.values()][::3]))


def lines_of(session):
    """How many lines there are, of how many people, and what their quantities add up to."""
    return exactly(session.table("lines").agg(n=dp.count(), p=dp.people(), s=dp.sum("quantity")))


@pytest.fixture(scope="module")
def curator(tmp_path_factory):
    folder = tmp_path_factory.mktemp("links")
    (folder / "lines.csv").write_text("orderkey,quantity\n10,1\n10,2\n11,3\n12,4\n13,5\n14,6\n99,7\n,8\n")
    with curator_of(folder, lines=folder / "lines.csv") as found:
        found.register("parts", {"part": [1, 2]}, unit=dp.row(), columns={"part": dp.between(0, 9)}, budget=PLENTY)
        yield found


def test_a_row_belongs_to_the_person_of_the_row_it_refers_to_over_a_chain(curator):
    session = session_of(curator)
    assert lines_of(session) == (4, 2, 10)
    assert exactly(session.table("orders").agg(n=dp.count(), p=dp.people())) == (3, 2)


def test_tables_of_a_schema_are_joined_on_the_person(curator):
    session = session_of(curator)
    pairs = session.table("lines").join(session.table("orders"))
    assert exactly(pairs.agg(n=dp.count(), p=dp.people())) == (7, 2)
    by_segment = session.table("lines").join(session.table("customer")).group_by("segment").agg(n=dp.count())
    (answer,) = answered(by_segment.asked(epsilon=10**12))
    assert [round(row["n"]) for row in answer] == [3, 1]


def test_a_schema_has_one_account_and_every_question_is_charged_to_it(curator):
    assert {curator.table(name).account for name in UNITS} == {"customer"}
    session = session_of(curator)
    before = session.remaining()
    answer = session.table("lines").agg(n=dp.count()).release(epsilon=1)
    assert answer.receipt is not None
    assert session.remaining() != before


def test_who_may_ask_about_a_linked_table_need_not_see_what_it_refers_to(curator):
    session = session_of(curator, ["lines"])
    assert lines_of(session) == (4, 2, 10)
    with pytest.raises(UnknownName):
        session.table("orders")


def test_the_unit_says_what_it_rests_on(curator):
    said = repr(curator.table("lines"))
    assert "protects one person (orderkey = orders.orderkey, which is unique), at most 10 rows" in said
    assert [each.name for each in curator.table("lines").chain] == ["lines", "orders", "customer"]


@pytest.fixture
def moving(tmp_path):
    """A vault whose orders are a file that can be written anew, with a table that keeps its rows once."""
    orders = tmp_path / "orders.csv"
    orders.write_text("orderkey,custkey,status\n10,1,x\n11,1,y\n12,2,x\n")
    with curator_of(tmp_path, orders=orders) as found:
        unit = dp.person(via=dp.link("orderkey", "orders", "orderkey"), max_rows=2, bound="table")
        found.register("kept", {**LINES, "more": [1] * 8}, unit=unit, columns=COLUMNS["lines"])
        yield found, orders


def test_a_change_of_a_referenced_table_is_a_change_of_those_that_refer_to_it(moving):
    curator, orders = moving
    session = session_of(curator, ["lines", "kept"])
    kept = session.table("kept").agg(n=dp.count(), p=dp.people())
    count = session.table("lines").agg(n=dp.count())
    first = count.release(epsilon=10**4)
    assert count.release(epsilon=10**4).receipt["replayed"]  # and kept in memory from now on
    assert ([round(row["n"]) for row in first], lines_of(session), exactly(kept)) == ([4], (4, 2, 10), (3, 2))
    assert versions_of([curator.table("lines")]) == {"lines": 1, "orders": 1, "customer": 1}
    orders.write_text("orderkey,custkey,status\n10,3,x\n11,7,y\n12,2,x\n99,2,x\n")
    with pytest.raises(SourceChanged, match="the source of 'orders' changed"):
        count.release(epsilon=10**4)  # which is kept in memory
    with pytest.raises(SourceChanged, match="the source of 'orders' changed"):
        count.release(epsilon=3)
    curator.refresh("orders")
    assert versions_of([curator.table("lines")]) == {"lines": 1, "orders": 2, "customer": 1}
    assert (lines_of(session), exactly(kept)) == ((4, 2, 14), (4, 2))  # lines 1, 2, 4 and 7
    again = count.release(epsilon=10**4)
    assert not again.receipt["replayed"]
    assert again.receipt["key"] != first.receipt["key"]


@pytest.mark.parametrize(
    ("keys", "said"), [([10, 10, 11], "1 of its values occurs more"), ([1, 1, 2, 2, 2], "2 of its values occur more")]
)
def test_a_key_that_is_not_unique_is_refused_at_refresh(moving, keys, said):
    curator, orders = moving
    orders.write_text("orderkey,custkey,status\n" + "".join(f"{key},1,x\n" for key in keys))
    with pytest.raises(Conflict, match=said) as refused:
        curator.refresh("orders")
    assert "link by a column that is unique" in refused.value.fix
    assert curator.table("orders").version == 1


def test_every_key_that_links_refer_to_has_to_stay_unique(tmp_path):
    orders = tmp_path / "orders.csv"
    orders.write_text("orderkey,code,custkey,status\n10,1,1,x\n11,2,1,y\n")
    with curator_of(tmp_path, orders=orders) as curator:
        unit = dp.person(via=dp.link("code", "orders", "code"), max_rows=2)
        curator.register("notes", {"code": [1, 2], "quantity": [3, 4]}, unit=unit, columns=COLUMNS["lines"])
        orders.write_text("orderkey,code,custkey,status\n10,1,1,x\n11,1,2,y\n")
        with pytest.raises(Conflict, match="the key 'code' of 'orders': 1 of its values occurs more than once"):
            curator.refresh("orders")


def test_rows_that_refer_to_a_table_whose_keys_repeat_by_now_are_not_refreshed(moving):
    curator, orders = moving
    orders.write_text("orderkey,custkey,status\n10,1,x\n10,2,x\n")
    with pytest.raises(Conflict, match="the key 'orderkey' of 'orders': 1 of its values occurs more than once"):
        curator.refresh("lines", {**LINES, "quantity": [1] * 8})
    assert curator.table("lines").version == 1


def test_a_referenced_table_refreshed_while_the_engine_works_gives_no_answer(moving, tmp_path, monkeypatch):
    curator, _ = moving
    session, good = session_of(curator, ["lines"]), Programme.run

    def slow(self, runner, draws):
        (tmp_path / "other.csv").write_text("orderkey,custkey,status\n10,2,x\n")
        curator.refresh("orders", tmp_path / "other.csv")  # the old file is as it was
        return good(self, runner, draws)

    monkeypatch.setattr(Programme, "run", slow)
    with pytest.raises(QuestionFailed):
        session.table("lines").agg(n=dp.count()).release(epsilon=1)


def test_a_key_that_is_not_unique_is_refused_at_registration(curator):
    unit = dp.person(via=dp.link("ref", "lines", "orderkey"), max_rows=3)
    with pytest.raises(Conflict, match="the key 'orderkey' of 'lines': 1 of its values occurs more than once"):
        curator.register("more", {"ref": [10], "x": ["7"]}, unit=unit, columns={"x": dp.between(0, 9)})


@pytest.mark.parametrize(
    ("link", "others", "error", "said"),
    [
        (("ref", "more", "ref"), {}, BadParameter, "the link leads back to the table itself"),
        (("ref", "parts", "part"), {}, BadParameter, "protects single rows"),
        (("ref", "order", "orderkey"), {}, UnknownName, "did you mean 'orders'"),
        (("ref", "orders", "orderkeys"), {}, UnknownName, "column of 'orders'"),
        (("refs", "orders", "orderkey"), {}, UnknownName, "link column of the source"),
        (("ref", "orders", "orderkey"), {"group": "parts"}, Conflict, "a person has one account"),
        (("ref", "orders", "orderkey"), {"people": "same"}, BadParameter, "which the link says"),
        (("ref", "orders", "orderkey"), {"budget": dp.Budget(epsilon=7)}, Conflict, "permanent guarantee"),
    ],
)
def test_a_link_that_leads_to_no_person_of_one_account_is_refused(curator, link, others, error, said):
    unit = dp.person(via=dp.link(*link), max_rows=3)
    with pytest.raises(error, match=said):
        curator.register("more", {"ref": [1], "x": ["7"]}, unit=unit, columns={"x": dp.between(0, 9)}, **others)
    assert "more" not in curator.tables()


def test_rows_that_another_account_pays_for_are_not_linked_to_this_one(curator):
    unit, parts = dp.person(via=dp.link("part", "orders", "orderkey"), max_rows=3), curator.table("parts")
    path = curator.path.with_name("apart.csv")
    path.write_text("part\n1\n")
    curator.refresh("parts", path)
    with pytest.raises(Conflict, match="'customer', and a person has one account") as refused:
        curator.register("linked", path, unit=unit, columns=list(parts.table.columns))
    assert "here 'parts' does" in refused.value.fix


@pytest.mark.parametrize("unit", [dp.row(), dp.person("orderkey", max_rows=5)], ids=["rows", "other people"])
def test_the_rows_of_a_linked_table_are_counted_by_nothing_else(curator, unit):
    columns = COLUMNS["lines"]
    with pytest.raises(BadParameter, match=r"orders\.orderkey, which is unique"):
        curator.register("again", curator.path.with_name("lines.csv"), unit=unit, columns=columns)


def test_single_rows_get_no_account_of_people_that_has_linked_tables(curator):
    with pytest.raises(BadParameter, match="the budget of 'customer' is counted for people"):
        curator.register("more", {"n": [1]}, unit=dp.row(), columns={"n": dp.between(0, 1)}, group="customer")


@pytest.mark.parametrize(
    "unit", [dp.person("orderkey", max_rows=10), dp.person(via=dp.link("quantity", "orders", "orderkey"), max_rows=1)]
)
def test_whom_a_linked_table_protects_never_changes(curator, unit):
    with pytest.raises(Conflict, match="was registered with"):
        curator.declare("lines", unit=unit, columns=COLUMNS["lines"])


def test_a_vault_that_is_opened_again_knows_its_links(curator):
    with Curator(curator.path) as again:
        assert again.table("lines") == curator.table("lines")
        assert lines_of(session_of(again)) == (4, 2, 10)
