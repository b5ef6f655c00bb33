"""Questions about public tables alone: every engine returns what DuckDB makes of the text itself, on the same rows."""

from decimal import Decimal

import duckdb
import pytest

import discreet as dp
from discreet.plan.dimension import Dimension
from discreet.plan.from_sql import outer_select
from discreet.plan.nodes import public
from discreet.plan.sql.parse import parsed
from discreet.plan.sql.public_select import read_rows, reader_of, selected
from discreet.plan.to_sql.scalar import Relation

PARTS = [(1, "A", "10.25", "2020-01-05"), (2, "B", "7.50", None), (3, "A", None, "2021-02-03"), (4, None, "7.50", None)]
OFFERS = [(1, 7, 3), (1, 8, 5), (2, 7, 9), (3, 9, 1), (None, 9, 2), (3, None, 4)]
SHOPS = {"shop": [7, 8, 9, 10], "town": ["Bern", "Basel", "Bern", "Genf"]}
QUESTIONS = [
    "SELECT COUNT(*) AS n, SUM(price) AS total, MIN(price) AS least, MAX(day) AS last FROM part",
    "SELECT kind, COUNT(*) AS n, AVG(price) AS mean FROM part GROUP BY kind ORDER BY n DESC, kind",
    "SELECT p.id, s.town, o.many FROM part p, offer o, shop s WHERE p.id = o.part AND o.shop = s.shop ORDER BY p.id, 3",
    (
        "SELECT town, SUM(many * price) AS worth FROM offer JOIN part ON part = id JOIN shop USING (shop) "
        "GROUP BY town ORDER BY 1"
    ),
    "SELECT COUNT(DISTINCT town) AS n FROM shop WHERE town LIKE 'B%'",
    (
        "SELECT kind, SUM(price) AS s FROM part GROUP BY kind HAVING SUM(price) > (SELECT AVG(price) FROM "
        "part) ORDER BY kind"
    ),
    "SELECT id FROM part WHERE id IN (SELECT part FROM offer WHERE many > 2) ORDER BY id",
    "SELECT id FROM part WHERE id NOT IN (SELECT part FROM offer) ORDER BY id",
    "SELECT id FROM part WHERE id NOT IN (SELECT part FROM offer WHERE part IS NOT NULL) ORDER BY id",
    "SELECT id FROM part WHERE id NOT IN (SELECT part FROM offer WHERE many > 99) ORDER BY id",
    "SELECT id FROM part p WHERE EXISTS (SELECT * FROM offer o WHERE o.part = p.id AND o.many > 3) ORDER BY id",
    "SELECT id FROM part p WHERE NOT EXISTS (SELECT * FROM offer WHERE part = id) OR price < 8 ORDER BY id",
    "SELECT COUNT(*) AS n FROM offer WHERE NOT (part IN (SELECT id FROM part WHERE kind = 'A'))",
    (
        "SELECT id, price * 2 + 1 AS x, CASE WHEN kind = 'A' THEN 1 ELSE 0 END AS a FROM part WHERE price > "
        "7.5 OR price IS NULL ORDER BY id"
    ),
    (
        "WITH best(part, least) AS (SELECT part, MIN(many) FROM offer GROUP BY part) "
        "SELECT o.shop, b.least FROM offer o JOIN best b ON o.part = b.part WHERE o.many = b.least ORDER BY o.shop"
    ),
    "SELECT COUNT(*) FILTER (WHERE kind = 'A') AS n, COUNT(price) AS m FROM part WHERE 1 = 1",
    "SELECT DISTINCT price FROM part ORDER BY price DESC",
    "SELECT x.n FROM (SELECT kind, COUNT(*) AS n FROM part GROUP BY kind) AS x WHERE x.n > 1",
    "SELECT COUNT(*) AS n, SUM(price) AS s FROM part WHERE kind = 'A' AND price > 1000",
    "SELECT EXTRACT(YEAR FROM day) AS year, COUNT(*) AS n FROM part WHERE day IS NOT NULL GROUP BY year ORDER BY year",
]


@pytest.fixture(scope="module")
def plain():
    with duckdb.connect() as engine:
        engine.execute("CREATE TABLE part (id INTEGER, kind VARCHAR, price DECIMAL(9,2), day DATE)")
        engine.executemany("INSERT INTO part VALUES (?, ?, ?, ?)", PARTS)
        engine.execute("CREATE TABLE offer (part INTEGER, shop INTEGER, many INTEGER)")
        engine.executemany("INSERT INTO offer VALUES (?, ?, ?)", OFFERS)
        engine.execute("CREATE TABLE shop (shop INTEGER, town VARCHAR)")
        engine.executemany("INSERT INTO shop VALUES (?, ?)", list(zip(*SHOPS.values(), strict=True)))
        yield engine


def dimension(name, columns, types, key, rows, subject):
    found = Dimension(name, tuple(column.named(title) for title, column in columns.items()), (), ((key, 1),))
    source = subject.relation([*columns], [*types], [list(row) for row in rows])
    physical = dict(zip(columns, types, strict=True))
    return found, Relation(dp.Table(name, dp.row(), found.columns), physical, source, is_public=True)


def tables(subject, text):
    """Two registered tables of an engine, and one that stands in the question."""
    day = dp.date("2020-01-01", "2025-01-01")
    columns = {"id": dp.between(1, 9), "kind": dp.one_of("A", "B"), "price": dp.between(0, 2000, step=0.25), "day": day}
    part, parts = dimension("part", columns, ("INTEGER", "VARCHAR", "DECIMAL(9,2)", "DATE"), ("id",), PARTS, subject)
    columns = {"part": dp.between(1, 9), "shop": dp.between(1, 99), "many": dp.between(0, 99)}
    offer, offers = dimension("offer", columns, ("INTEGER",) * 3, ("part", "shop"), OFFERS, subject)
    source, _, tree = parsed(text)
    known = {"part": part, "offer": offer, "shop": public("shop", SHOPS)}
    return outer_select(source, tree), reader_of(source, known, {"part": parts, "offer": offers}, subject.dialect)


def asked(subject, text):
    tree, found = tables(subject, text)
    made = selected(found, tree, None, outermost=True)
    names = dict.fromkeys([inner for _, inner, _ in made.columns] + [each[0] for each in made.order])
    rows = read_rows(made, subject.engine.rows(made.sql), {name: at for at, name in enumerate(names)})
    return [title for title, _, _ in made.columns], rows


@pytest.mark.parametrize("text", QUESTIONS)
def test_an_answer_is_what_the_text_says(subject, plain, text):
    names, found = asked(subject, text)
    wanted = plain.sql(text)
    assert names == wanted.columns
    rows = [tuple(float(value) if isinstance(value, Decimal) else value for value in row) for row in wanted.fetchall()]
    read = [tuple(pytest.approx(float(v), abs=1e-5) if _is_number(v) else v for v in row) for row in found]
    assert (read if "ORDER BY" in text else sorted(read, key=str)) == (
        rows if "ORDER BY" in text else sorted(rows, key=str)
    )


def _is_number(value):
    return value is not None and not isinstance(value, bool | str) and hasattr(value, "numerator")


def test_names_and_constants_of_the_analyst_are_written_as_such(subject):
    hostile = 'x" FROM part; DROP TABLE part; --'
    quoted = hostile.replace('"', '""')
    text = f'SELECT s."{quoted}" AS "{quoted}" FROM (SELECT id AS "{quoted}" FROM part WHERE kind = \'A\') AS s'
    names, rows = asked(subject, text)
    assert names == [hostile]
    assert sorted(int(row[0]) for row in rows) == [1, 3]
    assert asked(subject, "SELECT COUNT(*) AS n FROM shop WHERE town LIKE 'x''; DROP%'")[1] == [(0,)]
