"""SQL: the same questions as in Python, replayed for free; what a SELECT does to an answer; prices and options."""

import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.ask.sql import spoken
from discreet.core.errors import BadParameter
from discreet.engines.duckdb.engine import DuckDBEngine
from discreet.ledger.refusals import Conflict
from discreet.plan.sql.refusals import SqlRefused
from tests.curator.question_pairs import PAIRS, floors
from tests.curator.questions import ROWS, curator_of, head
from tests.curator.spoken import VISITS, session_of

MUCH = 10**12


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return session_of(tmp_path_factory.mktemp("sql"))


def asked(session, text, **others):
    return spoken(session.desk, text, 1, None, None, None, **others).report.asked(epsilon=1)


def exactly(session, text, epsilon=MUCH, **others):
    """The rows of an answer whose noise is as good as none."""
    return [
        {name: value for name, value in row.items() if not name.endswith(("_low", "_high"))}
        for row in session.sql(text, epsilon, **others)
    ]


def test_there_are_forty_pairs():
    assert len(PAIRS) >= 40
    assert len({text for text, _ in PAIRS}) == len(PAIRS)


@pytest.mark.parametrize(("text", "python"), PAIRS, ids=[text[:60] for text, _ in PAIRS])
def test_a_question_in_sql_is_the_same_question_in_python(session, text, python):
    report = python(session, session.table("visits"))
    assert asked(session, text).question == report.asked(epsilon=1).question


def test_a_question_asked_in_the_other_language_is_replayed_for_free(session):
    visits = session.table("visits")
    first = visits.where(visits.age >= 30).group_by("ward").agg(n=dp.count()).release(epsilon=1)
    before = head(session)
    again = session.sql("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 30 GROUP BY ward", epsilon=1)
    assert again.receipt["replayed"]
    assert list(again) == list(first)
    assert head(session) == before
    fresh = session.sql("SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 30 GROUP BY ward", epsilon=1, fresh=True)
    assert not fresh.receipt["replayed"]
    assert head(session) != before


def test_what_is_only_arranged_otherwise_is_replayed_too(session):
    first = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", rho=0.5)
    for text in (
        "SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 2 LIMIT 1",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)",
    ):
        assert session.sql(text, rho=0.5).receipt == {**first.receipt, "replayed": True}


def test_answers_are_right(session):
    assert exactly(session, "SELECT COUNT(*), COUNT(DISTINCT id), COUNT(age) FROM visits") == [
        {"count": 10, "count_distinct_id": 6, "count_age": 9}
    ]
    assert exactly(session, "SELECT YEAR(day) AS y, COUNT(*) AS n FROM visits GROUP BY y") == [
        {"y": 2020, "n": 4},
        {"y": 2021, "n": 5},
    ]
    assert exactly(
        session, "SELECT SUM(CASE WHEN urgent THEN NULL WHEN age > 40 THEN 1 ELSE 2 END) AS x FROM visits"
    ) == [{"x": 8}]


def test_rows_of_the_same_person_decide_and_join_as_sql_says(session):
    wards = [ward if ward in ("A", "B", "C") else None for ward in ROWS["ward"]]
    visits = list(zip(ROWS["id"], wards, ROWS["age"], strict=True))
    stays = [(1, "A", 1, 41), (2, "B", 2, 7), (2, "C", 30, 8), (7, "A", 4, 70)]
    mine = {who: [stay for stay in stays if stay[0] == who] for who, _, _ in visits}

    def count(condition):
        return sum(bool(condition(who, ward, age)) for who, ward, age in visits)

    for where, wanted in {
        "EXISTS (SELECT 1 FROM stays s WHERE s.id = v.id)": count(lambda who, *_: mine[who]),
        "NOT EXISTS (SELECT 1 FROM stays s WHERE s.id = v.id)": count(lambda who, *_: not mine[who]),
        "EXISTS (SELECT 1 FROM stays s WHERE s.id = v.id AND s.ward = v.ward)": count(
            lambda who, ward, _: any(stay[1] == ward for stay in mine[who])
        ),
        "EXISTS (SELECT 1 FROM stays s WHERE s.id = v.id AND s.age > v.age)": count(
            lambda who, _, age: age is not None and any(age < stay[3] for stay in mine[who])
        ),
        "ward NOT IN (SELECT s.ward FROM stays s WHERE s.id = v.id)": count(
            lambda who, ward, _: not mine[who] or (ward is not None and all(stay[1] != ward for stay in mine[who]))
        ),
        "id NOT IN (SELECT id FROM stays)": count(lambda who, *_: not mine[who]),
    }.items():
        (found,) = exactly(session, f"SELECT COUNT(*) AS n FROM visits v WHERE {where}")
        assert found["n"] == wanted, where
    text = "SELECT COUNT(*) AS n, COUNT(nights) AS m FROM visits v LEFT JOIN stays s ON v.id = s.id"
    (found,) = exactly(session, text)
    # Of the second person's two visits and two stays three pairs count.
    kept = [max(1, len(mine[who])) for who, *_ in visits]
    assert (found["n"], found["m"]) == (sum(kept) - 1, sum(len(mine[who]) for who, *_ in visits) - 1)


def test_formulas_are_computed_from_the_answer_with_their_intervals(session):
    visits = session.table("visits")
    plain = visits.group_by("ward").agg(total=dp.sum("cost"), n=dp.count()).release(epsilon=7)
    text = (
        "SELECT ward, SUM(cost) AS total, COUNT(*) AS n, SUM(cost) / COUNT(*) AS per, SUM(cost) - 2 * COUNT(*) AS d, "
    )
    text += "ROUND(SUM(cost) * 3, -1) AS r, ABS(-COUNT(*)) AS a, COUNT(*) > 3 AS many FROM visits GROUP BY ward"
    found = session.sql(text, epsilon=7)
    assert found.receipt["replayed"]
    for name, wanted in {
        "per": plain["total"] / plain["n"],
        "d": plain["total"] - 2 * plain["n"],
        "r": round(plain["total"] * 3, -1),
        "a": abs(-plain["n"]),
        "many": plain["n"] > 3,
    }.items():
        assert found.column(name).cells == wanted.columns[0].cells


def test_an_aggregate_that_is_asked_twice_is_measured_once(session):
    found = asked(session, "SELECT COUNT(*) AS a, COUNT(*) AS b, 2 * COUNT(*) AS c FROM visits")
    assert [part.name for part in found.measures] == ["a"]
    answer = session.sql("SELECT COUNT(*) AS a, COUNT(*) AS b, COUNT(*) - COUNT(*) AS c FROM visits", epsilon=1)
    assert answer.value("a") == answer.value("b")
    assert answer.interval("c") == (0, 0)


def test_having_on_a_hidden_aggregate_is_measured_and_paid_but_not_shown(session):
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING SUM(age) > 200 AND NOT AVG(age) IS NULL"
    assert [part.name for part in asked(session, text).measures] == ["n", "sum_age", "avg_age"]
    assert exactly(session, text) == [{"ward": "A", "n": 5}]


@pytest.mark.parametrize(
    ("clause", "wards"),
    [
        ("ORDER BY n DESC", ["A", "B", "C"]),
        ("ORDER BY n", ["C", "B", "A"]),
        ("ORDER BY ward DESC", ["C", "B", "A"]),
        ("ORDER BY 2 DESC, 1", ["A", "B", "C"]),
        ("ORDER BY -COUNT(*) LIMIT 1", ["A"]),
        ("ORDER BY ward LIMIT 1 OFFSET 1", ["B"]),
        ("ORDER BY SUM(age) / COUNT(*) NULLS LAST LIMIT 0", []),
        ("HAVING COUNT(*) BETWEEN 1 AND 4", ["B"]),
        ("HAVING COUNT(*) IN (0, 5) AND ward <> 'C'", ["A"]),
        ("HAVING n >= 3 OR ward = 'C' ORDER BY ward DESC", ["C", "B", "A"]),
    ],
)
def test_rows_are_ordered_limited_and_filtered_by_noisy_values(session, clause, wards):
    text = f"SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward {clause}"
    assert [row["ward"] for row in session.sql(text, MUCH)] == wards


def test_nulls_are_smallest_unless_it_is_said_otherwise(session):
    rollup = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward) ORDER BY ward"
    for clause, wards in {
        "": [None, "A", "B", "C"],
        " DESC": ["C", "B", "A", None],
        " NULLS LAST": ["A", "B", "C", None],
        " DESC NULLS FIRST": [None, "C", "B", "A"],
    }.items():
        assert [row["ward"] for row in session.sql(rollup + clause, MUCH)] == wards


def test_totals_of_a_rollup_are_those_of_its_rows(session):
    text = "SELECT ward, urgent, COUNT(*) AS n, AVG(age) AS m, COUNT(*) * 2 AS twice "
    rows = exactly(session, text + "FROM visits GROUP BY ROLLUP (ward, urgent)", 500)
    found = {(row["ward"], row["urgent"]): row for row in rows}
    assert list(found) == [
        *((ward, urgent) for ward in "ABC" for urgent in (False, True)),
        *((ward, None) for ward in "ABC"),
        (None, None),
    ]
    grouped = "WHERE ward IS NOT NULL AND urgent IS NOT NULL"
    plain = exactly(session, f"SELECT COUNT(*) AS n, AVG(age) AS m FROM visits {grouped}", 500)
    total = found[None, None]
    assert total["n"] == pytest.approx(plain[0]["n"], abs=0.5)
    assert total["n"] == pytest.approx(sum(found[key]["n"] for key in list(found)[:6]))
    assert total["twice"] == pytest.approx(2 * total["n"])
    assert total["m"] == pytest.approx(plain[0]["m"], abs=5)
    assert found["A", None]["n"] == pytest.approx(found["A", False]["n"] + found["A", True]["n"])


def test_the_interval_of_a_total_is_that_of_a_sum_of_noise(session):
    answer = session.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ROLLUP (ward)", epsilon=0.1)
    plain = session.table("visits").group_by("ward").agg(n=dp.count()).release(epsilon=0.1)
    assert answer.cell(None) == plain.total().cell()
    assert "totals are sums over the declared keys" in answer.notes[-1]


def test_a_cube_has_every_grouping_set(session):
    rows = exactly(session, "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY CUBE (ward, urgent)")
    assert len(rows) == 6 + 3 + 2 + 1
    behind = exactly(session, "SELECT ward, urgent, COUNT(*) AS n FROM visits GROUP BY urgent, ROLLUP (ward)")
    assert len(behind) == 6 + 2
    also = exactly(session, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward WITH ROLLUP")
    assert [row["ward"] for row in also] == ["A", "B", "C", None]


def test_keys_that_were_not_declared_are_given_or_selected(session):
    text = "SELECT city AS town, COUNT(*) AS n FROM visits GROUP BY city"
    given = exactly(session, text, keys={"city": ["Bern", "Rom"]})
    assert given == [{"town": "Bern", "n": 5}, {"town": "Rom", "n": 0}]
    assert exactly(session, text, keys={"town": ["Bern"]}) == given[:1]
    found = {row["town"] for row in session.sql(text, 40, delta=0.4)}
    assert {"Bern"} <= found <= {"Bern", "Zürich", "東京"}
    with pytest.raises(SqlRefused, match="selected privately") as refused:
        session.sql(text, epsilon=1)
    assert refused.value.value == "city"


def test_public_tables_are_passed_beside_the_text(session):
    text = "SELECT floor, COUNT(*) AS n FROM visits JOIN floors USING (ward) GROUP BY floor"
    assert exactly(session, text, public=[floors(session)]) == [{"floor": 1, "n": 5}, {"floor": 2, "n": 3}]
    with pytest.raises(BadParameter, match="not a public table"):
        session.sql(text, epsilon=1, public=[session.table("visits")])


def test_private_tables_are_joined_on_the_person(session):
    text = "SELECT v.ward, SUM(s.nights) AS n FROM visits v JOIN stays s USING (id) WHERE s.ward = 'C' GROUP BY v.ward"
    assert exactly(session, text) == [{"ward": "A", "n": 30}, {"ward": "B", "n": 30}, {"ward": "C", "n": 0}]
    matched = "SELECT COUNT(*) AS n FROM visits v JOIN stays s ON s.id = v.id AND v.ward = s.ward"
    assert exactly(session, matched) == [{"n": 3}]


def test_a_preview_is_free_and_that_of_the_report(session):
    before = head(session)
    found = session.preview_sql(
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS c FROM visits GROUP BY ward", epsilon=1, rows=100
    )
    report = session.table("visits").group_by("ward").agg(n=dp.count(), c=dp.mean("cost"))
    assert str(found) == str(report.preview(epsilon=1, rows=100))
    assert head(session) == before


PRICED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) COUNT(*) AS n FROM visits"


def test_bigquerys_clause_is_the_price(session):
    text = PRICED.format("epsilon = 0.5, delta = 1e-9, max_groups_contributed = 3, privacy_unit_column = id")
    question = spoken(session.desk, text, None, None, None, None)
    assert (question.epsilon, question.delta) == (dp.between(0, 1, step=0.5).step, dp.between(0, 1, step=1e-9).step)
    same = session.table("visits").agg(n=dp.count())
    assert question.report.asked(0.5, 1e-9).question == same.asked(0.5, 1e-9).question
    assert session.sql(text).receipt["key"] == same.release(0.5, 1e-9).receipt["key"]
    assert session.sql(text, epsilon=0.5).receipt["replayed"]
    rows = spoken(session.desk, PRICED.format("epsilon = 1, max_rows_contributed = 2"), None, None, None, None)
    assert rows.max_rows == 2


@pytest.mark.parametrize(
    ("options", "call", "span"),
    [
        ("epsilon = 0.5", {"epsilon": 1}, "epsilon = 0.5"),
        ("epsilon = 0.5", {"rho": 1}, "epsilon = 0.5"),
        ("delta = 1e-5", {"epsilon": 1, "delta": 1e-6}, "delta = 1e-5"),
        ("epsilon = 1, privacy_unit_column = ward", {}, "privacy_unit_column = ward"),
        ("epsilon = 1, max_rows_contributed = 4", {}, "max_rows_contributed = 4"),
        ("epsilon = 1, max_rows_contributed = 2", {"max_rows": 1}, "max_rows_contributed = 2"),
        ("epsilon = 1, max_groups_contributed = 1", {}, "max_groups_contributed = 1"),
        ("epsilon = x", {}, "x"),
        ("epsilon 1", {}, "epsilon"),
        ("colour = 1", {}, "colour"),
    ],
)
def test_options_that_contradict_the_call_or_the_unit_are_refused_where_they_stand(session, options, call, span):
    with pytest.raises(SqlRefused) as refused:
        session.sql(PRICED.format(options), **call)
    assert refused.value.value == span


def test_contribution_bounds_of_rows_become_a_clip_and_those_of_groups_clamp_totals(session):
    word, visits = "contribution_bounds_per_row", session.table("visits")
    found = asked(session, f"SELECT SUM(cost, {word} => (0, 10)) AS c, AVG(age, {word} => (-5, 20)) AS a FROM visits")
    same = visits.agg(c=dp.sum(visits.cost.clip(0, 10)), a=dp.mean(visits.age.clip(-5, 20)))
    assert found.question == same.asked(epsilon=1).question
    text = "SELECT ward, SUM(cost, contribution_bounds_per_group => (0, 10)) AS c FROM visits GROUP BY ward"
    same = visits.group_by("ward").agg(c=dp.sum("cost", per_person=(0, 10)))
    assert asked(session, text).question == same.asked(epsilon=1).question


@pytest.mark.parametrize("call", ["AVG(age, {})", "MAX(age, {})", "STDDEV(age, {})", "MEDIAN(age, {})"])
def test_only_sums_have_totals_that_are_clamped(session, call):
    bounds = "contribution_bounds_per_group => (0, 10)"
    with pytest.raises(SqlRefused, match="has no total of each person") as refused:
        session.sql(f"SELECT {call.format(bounds)} FROM visits", epsilon=1)
    assert refused.value.value == bounds


def test_nothing_is_charged_for_what_is_refused(session):
    before = head(session)
    for text in ("SELECT * FROM visits", "DROP TABLE visits", "SELECT city, COUNT(*) FROM visits GROUP BY city"):
        with pytest.raises(SqlRefused):
            session.sql(text, epsilon=1)
    assert head(session) == before
    assert curator_of(session).ledger.unsettled() == ()


def test_tables_outside_the_grant_are_as_unknown_as_those_that_do_not_exist(session):
    curator = curator_of(session)
    stays = curator.session(curator.grant("bob", "stays"))
    texts = []
    for name in ("visits", "nowhere"):
        with pytest.raises(SqlRefused) as refused:
            stays.sql(f"SELECT COUNT(*) FROM {name}", epsilon=1)
        texts.append((refused.value.why, refused.value.fix))
    assert texts[0][0] == texts[1][0]
    assert "stays" in texts[1][1]


def test_a_price_is_needed_and_one_currency(session):
    with pytest.raises(BadParameter, match="paid in epsilon or in rho"):
        session.sql("SELECT COUNT(*) FROM visits")


def test_no_text_of_the_question_reaches_an_engine(session, monkeypatch):
    run = []
    rows = DuckDBEngine.rows
    monkeypatch.setattr(DuckDBEngine, "rows", lambda self, sql, *others: run.append(sql) or rows(self, sql, *others))
    name, literal = '"x"" ; DROP TABLE visits; --"', "'''; DROP TABLE visits; --'"
    answer = session.sql(
        f"""SELECT age + 1 AS {name}, COUNT(*) AS "count; marker" /* marker */
        FROM visits AS marker WHERE city <> {literal} AND age BETWEEN 40 AND 41 -- marker
        GROUP BY 1 HAVING COUNT(*) > 0""",
        MUCH,
    )
    assert answer.keys == ('x" ; DROP TABLE visits; --',)
    assert answer.rows == ((42,),)
    assert run
    for text in run:
        assert "marker" not in text
        assert "HAVING" not in text
        assert "DROP TABLE visits" not in text.replace(literal, "").replace(name, "")


def test_an_arranged_answer_is_kept_and_explained_like_any_other(session):
    columns = "COUNT(*) AS n, SUM(cost) / COUNT(*) AS per, COUNT(*) > 3 AS many"
    answer = session.sql(f"SELECT ward, {columns} FROM visits GROUP BY ROLLUP (ward)", epsilon=2)
    again = Answer.from_json(answer.to_json())
    assert list(again) == list(answer)
    assert again.rows[-1] == (None,)
    assert "totals are sums over the declared keys" in answer.explain()


def test_a_table_that_is_named_and_not_used_is_not_charged(session):
    text = "WITH unused AS (SELECT * FROM stays) SELECT COUNT(*) AS n FROM visits"
    assert asked(session, text).question == asked(session, "SELECT COUNT(*) AS n FROM visits").question
    assert set(spoken(session.desk, text, 1, None, None, None).report.query.registered) == {"visits"}


def test_a_table_that_was_declared_anew_meanwhile_is_refused(tmp_path):
    session = session_of(tmp_path)
    question = spoken(session.desk, "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", 1, None, None, None)
    columns = {**VISITS, "ward": dp.one_of("A", "B")}
    curator_of(session).declare("visits", unit=dp.person("id", max_rows=3), columns=columns)
    with pytest.raises(Conflict, match="while the question was being asked"):
        question.release()


def test_the_unit_column_of_a_linked_table_is_refused_as_one_of_people(tmp_path):
    curator = dp.Curator(tmp_path / "linked.discreet")
    budget, columns = dp.Budget(epsilon=1), {"x": dp.between(0, 9)}
    whole = dp.person("id", max_rows=1)
    curator.register("people", {"id": [1], "x": [2]}, unit=whole, columns=columns, budget=budget, group="g")
    via = dp.person(via=dp.link("of", "people", "id"), max_rows=2)
    curator.register("stays", {"of": [1], "x": [2]}, unit=via, columns=columns, group="g")
    session = curator.session(curator.grant("alice", ["people", "stays"]))
    text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, privacy_unit_column=who) COUNT(*) FROM stays"
    with pytest.raises(dp.Refusal, match="protects people"):
        session.sql(text)
