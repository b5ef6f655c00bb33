"""Questions that are refused: what one writes, by what is wrong with it."""

from pathlib import Path

from discreet.plan.sql.refusals import SqlRefused
from tests.plan.sql.tables import read

PAGE = Path(__file__).parents[3] / "docs" / "sql.md"
BEGIN, END = "<!-- refusals: begin -->", "<!-- refusals: end -->"

QUESTIONS = {
    "Rows": [
        "SELECT * FROM visits",
        "SELECT ward, age FROM visits",
        "SELECT ward, COUNT(*) FROM visits",
        "SELECT DISTINCT ward FROM visits",
        "SELECT ward FROM visits GROUP BY ward",
        "SELECT AVG(age) OVER (PARTITION BY ward) FROM visits",
        "SELECT MAX(COUNT(*)) FROM visits GROUP BY ward",
    ],
    "Statements": [
        "DELETE FROM visits",
        "INSERT INTO visits VALUES (1)",
        "SELECT COUNT(*) FROM visits; DROP TABLE visits",
        "SELECT COUNT(*) INTO copy FROM visits",
        "SELECT COUNT(*) FROM visits FOR UPDATE",
        "SELECT /*+ PARALLEL(4) */ COUNT(*) FROM visits",
        "SELECT COUNT(*) FROM visits WHERE age = ?",
        "SELECT COUNT(*), FROM visits",
        "SELECT COUNT(*) FROM visits WHERE",
        "SELECT COUNT(*) FROM visits WHERE city = 'Bern",
        "SELECT COUNT(*)",
        "SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM stays",
    ],
    "Names": [
        "SELECT COUNT(*) FROM visit",
        "SELECT AVG(agee) FROM visits",
        "SELECT AVG(v.age) FROM visits",
        'SELECT AVG("Age") FROM visits',
        "SELECT COUNT(*) FROM read_csv('visits.csv')",
        "SELECT COUNT(*) FROM hospital.visits",
        "SELECT AVG(ward) FROM visits JOIN stays USING (id)",
        "SELECT ROUD(AVG(age)) FROM visits",
        "SELECT AVG(Age (years)) FROM files",
        "SELECT COUNT(*) FROM visits WHERE ward = B",
        "SELECT COUNT(*) FROM visits WHERE city = Bern",
        "SELECT COUNT(*) AS n, AVG(age) AS n FROM visits",
    ],
    "Aggregates": [
        "SELECT COUNT(DISTINCT city) FROM visits",
        "SELECT SUM(DISTINCT cost) FROM visits",
        "SELECT COUNT(id) FROM visits",
        'SELECT COUNT("Patient ID") FROM files',
        "SELECT MIN(ward) FROM visits",
        "SELECT MAX(day) FROM visits",
        "SELECT SUM(urgent) FROM visits",
        "SELECT SUM(1) FROM visits",
        "SELECT VAR_SAMP(age) FROM visits",
        "SELECT PERCENTILE_CONT(age) FROM visits",
        "SELECT COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits",
        "SELECT CASE WHEN COUNT(*) > 9 THEN 1 END FROM visits",
    ],
    "Groups": [
        "SELECT ward, COUNT(*) FROM visits GROUP BY 3",
        "SELECT COUNT(*) AS n FROM visits GROUP BY n",
        "SELECT city, COUNT(*) FROM visits GROUP BY ROLLUP (city)",
        "SELECT ward, MEDIAN(age) FROM visits GROUP BY ROLLUP (ward)",
        "SELECT ward, COUNT(DISTINCT id) FROM visits GROUP BY ROLLUP (ward)",
        "SELECT ward, COUNT(*) FROM visits GROUP BY GROUPING SETS ((ward), ())",
        "SELECT DATE_TRUNC('month', day), COUNT(*) FROM visits GROUP BY 1",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING ward = 'A'",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING COUNT(*)",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY age",
        "SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT 2.5",
    ],
    "Conditions": [
        "SELECT COUNT(*) FROM visits WHERE age",
        "SELECT COUNT(*) FROM visits WHERE age = NULL",
        "SELECT COUNT(*) FROM visits WHERE ward = 'D'",
        "SELECT COUNT(*) FROM visits WHERE ward > 'A'",
        "SELECT COUNT(*) FROM visits WHERE age + ward > 3",
        "SELECT COUNT(*) FROM visits WHERE city ILIKE '%r%'",
        "SELECT COUNT(*) FROM visits WHERE LOWER(city) = 'bern'",
        "SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE",
        "SELECT COUNT(*) FROM visits WHERE age IN (SELECT nights FROM stays)",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.ward = v.ward)",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM stays WHERE id=v.id AND nights<age AND nights>cost)",
        "SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM stays WHERE id = v.id AND nights + age > 9)",
        "SELECT COUNT(*) FROM visits v WHERE NOT (urgent OR ward IN (SELECT ward FROM stays WHERE id = v.id))",
        "SELECT COUNT(*) FROM visits WHERE age + 1 IN (SELECT nights FROM stays s WHERE s.id = visits.id)",
        "SELECT COUNT(*) FROM visits v WHERE cost > (SELECT AVG(nights) FROM stays s WHERE s.ward = v.ward)",
        "SELECT COUNT(*) FROM visits WHERE CAST(city AS INTEGER) = 3",
        "SELECT SUM(FLOOR(cost / age)) FROM visits",
    ],
    "Tables": [
        "SELECT COUNT(*) FROM visits, stays",
        "SELECT COUNT(*) FROM visits CROSS JOIN wards",
        "SELECT COUNT(*) FROM visits NATURAL JOIN wards",
        "SELECT COUNT(*) FROM visits LEFT JOIN wards USING (ward)",
        "SELECT COUNT(*) FROM visits RIGHT JOIN stays USING (id)",
        "SELECT COUNT(*) FROM visits FULL JOIN stays USING (id)",
        "SELECT COUNT(*) FROM visits v LEFT JOIN stays s ON v.id = s.id AND v.age > 3",
        "SELECT COUNT(*) FROM visits v JOIN wards w ON v.age > w.floor",
        "SELECT COUNT(*) FROM visits v JOIN stays s ON v.ward = s.ward",
        "SELECT COUNT(*) FROM files JOIN drugs USING (dose)",
        "SELECT COUNT(*) FROM (SELECT age FROM visits UNION SELECT nights FROM stays) AS u",
        "SELECT COUNT(*) FROM (SELECT age FROM visits LIMIT 10) AS t",
        "SELECT COUNT(*) FROM (SELECT age FROM visits ORDER BY age) AS t",
        "SELECT AVG(n) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS t",
        "SELECT AVG(n) FROM (SELECT id, COUNT(*) AS n FROM visits GROUP BY id HAVING COUNT(*) > 2) AS t",
        "SELECT AVG(n) FROM (SELECT id, COUNT(*) / 2 AS n FROM visits GROUP BY id) AS t",
        "SELECT MAX(age, contribution_bounds_per_group => (0, 90)) FROM visits",
        "SELECT COUNT(*) FROM visits PIVOT (SUM(cost) FOR ward IN ('A', 'B'))",
        "SELECT COUNT(*) FROM visits, LATERAL (SELECT age) AS t",
        "SELECT COUNT(*) FROM visits TABLESAMPLE (10 PERCENT)",
        "WITH RECURSIVE r AS (SELECT * FROM visits) SELECT COUNT(*) FROM r",
    ],
}


def refusal(text):
    """Read a question and return its refusal; None if there is none."""
    try:
        read(text)
    except SqlRefused as refused:
        return refused
    return None


def written():
    """Write all refusals as the page shows them."""
    lines = []
    for title, texts in QUESTIONS.items():
        lines += [f"### {title}", ""]
        for text in texts:
            found = refusal(text)
            lines += ["```text", "NOT REFUSED" if found is None else f"{found}", "```", ""]
    return "\n".join(lines).strip()


def shown():
    """What the page has between its marks."""
    return PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()


def rewrite():
    """Put the refusals as they are now between the page's marks."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{written()}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
