"""Preview: what an answer would cost and how far it would be off, without a look at any row."""

import io
import json
import re

import pytest
from rich.console import Console

import discreet as dp
from discreet.ask.preview import preview
from discreet.ask.programme import Programme
from discreet.core import doors
from discreet.core.errors import UnknownName
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from discreet.engines import EMBEDDED, registry
from discreet.engines.duckdb.dialect import DIALECT as DUCKDB
from discreet.engines.engine import multipliers
from discreet.ledger.refusals import AccessRefused
from discreet.plan.nodes import Scan, public
from discreet.plan.to_sql.rows import rows_sql
from tests.curator.questions import curator_of, engine, head, opened

COLUMNS = {"ward": one_of("A", "B"), "cost": between(0, 100), "city": text()}
SOME = {"id": [1, 2, 2], "ward": ["A", "B", "A"], "cost": [1, 50, 100], "city": ["Bern", "Bern", "Basel"]}
OTHERS = {"id": [9] * 50, "ward": ["B"] * 50, "cost": [99] * 50, "city": ["Rom"] * 50}


def ask(table):
    return table.group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"), half=dp.median("cost"))


def test_a_preview_is_the_same_whatever_the_rows_are(tmp_path):
    texts = []
    for data in (SOME, OTHERS):
        table = opened(tmp_path, data, columns=COLUMNS).table("visits")
        texts.append(
            [
                str(ask(table).preview(epsilon=1)),
                str(table.agg(h=dp.histogram("cost", edges=[0, 50, 100])).preview(rho=1)),
            ]
        )
    assert texts[0] == texts[1]


def test_a_preview_costs_nothing_and_opens_no_engine(tmp_path, monkeypatch):
    session = opened(tmp_path, SOME, columns=COLUMNS)
    before = head(session)
    monkeypatch.setattr("discreet.ask.runner.runner", None)
    ask(session.table("visits")).preview(epsilon=1)
    assert head(session) == before


def test_every_column_has_mechanism_sensitivity_noise_and_cost(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=3, rows=1000)
    assert [line.column for line in found.lines] == ["n", "cost", "half"]
    assert [line.mechanism for line in found.lines] == ["count", "mean", "median"]
    # Half for the median; one measurement of count and mean for the rest, in distances of up to 100 from the bounds.
    assert (found["cost"].sensitivity, found["cost"].noise) == ("300", "Laplace, scale 150")
    assert (found["n"].sensitivity, found["n"].noise) == ("3", "Laplace, scale 1.5")  # a count is told in rows
    assert 7 < found["n"].half_width < 9
    assert [line.cost for line in found.lines] == ["epsilon 2 with cost", "epsilon 2 with n", "epsilon 1"]
    assert found["cost"].within.startswith("at most ")
    assert found["half"].half_width is None
    assert found["half"].within.endswith("ranks")
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        found["costs"]


def test_the_error_of_a_mean_is_a_formula_until_somebody_says_how_many_rows(tmp_path):
    plain = opened(tmp_path, SOME, columns=COLUMNS).table("visits")
    assert plain.agg(cost=dp.mean("cost")).preview(epsilon=1)["cost"].within.endswith("/ n")
    sized = opened(tmp_path, SOME, columns=COLUMNS, rows=10_000).table("visits").agg(cost=dp.mean("cost"))
    declared, supposed = (
        sized.preview(epsilon=1)["cost"],
        plain.agg(cost=dp.mean("cost")).preview(epsilon=1, rows=10_000),
    )
    assert declared.half_width == supposed["cost"].half_width
    assert sized.preview(epsilon=1, rows=100)["cost"].half_width > declared.half_width


def test_what_would_remain_is_said_for_every_limit_and_so_is_a_refusal(tmp_path):
    session = opened(tmp_path, SOME, columns=COLUMNS, unit=row(), budget=dp.Budget(epsilon=2))
    curator = curator_of(session)
    bob = curator.session(curator.grant("bob", "visits", budget=dp.Budget(epsilon=1))).table("visits")
    enough, too_much = bob.count().preview(epsilon=0.5), bob.count().preview(epsilon=1.5)
    assert len(enough.remaining) == 2
    assert all("would remain" in line for line in enough.remaining)
    assert sum("too little left" in line for line in too_much.remaining) == 1


def test_notes_say_what_is_selected_and_bought(tmp_path):
    table = opened(tmp_path, SOME, columns=COLUMNS, unit=person("id", max_rows=4)).table("visits")
    selected = table.group_by("city").agg(n=dp.count()).preview(epsilon=1, delta=1e-6)
    assert any("private selection (delta 5e-07)" in note for note in selected.notes)
    bought = table.count().preview(epsilon=1, max_rows="auto")
    assert any("spent on choosing max_rows" in note for note in bought.notes)


def test_a_preview_prints_as_text_html_rich_and_json(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1)
    assert "95% half-width" in str(found)
    html = found._repr_html_()
    assert html.startswith('<div class="discreet-answer"><style>')  # as answers are
    assert html.count("<tr>") == 4
    assert found.__rich__().row_count == 3
    assert json.loads(json.dumps(found.record()))["columns"][0]["column"] == "n"


def test_errors_are_drawn_against_the_price(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1, rows=500)
    figure = found.plot(tmp_path / "errors.svg")
    assert [panel.get_title("left") for panel in figure.axes] == ["n", "cost", "half"]
    halves = figure.axes[0].lines[0].get_ydata()
    assert list(halves) == sorted(halves, reverse=True)
    assert (tmp_path / "errors.svg").stat().st_size > 1000


def plain(statement):
    """The statement without its comments."""
    return "\n".join(line for line in statement.splitlines() if not line.startswith("--"))


def asks(table):
    """Questions of every shape."""
    yield ask(table), {"epsilon": 1}
    yield table.group_by("city").agg(n=dp.count(), half=dp.median("cost")), {"epsilon": 1, "delta": 1e-6}
    yield table.agg(h=dp.histogram("cost", edges=[0, 50, 100])), {"rho": 1}
    yield table.count(), {"epsilon": 1, "max_rows": "auto"}
    yield table.join(table, columns={"other": "cost"}).agg(s=dp.sum("other")), {"epsilon": 1}


def test_a_preview_shows_no_sql_unless_asked(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1)
    assert found.sql == ()
    assert "SELECT" not in str(found)


def test_the_sql_is_the_same_whatever_the_rows_and_their_types_are(tmp_path):
    odd = {"id": ["9", None], "ward": ["B", None], "cost": [1.5, None], "city": [None, "Rom"]}
    shown = []
    for data in (SOME, OTHERS, odd):
        table = opened(tmp_path, data, columns=COLUMNS).table("visits")
        shown.append([report.preview(**price, sql=True).sql for report, price in asks(table)])
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize("bound", ["query", "table"])
def test_the_sql_has_neither_the_secret_nor_the_place_of_the_source(tmp_path, bound):
    unit = person("id", max_rows=2, bound=bound)
    session = opened(tmp_path, SOME, columns=COLUMNS, unit=unit)
    secret = curator_of(session).ledger.secret("order")
    # Small ones may stand in a statement by chance.
    values = {str(each) for numbers in multipliers(secret) for each in numbers if each > 10**6}
    for report, price in asks(session.table("visits")):
        if bound == "table" and "max_rows" in price:
            continue
        text = "\n".join(report.preview(**price, sql=True).sql)
        assert not values & set(re.findall("[0-9]+", text))
        assert ("<the vault's secret order>" in text) == ('"~order"' in text)
        assert str(tmp_path) not in text
        assert "parquet" not in text


def test_the_sql_that_is_shown_is_what_answers(tmp_path):
    session = opened(tmp_path, SOME, columns=COLUMNS, unit=person("id", max_rows=2))
    for report, price in asks(session.table("visits")):
        asked = report.asked(**price)
        programme = Programme(asked)
        with engine(asked) as runner:
            rows = rows_sql(Scan("visits"), runner.relations, asked.unit, DUCKDB)
            runner.engine.run(f'CREATE OR REPLACE TEMP TABLE "visits" AS {rows}')
            shown = report.preview(**price, sql=True).sql
            found = [runner.engine.rows(plain(each)) for each in shown if 'FROM "visits"' in each]
            if "max_rows" in price:
                assert dict(found[0]) == doors.opened(runner.rows_by_person(report.query.plan, 2))
                continue
            request = programme.steps[0].request(programme.start)
            assert sorted(found[0]) == sorted(doors.opened(runner.tallies(request.query, request.unit)))
            assert all(found) or asked.selection is not None


@pytest.mark.parametrize("home", [name for name in registry if name != EMBEDDED])
def test_the_sql_is_that_of_the_engine_that_holds_the_tables(tmp_path, monkeypatch, home):
    table = opened(tmp_path, SOME, columns=COLUMNS).table("visits")
    plain_sql = [report.preview(**price, sql=True).sql for report, price in asks(table)]
    monkeypatch.setattr("discreet.ask.engine_sql.engine_of", lambda _registered: home)
    for (report, price), embedded in zip(asks(table), plain_sql, strict=True):
        found = report.preview(**price, sql=True).sql
        assert len(found) == len(embedded)
        assert "ENUM" not in "".join(found)
        assert found != embedded


def test_the_sql_of_a_row_unit_and_of_a_kept_table_is_shown_too(tmp_path):
    rows = opened(tmp_path, SOME, columns=COLUMNS, unit=row()).table("visits")
    assert "~order" not in "".join(ask(rows).preview(epsilon=1, sql=True).sql)
    kept = opened(tmp_path, SOME, columns=COLUMNS, unit=person("id", max_rows=2, bound="table")).table("visits")
    first, *others = ask(kept).preview(epsilon=1, sql=True).sql
    assert first.startswith('-- "kept visits": the rows of visits that are kept')
    assert all('FROM "kept visits"' in each or 'FROM "values of half"' in each for each in others)


def test_the_sql_stands_below_the_table_however_it_is_printed(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1, sql=True)
    assert found.sql[0] in str(found)
    assert "<pre>-- the sums of every group" in found._repr_html_()
    assert json.loads(json.dumps(found.record()))["sql"] == list(found.sql)
    console = Console(width=200, file=io.StringIO())
    console.print(found)
    assert "the vault's secret order" in console.file.getvalue()


def test_the_stability_is_said_in_words(tmp_path):
    unit = person("id", max_rows=20, max_groups=3)
    table = opened(tmp_path, SOME, columns=COLUMNS, unit=unit).table("visits")
    assert table.count().preview(epsilon=1).stability == ("one person changes at most 20 rows",)
    found = ask(table).preview(epsilon=1)
    assert found.stability == ("one person changes at most 20 rows, in at most 3 groups",)
    assert found.stability[0] in str(found)
    assert found.record()["stability"] == [*found.stability]
    wards = public("wards", {"ward": ["A", "A"], "floor": [1, 2]})
    assert table.join(wards, on="ward").count().preview(epsilon=1).stability == (
        "one person changes at most 20 rows",
        "joined with wards: at most 2 rows for each, and people are bounded after it",
    )
    single = opened(tmp_path, SOME, columns=COLUMNS, unit=row(relation="replace")).table("visits")
    assert single.count().preview(epsilon=1).stability == ("one row replaced by another changes at most 2 rows",)
    assert opened(tmp_path, SOME, columns=COLUMNS, unit=row()).table("visits").join(wards, on="ward").count().preview(
        epsilon=1
    ).stability == ("one row changes at most 2 rows", "joined with wards: at most 2 rows for each")


def test_an_open_session_of_a_grant_that_ended_sees_nothing_any_more(tmp_path):
    session = opened(tmp_path, SOME, columns=COLUMNS)
    table = session.table("visits")
    report = table.group_by("ward").agg(n=dp.count())
    asked = report.asked(epsilon=1)
    curator_of(session).revoke("alice")
    looks = (
        lambda: report.preview(epsilon=1),
        lambda: preview(asked),
        lambda: report.for_error(n=10),
        lambda: table.columns,
        lambda: table.preview_synthesize(epsilon=1),
        lambda: session.table("visits"),
        lambda: session.preview_sql("SELECT COUNT(*) FROM visits", 1),
        lambda: session.remaining(),
    )
    for look in looks:
        with pytest.raises(AccessRefused, match="revoked"):
            look()


def test_a_preview_of_what_was_answered_says_that_it_is_free_and_of_anything_else_does_not(tmp_path):
    table = opened(tmp_path, SOME, columns=COLUMNS).table("visits")
    asked = table.group_by("ward").agg(n=dp.count())
    asked.release(epsilon=1)
    assert asked.preview(epsilon=1).answered
    assert not asked.preview(epsilon=2).answered
    assert not table.agg(n=dp.count()).preview(epsilon=1).answered
