"""Preview: what an answer would cost and how far it would be off, without a look at any row."""

import json

import pytest

import discreet as dp
from discreet.core.errors import UnknownName
from discreet.core.schema import between, one_of, text
from discreet.core.unit import person, row
from tests.curator.questions import curator_of, head, opened

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
    monkeypatch.setattr("discreet.curator.runner.runner", None)
    ask(session.table("visits")).preview(epsilon=1)
    assert head(session) == before


def test_every_column_has_mechanism_sensitivity_noise_and_cost(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=3, rows=1000)
    assert [line.column for line in found.lines] == ["n", "cost", "half"]
    assert [line.mechanism for line in found.lines] == ["count", "mean", "quantile"]
    assert (found["n"].sensitivity, found["n"].noise, found["n"].half_width) == ("3", "Laplace, scale 3", 9)
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
    assert any("buys max_rows" in note for note in bought.notes)


def test_a_preview_prints_as_text_html_rich_and_json(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1)
    assert "95% half-width" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.__rich__().row_count == 3
    assert json.loads(json.dumps(found.record()))["columns"][0]["column"] == "n"


def test_errors_are_drawn_against_the_price(tmp_path):
    found = ask(opened(tmp_path, SOME, columns=COLUMNS).table("visits")).preview(epsilon=1, rows=500)
    figure = found.plot(tmp_path / "errors.svg")
    assert [panel.get_title() for panel in figure.axes] == ["n", "cost", "half"]
    halves = figure.axes[0].lines[0].get_ydata()
    assert list(halves) == sorted(halves, reverse=True)
    assert (tmp_path / "errors.svg").stat().st_size > 1000
