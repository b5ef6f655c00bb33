"""Lint: what a custodian is told about a table, from its exact rows, and nobody else."""

import datetime as dt
import inspect
import math
from fractions import Fraction

import duckdb
import pandas as pd
import pytest

from discreet.account.budgets.budget import Budget
from discreet.core.errors import Refusal, UnknownName
from discreet.core.schema import between, date, flag, one_of, text
from discreet.core.unit import person, row
from discreet.curator.curator import Curator
from discreet.curator.lint import is_round
from discreet.engines.duckdb.options import csv


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as opened:
        yield opened


def lint(curator, data, columns, *, unit=None, budget=None, rows=None):
    """Register a table and return what lint says of it, as severity, column and words."""
    budget = budget or Budget(epsilon=1)
    curator.register("t", data, unit=unit or row(), columns=columns, budget=budget, rows=rows)
    return [(found.severity, found.column, found.what) for found in curator.lint("t")]


def clean(size=1000):
    """Return a table of whose column nothing is to be said."""
    return {"n": [number % 100 for number in range(size)]}


def test_a_table_in_order_has_no_remarks(curator):
    assert lint(curator, clean(), {"n": between(0, 100)}) == []


@pytest.mark.parametrize(("delta", "count"), [("1/1000", 1), ("1/1001", 0)])
def test_a_delta_of_one_in_n_is_an_error(curator, delta, count):
    budget = Budget(epsilon=1, delta=Fraction(delta))
    found = lint(curator, clean(), {"n": between(0, 100)}, budget=budget)
    assert [each[0] for each in found] == ["error"] * count


def test_delta_is_compared_with_the_number_of_people(curator):
    data = {"id": [number % 10 for number in range(1000)], "n": [number % 100 for number in range(1000)]}
    unit, budget = person("id", max_rows=100), Budget(epsilon=1, delta=Fraction(1, 50))
    found = lint(curator, data, {"n": between(0, 100)}, unit=unit, budget=budget)
    cut = "bounds of 1, 2, 5, 10, 20, 50, 100 rows a person would cut 99.0%, 98.0%, 95.0%, 90.0%, 80.0%, 50.0%, 0.0%"
    assert found == [("note", "id", f"{cut} of all rows")]


def test_a_large_epsilon_is_a_warning(curator):
    found = lint(curator, clean(), {"n": between(0, 100)}, budget=Budget(epsilon=20))
    assert found == [("warning", None, "epsilon 20 is a weak guarantee")]


def test_a_size_that_is_not_the_declared_one_is_a_warning(curator):
    found = lint(curator, clean(), {"n": between(0, 100)}, rows=900)
    assert found == [("warning", None, "900 rows are declared and there are 1,000")]


def test_an_empty_table_is_a_warning(curator):
    assert lint(curator, {"n": []}, {"n": between(0, 100)}, rows=10) == [
        ("warning", None, "10 rows are declared and there are 0"),
        ("warning", None, "no rows"),
    ]


def test_bounds_copied_from_the_data_are_warnings(curator):
    data = {"n": [3.17 + number % 91 for number in range(1000)]}
    found = lint(curator, data, {"n": between(3.17, 93.17, step=0.01)})
    assert found == [
        ("warning", "n", "the lower bound 3.17 is the least value there is"),
        ("warning", "n", "the upper bound 93.17 is the largest value there is"),
    ]


def test_a_round_bound_that_is_reached_is_no_remark(curator):
    assert lint(curator, clean(), {"n": between(0, 99)}) == []


def test_dates_copied_from_the_data_are_warnings(curator):
    days = [dt.date(2020, 3, 7) + dt.timedelta(days=number % 50) for number in range(1000)]
    found = lint(curator, {"d": days}, {"d": date("2020-03-07", "2020-12-31")})
    assert found == [("warning", "d", "the lower bound 2020-03-07 is the least value there is")]


@pytest.mark.parametrize(
    "bound", ["0", "7", "99", "110", "18", "24", "365", "0.25", "0.5", "50000", "-40", "999", "1/3"]
)
def test_what_people_choose_is_round(bound):
    assert is_round(Fraction(bound))


@pytest.mark.parametrize("bound", ["96", "97.3", "48712", "0.37", "-41", "2/3"])
def test_what_people_do_not_choose_is_not(bound):
    assert not is_round(Fraction(bound))


def test_the_ends_of_months_are_round():
    assert [is_round(dt.date(2024, 2, day)) for day in (1, 29, 28)] == [True, True, False]


def test_values_that_are_clamped_in_numbers_are_a_warning(curator):
    found = lint(curator, clean(), {"n": between(0, 50)})
    assert found == [("warning", "n", "49% of the values lie outside 0..50")]


def test_days_that_are_clamped_in_numbers_are_a_warning(curator):
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=number % 100) for number in range(1000)]
    found = lint(curator, {"d": days}, {"d": date("2020-01-01", "2020-01-31")})
    assert found == [("warning", "d", "69% of the values lie outside 2020-01-01..2020-01-31")]


def test_days_outside_the_calendar_of_python_are_looked_at_too(curator, tmp_path):
    file = tmp_path / "days.parquet"
    duckdb.sql(f"COPY (SELECT DATE '4000-01-01 (BC)' AS day FROM range(5)) TO '{file}'")
    assert lint(curator, file, {"day": date("2020-01-01", "2020-12-31")}) == [
        ("warning", "day", "100% of the values lie outside 2020-01-01..2020-12-31")
    ]


def test_keys_that_are_not_declared_and_keys_that_nobody_has_are_found(curator):
    data = {"ward": ["A"] * 500 + ["B"] * 300 + ["X"] * 150 + ["Y"] * 50}
    found = lint(curator, data, {"ward": one_of("A", "B", "C")})
    assert found == [
        ("warning", "ward", "200 rows (20%) have keys that are not declared: 'X', 'Y'"),
        ("note", "ward", "nobody has 'C'"),
    ]


def test_whole_numbers_are_keys_too(curator):
    assert lint(curator, {"k": [1, 2] * 100}, {"k": one_of(1, 2)}) == []


def test_nulls_that_were_promised_away_are_an_error(curator):
    data = {"n": [number % 100 for number in range(990)] + [None] * 9 + ["?"], "f": ["true"] * 1000}
    columns = {"n": between(0, 100, nullable=False), "f": flag(nullable=False)}
    assert lint(curator, data, columns) == [("error", "n", "10 rows (1%) are null or unreadable")]


def test_people_with_more_rows_than_are_used_are_a_warning(curator):
    data = {"id": ["giant"] * 500 + list(range(500)), "n": [number % 100 for number in range(1000)]}
    found = lint(curator, data, {"n": between(0, 100)}, unit=person("id", max_rows=10))
    assert found[0] == ("warning", "id", "490 rows (49%) are dropped by max_rows=10")
    assert found[1][2].startswith("bounds of 1, 2, 5, 10, 20, 50, 100, 200, 500 rows a person would cut 49.9%, 49.8%")


def test_rows_without_an_identifier_are_a_warning(curator):
    data = {"id": [None] * 5 + list(range(995)), "n": [number % 100 for number in range(1000)]}
    found = lint(curator, data, {"n": between(0, 100)}, unit=person("id", max_rows=1))
    assert found == [("warning", "id", "5 rows (below 1%) have no identifier")]


def test_columns_that_single_out_rows_are_found_in_the_smallest_sets(curator):
    size = 1000
    data = {
        "a": [number % 10 for number in range(size)],
        "b": [number // 10 % 10 for number in range(size)],
        "c": [number // 100 for number in range(size)],
        "d": ["x"] * size,
    }
    columns = {name: between(0, 9) for name in "abc"} | {"d": text()}
    assert lint(curator, data, columns) == [("note", "a, b, c", "100% of the rows are unique on a + b + c")]


def test_a_column_that_is_unique_alone_is_named_alone(curator):
    data = {"name": [f"p{number}" for number in range(500)], "n": [number % 100 for number in range(500)]}
    found = lint(curator, data, {"name": text(), "n": between(0, 100)})
    assert found == [("note", "name", "100% of the rows are unique on name")]


@pytest.mark.parametrize(
    ("dtype", "last", "found"),
    [
        ("float64", 2**53, ("note", "id", "people are identified by floating-point numbers")),
        ("float64", 2**53 + 2, ("warning", "id", "1 row has a floating-point identifier beyond 2^53")),
        ("float32", 2**24 + 2, ("warning", "id", "1 row has a floating-point identifier beyond 2^24")),
        ("Int64", 2**53 + 2, None),
        ("object", "9007199254740993", None),
    ],
)
def test_an_identifier_in_floating_point_numbers_is_remarked(curator, dtype, last, found):
    frame = pd.DataFrame({"id": pd.array([*range(999), last], dtype=dtype), "n": [n % 100 for n in range(1000)]})
    remarks = lint(curator, frame, {"n": between(0, 100)}, unit=person("id", max_rows=1))
    assert remarks == ([] if found is None else [found])


def test_a_missing_identifier_makes_whole_numbers_floating_and_is_remarked_with_the_fix(curator):
    frame = pd.DataFrame({"id": [1, None, math.inf] + [2] * 997, "n": [n % 100 for n in range(1000)]})
    lint(curator, frame, {"n": between(0, 100)}, unit=person("id", max_rows=1000))
    fixes = {remark.what: remark.fix for remark in curator.lint()}
    assert fixes["people are identified by floating-point numbers"] == (
        'store it as text or integers; in pandas: frame["id"].astype("Int64")'
    )


@pytest.mark.parametrize(
    ("dtype", "column", "remarked"),
    [
        ("float64", between(0, 2**53), False),
        ("float64", between(0, 2**54), True),
        ("float64", between(0, 2**50, step=0.01), True),
        ("float64", between(0, 2**60, step=2**20), False),
        ("float32", between(0, 2**25), True),
        ("Int64", between(0, 2**60), False),
    ],
)
def test_bounds_beyond_what_floating_point_numbers_hold_are_a_warning(curator, dtype, column, remarked):
    found = lint(curator, pd.DataFrame({"n": pd.array(range(1000), dtype=dtype)}), {"n": column})
    floating = [words for *_, words in found if "floating-point" in words]
    power = 24 if dtype == "float32" else 53
    words = f"its bounds are more than 2^{power} steps from zero, and it is stored as floating-point numbers"
    assert floating == ([words] if remarked else [])


def test_a_table_whose_people_may_have_two_budgets_is_a_note(curator):
    data = {"id": [*range(1000)], **clean()}
    lint(curator, data, {"n": between(0, 100)}, unit=person("id", max_rows=1))
    unit, budget = person("id", max_rows=1), Budget(epsilon=1)
    more = {**data, "n": data["n"][::-1]}
    curator.register("more", more, unit=unit, columns={"n": between(0, 100)}, budget=budget, people="distinct")
    assert [(found.severity, found.table, found.column, found.what) for found in curator.lint()] == [
        ("note", "more", "id", "t has the same identifier column"),
        ("note", "t", "id", "more has the same identifier column"),
    ]


def test_the_identifier_is_no_quasi_identifier(curator):
    data = {"id": list(range(500)), "n": [number % 100 for number in range(500)]}
    found = lint(curator, data, {"id": text(), "n": between(0, 100)}, unit=person("id", max_rows=1))
    assert found == []


def test_odd_values_raise_nothing(curator):
    data = {"n": ["nan", "inf", "-inf", "1e999", "", "x", None, "7"] * 10, 'odd "name"': ["é"] * 80}
    found = lint(curator, data, {"n": between(0, 110), 'odd "name"': one_of("é")})
    assert {each[0] for each in found} <= {"warning", "note"}


def test_the_worst_comes_first_and_each_has_why_and_fix(curator):
    data = {"n": [None, *range(999)], "w": ["A"] * 1000}
    curator.register(
        "t",
        data,
        unit=row(),
        columns={"w": one_of("A", "B"), "n": between(0, 50, nullable=False)},
        budget=Budget(epsilon=11),
    )
    found = curator.lint()
    assert [each.severity for each in found] == sorted(
        (each.severity for each in found), key=["error", "warning", "note"].index
    )
    assert {each.severity for each in found} == {"error", "warning", "note"}
    assert all(each.why and each.fix and each.table == "t" for each in found)


def test_a_source_that_has_gone_is_refused(curator, tmp_path):
    (tmp_path / "t.csv").write_text("n\n1\n")
    curator.register("t", tmp_path / "t.csv", unit=row(), columns={"n": between(0, 9)}, budget=Budget(epsilon=1))
    (tmp_path / "t.csv").unlink()
    with pytest.raises(Refusal):
        curator.lint()


def test_no_session_reaches_lint():
    from discreet.ask import query
    from discreet.curator import session

    for module in (session, query):
        assert "lint" not in inspect.getsource(module)


def test_values_that_cannot_be_read_as_declared_are_remarked_with_what_they_look_like(curator):
    data = {"n": ["1,200.50", "7", "", "NaN"] * 10, "day": ["29.02.2024", "2024-02-29"] * 20, "ok": ["ja", "yes"] * 20}
    columns = {"n": between(0, 5000), "day": date("2000-01-01", "2030-12-31"), "ok": flag()}
    found = [what for severity, _, what in lint(curator, data, columns) if severity == "warning"]
    assert found == [
        "10 rows (25%) cannot be read as a number: '1,200.50'",
        "20 rows (50%) cannot be read as a date: '29.02.2024'",
        "20 rows (50%) cannot be read as a flag: 'ja'",
    ]


def test_identifiers_that_merge_without_blanks_and_case_are_counted(curator):
    names = [f"P{number}" for number in range(900)] + ["p7 ", " P7", "p8\u00a0"]
    lint(curator, {"id": names, "n": [5] * 903}, {"n": between(0, 100)}, unit=person("id", max_rows=1))
    (merged,) = [each for each in curator.lint("t") if "become" in each.what]
    assert (merged.severity, merged.column) == ("warning", "id")
    assert merged.what.startswith("5 identifiers become 2 without spaces and case, such as ")
    assert "may lose several times" in merged.why


def test_whole_numbers_and_plain_names_do_not_merge(curator):
    lint(curator, {"id": [*range(1000)], **clean()}, {"n": between(0, 100)}, unit=person("id", max_rows=1))
    assert not [each for each in curator.lint("t") if "become" in each.what]


def test_a_source_is_looked_at_before_it_is_registered(tmp_path):
    from discreet.core.schema import Table
    from discreet.curator.lint import lint_source

    (tmp_path / "v.csv").write_text("id,n\nP7,1\np7 ,2\n")
    table = Table("v", person("id", max_rows=1), {"n": between(0, 100)})
    assert any("2 identifiers become 1" in each.what for each in lint_source(table, tmp_path / "v.csv"))
    with pytest.raises(UnknownName, match="nn"):
        lint_source(Table("v", person("id", max_rows=1), {"nn": between(0, 100)}), tmp_path / "v.csv")


def test_lines_that_are_left_out_for_their_quotes_are_counted_for_the_custodian(curator, tmp_path):
    (tmp_path / "v.csv").write_text('id,n,note\n1,1,"two\nlines"\n2,2,"one"\n3,3,plain\n')
    declared = {"unit": person("id", max_rows=1), "columns": {"n": between(0, 100)}, "budget": Budget(epsilon=1)}
    (note,) = curator.register("v", tmp_path / "v.csv", **declared).notes
    assert note.startswith("2 lines are left out of every answer: a record is one line of UTF-8 whose quotes pair")
    assert any(each.what == "2 lines are left out of every answer" for each in curator.lint("v"))
    assert not curator.register(
        "w", csv(tmp_path / "v.csv", quote=None), group="v", **{**declared, "budget": None}
    ).notes


def test_what_several_bounds_would_cut_is_shown_to_the_custodian(curator):
    # 50 people of 1 row, 10 of 4, one of 30: 120 rows.
    ids = [*range(50), *(who for who in range(100, 110) for _ in range(4)), *([200] * 30)]
    remarks = lint(curator, {"id": ids, "n": [0, 100] * 60}, {"n": between(0, 100)}, unit=person("id", max_rows=30))
    ((severity, column, cut),) = [each for each in remarks if "would cut" in each[2]]
    shares = "49.2%, 40.0%, 20.8%, 16.7%, 8.3%, 0.0%"
    assert cut == f"bounds of 1, 2, 5, 10, 20, 50 rows a person would cut {shares} of all rows"
    assert (severity, column) == ("note", "id")
