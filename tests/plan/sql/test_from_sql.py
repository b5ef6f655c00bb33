"""From SQL: names, aliases and labels; what is shared, what is renamed, and nothing read over."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import Refusal
from discreet.plan.aggregates import Count, Mean
from discreet.plan.expressions import Name
from discreet.plan.nodes import Derive, Filter, Project, Scan
from discreet.plan.sql.formula import Measured
from discreet.plan.sql.grouping import SqlStatement
from discreet.plan.sql.refusals import SqlRefused
from tests.plan.sql.refusals import QUESTIONS
from tests.plan.sql.tables import read


@pytest.mark.parametrize(
    ("item", "name"),
    [
        ("COUNT(*)", "count"),
        ("AVG(cost)", "avg_cost"),
        ("COUNT(DISTINCT id)", "count_distinct_id"),
        ("SUM(cost) / COUNT(*)", "sum_cost_count"),
        ("COUNT(*) FILTER (WHERE urgent)", "count_filter_where_urgent"),
        ("AVG(cost) AS Mean", "Mean"),
        ('AVG(cost) AS "the mean, so far"', "the mean, so far"),
        ("AVG(cost) m", "m"),
    ],
)
def test_a_column_is_called_by_its_alias_else_by_its_sql(item, name):
    assert [title for title, _ in read(f"SELECT {item} FROM visits").columns] == [name]


def test_columns_without_aliases_get_names_of_their_own():
    found = read("SELECT 2 * COUNT(*), COUNT(*) * 2, AVG(age) FROM visits")
    assert [title for title, _ in found.columns] == ["2_count", "count_2", "avg_age"]
    same = read("SELECT COUNT(*) + 1, COUNT(*) - 1 FROM visits")
    assert [title for title, _ in same.columns] == ["count_1", "count_1_2"]


def test_equal_aggregates_are_measured_once_however_they_are_written():
    found = read("SELECT AVG(cost) AS a, avg( Cost ) + 1 AS b, AVG(visits.cost) AS c FROM visits")
    assert found.aggregates == (("a", Mean(Name("cost"))),)
    assert dict(found.columns)["c"] == Measured("a")


def test_comments_case_and_a_last_semicolon_change_nothing():
    found = read("/* who */ select COUNT(*) as n -- rows; and more\nfrom VISITS as V where v.AGE >= 18;")
    plain = read("SELECT COUNT(*) AS n FROM visits WHERE age >= 18")
    assert isinstance(found.plan, Filter)
    assert found.plan.predicate.same_as(plain.plan.predicate)
    assert found.aggregates == plain.aggregates == (("n", Count()),)


def test_a_name_in_quotes_is_meant_exactly():
    assert read('SELECT COUNT(*) FROM "visits" WHERE "age" > 3')
    for text in ('SELECT COUNT(*) FROM "Visits"', 'SELECT AVG("Age") FROM visits'):
        with pytest.raises(SqlRefused, match="of that name"):
            read(text)


def test_a_group_by_name_is_the_column_before_it_is_an_alias():
    found = read("SELECT FLOOR(age / 10) AS age, COUNT(*) AS n FROM visits GROUP BY 1")
    assert isinstance(found.plan, Derive)
    assert found.plan.name == "age_2"
    assert (found.keys.names, found.titles) == (("age_2",), ("age",))
    with pytest.raises(SqlRefused, match="neither grouped nor aggregated"):
        read("SELECT ROUND(cost, -2) AS age, COUNT(*) AS n FROM visits GROUP BY age ORDER BY cost")


def test_a_subquery_chooses_and_renames_columns():
    found = read("SELECT AVG(b) AS m FROM (SELECT age + 1 AS b, ward AS c FROM visits WHERE urgent) AS t")
    project = found.plan
    assert isinstance(project, Project)
    assert project.columns == (("b", "b"), ("c", "ward"))
    assert isinstance(project.source, Derive)
    assert isinstance(project.source.source.source, Scan)


def test_a_star_inside_keeps_all_columns_and_adds_to_them():
    found = read("SELECT AVG(twice) AS m FROM (SELECT *, age * 2 AS twice FROM visits) AS t WHERE urgent")
    assert isinstance(found.plan.source, Derive)


def test_the_person_is_carried_where_it_is_chosen():
    assert read("SELECT COUNT(DISTINCT who) FROM (SELECT id AS who, age FROM visits) AS t")
    assert read("SELECT COUNT(DISTINCT id) FROM (SELECT * FROM visits) AS t")
    with pytest.raises(SqlRefused, match="only people are counted"):
        read("SELECT COUNT(DISTINCT id) FROM (SELECT age FROM visits) AS t")


def test_rows_have_no_people_to_count():
    with pytest.raises(SqlRefused, match="only people are counted"):
        read("SELECT COUNT(DISTINCT x) FROM sales")


@pytest.mark.parametrize(
    ("clause", "why"),
    [
        ("OPTIONS", "its options in brackets"),
        ("OPTIONS(epsilon = 1, epsilon = 2)", "each once"),
        ("OPTIONS(epsilon = 1 delta = 2)", "separated by commas"),
        ("OPTIONS(privacy_unit_column = 3)", "the name of a column is expected"),
        ("OPTIONS(sampling = 3)", "true or false is expected"),
    ],
)
def test_a_clause_that_is_not_whole_is_refused(clause, why):
    with pytest.raises(SqlRefused, match=why):
        read(f"SELECT WITH DIFFERENTIAL_PRIVACY {clause} COUNT(*) FROM visits")


def test_the_clause_belongs_to_the_outermost_select():
    with pytest.raises(SqlRefused, match="outermost"):
        read("SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) age FROM visits) AS t")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ROUND(COUNT(*), contribution_bounds_per_row => (0, 1)) FROM visits",
        "SELECT SUM(age, contribution_bounds_per_row => (5, 1)) FROM visits",
        "SELECT SUM(age, contribution_bounds_per_row => 5) FROM visits",
    ],
)
def test_bounds_are_two_numbers_in_an_aggregate(text):
    with pytest.raises(SqlRefused):
        read(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM visits WHERE city = 'x'; DROP TABLE visits; --'",
        "SELECT COUNT(*) FROM visits WHERE city = 'x' UNION SELECT password FROM users",
        "SELECT COUNT(*) FROM visits WHERE 1 = 1 OR age IN (SELECT age FROM stays)",
        "SELECT COUNT(*) FROM read_text('/etc/passwd')",
        "SELECT COUNT(*) FROM 'visits.csv'",
        "SELECT COUNT(*) FROM visits WHERE getenv('HOME') = 'x'",
        "SELECT COUNT(*) FROM information_schema.tables",
        "SELECT COUNT(*) FROM pg_catalog.pg_tables",
        "ATTACH 'x.db'; SELECT COUNT(*) FROM visits",
        "COPY visits TO 'x.csv'",
        "PRAGMA database_list",
        "EXPLAIN SELECT COUNT(*) FROM visits",
        "SET threads = 1",
        "WITH x AS (DELETE FROM visits RETURNING *) SELECT COUNT(*) FROM x",
        "SELECT COUNT(*) FROM visits WHERE city = E'\\x27' OR TRUE",
        "SELECT COUNT(*) FROM visits WHERE city = $$x$$",
        "SELECT pg_sleep(10), COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits; ; SELECT 1",
    ],
)
def test_an_injection_is_refused(text):
    with pytest.raises(SqlRefused):
        read(text)


WORDS = [text.split() for texts in QUESTIONS.values() for text in texts]
SIGNS = ("(", ")", ",", ";", "*", ".", "=", "||", "::", "[", "]", "NULL", "CASE", "END", "AS", "WITHIN", "OVER")
EVERY = sorted({word for text in WORDS for word in text} | set(SIGNS))


def outcome(text):
    """What reading a text ends in: a statement, or a refusal."""
    try:
        return read(text)
    except Refusal as refusal:
        return refusal


@settings(max_examples=400)
@given(st.sampled_from(WORDS), st.data())
def test_whatever_is_written_is_read_or_refused_in_our_words(words, data):
    text = list(words)
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        text[place : place + data.draw(st.integers(0, 1))] = data.draw(st.lists(st.sampled_from(EVERY), max_size=2))
    found = outcome(" ".join(text))
    assert isinstance(found, SqlStatement | SqlRefused)
    assert isinstance(found, SqlStatement) or "^" in str(found)


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("SELECT * EXCEPT (age) FROM visits", "stands for all columns"),
        ("SELECT * FROM visits JOIN stays USING (id)", "two columns would be called 'ward'"),
        ("SELECT age, cost AS age FROM visits", "two columns would be called 'age'"),
        ("SELECT x.* FROM visits AS v", "no table of that name"),
        ("SELECT COUNT(*) AS age FROM visits", "an aggregate of aggregates"),
        ("SELECT age FROM visits WHERE COUNT(*) > 3", "an aggregate of aggregates"),
    ],
)
def test_a_subquery_with_other_columns_than_it_says_is_refused(inner, why):
    with pytest.raises(SqlRefused, match=why):
        read(f"SELECT COUNT(*) FROM ({inner}) AS t")


def test_a_star_of_one_table_is_of_that_table():
    found = read("SELECT SUM(t.nights) AS n FROM (SELECT s.*, v.age FROM visits v JOIN stays s USING (id)) AS t")
    assert found.plan.columns == (("ward", "ward_2"), ("nights", "nights"), ("age", "age"))
    everything = read("SELECT COUNT(age) AS n FROM (SELECT v.* FROM visits AS v) AS t")
    assert isinstance(everything.plan, Scan)


@pytest.mark.parametrize(
    "clause",
    [
        "SELECT ward, AVG(cost) IS NULL FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) = 3 FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) > 3 AND COUNT(*) < 9 FROM visits GROUP BY ward",
        "SELECT ward, AVG(cost) + ward FROM visits GROUP BY ward",
        "SELECT YEAR(day) AS y, COUNT(*) * YEAR(day) FROM visits GROUP BY y",
        "SELECT ward, COUNT(*) + 'x' FROM visits GROUP BY ward",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 'x'",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) > 3 AND ward > 3",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) IN (1, 'x')",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*) AND TRUE",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING NOT COUNT(*)",
        "SELECT day, COUNT(*) FROM visits GROUP BY day HAVING COUNT(*) > 3 AND day > '2020-01-01'",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY -ward",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY ROUND(ward)",
        "SELECT COUNT(*) AS n, COUNT(*) + 1 AS n_low FROM visits",
        "SELECT ward AS x, urgent AS x, COUNT(*) FROM visits GROUP BY 1, 2",
        "SELECT ward AS n_high, COUNT(*) AS n FROM visits GROUP BY ward",
    ],
)
def test_what_could_not_be_made_of_an_answer_is_refused_before_it_is_paid(clause):
    with pytest.raises(SqlRefused):
        read(clause)


def test_keys_and_values_are_compared_with_their_own_kind():
    text = "SELECT day, COUNT(*) AS n FROM visits GROUP BY day HAVING n > 3 AND day > DATE '2020-01-01' AND NOT n = 9"
    assert read(text).having is not None
    assert read("SELECT urgent, COUNT(*) AS n FROM visits GROUP BY urgent HAVING urgent AND n > 3").having is not None
