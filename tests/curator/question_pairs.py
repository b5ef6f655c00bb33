"""Questions in SQL and the same questions in Python: both are one question and one ledger entry."""

import datetime as dt

import discreet as dp
from discreet.plan.expressions import Name, greatest, least, when


def floors(session):
    return session.public("floors", {"ward": ["A", "B"], "floor": [1, 2]})


def both(session):
    """Visits and stays of the same person, with what stays adds."""
    columns = {"ward_2": "ward", "nights": "nights", "age_2": "age"}
    return session.table("visits").join(session.table("stays"), columns=columns)


def _by_n(people):
    return people.group_by("n").agg(m=dp.median("m"))


# (SQL, a function of the session and its table visits)
PAIRS = [
    ("SELECT COUNT(*) FROM visits", lambda s, v: v.count()),
    ("SELECT COUNT(age) AS n FROM visits", lambda s, v: v.agg(n=dp.count("age"))),
    ("SELECT COUNT(DISTINCT id) AS who FROM visits", lambda s, v: v.agg(who=dp.people())),
    ("SELECT SUM(cost) AS total FROM visits", lambda s, v: v.agg(total=dp.sum("cost"))),
    ("select avg(Cost) from Visits", lambda s, v: v.agg(avg_cost=dp.mean("cost"))),
    ("SELECT MEDIAN(age) AS m FROM visits", lambda s, v: v.agg(m=dp.median("age"))),
    (
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age) AS q FROM visits",
        lambda s, v: v.agg(q=dp.quantile("age", 0.9)),
    ),
    (
        "SELECT PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age DESC) AS q FROM visits",
        lambda s, v: v.agg(q=dp.quantile("age", 0.1)),
    ),
    ("SELECT QUANTILE(cost, 0.25) AS q FROM visits", lambda s, v: v.agg(q=dp.quantile("cost", 0.25))),
    (
        "SELECT VARIANCE(age) AS a, VAR_POP(cost) AS b FROM visits",
        lambda s, v: v.agg(a=dp.variance("age"), b=dp.variance("cost")),
    ),
    (
        "SELECT STDDEV(age) AS a, STDDEV_POP(cost) AS b FROM visits",
        lambda s, v: v.agg(a=dp.std("age"), b=dp.std("cost")),
    ),
    (
        "SELECT MIN(age) AS least, MAX(cost) AS most FROM visits",
        lambda s, v: v.agg(least=dp.min("age"), most=dp.max("cost")),
    ),
    (
        "SELECT CORR(age, cost) AS r, COVAR_POP(age, cost) AS c FROM visits",
        lambda s, v: v.agg(r=dp.correlation("age", "cost"), c=dp.covariance("age", "cost")),
    ),
    (
        "SELECT AVG(t) AS t FROM (SELECT id, SUM(cost) AS t FROM visits GROUP BY id) AS p",
        lambda s, v: v.per_person(t=dp.sum("cost")).agg(t=dp.mean("t")),
    ),
    (
        "SELECT n, MEDIAN(m) AS m FROM (SELECT id, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY id) GROUP BY n",
        lambda s, v: _by_n(v.per_person(n=dp.count(), m=dp.mean("age"))),
    ),
    ("SELECT COUNT(*) AS n FROM visits WHERE age >= 18", lambda s, v: v.where(v.age >= 18).agg(n=dp.count())),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE age >= 18 AND urgent AND NOT ward = 'A'",
        lambda s, v: v.where((v.age >= 18) & v.urgent & ~(v.ward == "A")).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE age BETWEEN 18 AND 65 OR cost <> -0.5",
        lambda s, v: v.where(((v.age >= 18) & (v.age <= 65)) | (v.cost != -0.5)).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age NOT IN (1, 2)",
        lambda s, v: v.where(v.ward.is_in(["A", "B"]) & ~v.age.is_in([1, 2])).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE age IS NULL OR city IS NOT NULL",
        lambda s, v: v.where(v.age.is_null() | ~v.city.is_null()).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE ward LIKE '_' AND NOT ward ILIKE 'b%'",
        lambda s, v: v.where(v.ward.is_in(["A", "B", "C"]) & ~v.ward.is_in(["B"])).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE city LIKE 'Be%' OR city = 'Zürich'",
        lambda s, v: v.where(v.city.starts_with("Be") | (v.city == "Zürich")).agg(n=dp.count()),
    ),
    (
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY ward",
        lambda s, v: v.group_by("ward").agg(n=dp.count(), m=dp.mean("cost")),
    ),
    (
        "SELECT ward AS w, urgent, COUNT(*) AS n FROM visits GROUP BY 1, visits.urgent",
        lambda s, v: v.group_by("ward", "urgent").agg(n=dp.count()),
    ),
    (
        "SELECT EXTRACT(YEAR FROM day) AS year, COUNT(*) AS n FROM visits GROUP BY year",
        lambda s, v: v.group_by(year=v.day.year()).agg(n=dp.count()),
    ),
    (
        "SELECT MONTH(day) AS m, DAYOFWEEK(day) AS w, COUNT(*) AS n FROM visits GROUP BY 1, 2",
        lambda s, v: v.group_by(m=v.day.month(), w=v.day.weekday()).agg(n=dp.count()),
    ),
    (
        (
            "SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'senior' END AS g, COUNT(*) AS n "
            "FROM visits GROUP BY g"
        ),
        lambda s, v: v.group_by(g=when(v.age < 18, "child").when(v.age < 65).then("adult").otherwise("senior")).agg(
            n=dp.count()
        ),
    ),
    (
        "SELECT FLOOR(age / 10) * 10 AS decade, COUNT(*) AS n FROM visits GROUP BY decade",
        lambda s, v: v.group_by(decade=(v.age - 5).divided_by(10, step=1) * 10).agg(n=dp.count()),
    ),
    (
        "SELECT SUM(ABS(cost)) AS a, SUM(ROUND(cost, -1)) AS b, SUM(-cost) AS c FROM visits",
        lambda s, v: v.agg(a=dp.sum(v.cost.abs()), b=dp.sum(v.cost.round(10)), c=dp.sum(-v.cost)),
    ),
    (
        "SELECT AVG(LEAST(cost, 100)) AS a, AVG(GREATEST(age, 18)) AS b FROM visits",
        lambda s, v: v.agg(a=dp.mean(least(v.cost, 100)), b=dp.mean(greatest(v.age, 18))),
    ),
    (
        "SELECT AVG(COALESCE(age, 0)) AS a, AVG(NULLIF(age, 0)) AS b FROM visits",
        lambda s, v: v.agg(a=dp.mean(v.age.fill_null(0)), b=dp.mean(when(v.age != 0, v.age))),
    ),
    (
        "SELECT SUM(age * 2 - cost / 4 + 1) AS x, SUM(ROUND(cost / age, 2)) AS y FROM visits",
        lambda s, v: v.agg(x=dp.sum(v.age * 2 - v.cost / 4 + 1), y=dp.sum(v.cost.divided_by(v.age, step=0.01))),
    ),
    (
        (
            "SELECT SUM(CAST(urgent AS INTEGER)) AS u, AVG(CAST(grade AS DOUBLE)) AS g, SUM(CAST(cost AS INT)) AS c "
            "FROM visits"
        ),
        lambda s, v: v.agg(u=dp.sum(v.urgent.as_number()), g=dp.mean(v.grade.as_number()), c=dp.sum(v.cost.round(1))),
    ),
    (
        (
            "SELECT COUNT(*) FILTER (WHERE urgent) AS a, COUNT_IF(urgent) AS b, SUM(cost) FILTER (WHERE age > 60) AS c "
            "FROM visits"
        ),
        lambda s, v: v.agg(a=dp.count(when(v.urgent, 1)), c=dp.sum(when(v.age > 60, v.cost))),
    ),
    (
        "SELECT AVG(day - DATE '2020-01-01') AS d FROM visits WHERE day + INTERVAL '7' DAY < '2021-12-01'",
        lambda s, v: v.where(v.day + 7 < "2021-12-01").agg(d=dp.mean(v.day - dt.date(2020, 1, 1))),
    ),
    (
        (
            "WITH floors(ward, floor) AS (VALUES ('A', 1), ('B', 2)) "
            "SELECT floor, COUNT(*) AS n FROM visits JOIN floors USING (ward) GROUP BY floor"
        ),
        lambda s, v: v.join(floors(s), on="ward").group_by("floor").agg(n=dp.count()),
    ),
    (
        "SELECT AVG(f.floor) AS n FROM (VALUES ('A', 1), ('B', 2)) AS f(code, floor) JOIN visits v ON f.code = v.ward",
        lambda s, v: v.join(s.public("f", {"code": ["A", "B"], "floor": [1, 2]}), on={"ward": "code"}).agg(
            n=dp.mean("floor")
        ),
    ),
    (
        "WITH adults AS (SELECT * FROM visits WHERE age >= 18) SELECT COUNT(*) AS n FROM adults WHERE urgent",
        lambda s, v: v.where(v.age >= 18).where(v.urgent).agg(n=dp.count()),
    ),
    (
        "SELECT AVG(years) AS y FROM (SELECT ward, age AS years FROM visits) AS t WHERE t.ward = 'A'",
        lambda s, v: v.select("ward", years="age").where(v.ward == "A").agg(y=dp.mean("years")),
    ),
    (
        "SELECT AVG(months) AS m FROM (SELECT age * 12 AS months FROM visits) AS t",
        lambda s, v: v.derive(months=v.age * 12).select("months").agg(m=dp.mean("months")),
    ),
    (
        (
            "SELECT ward, COUNT(*) AS n FROM (SELECT ward, age FROM visits UNION ALL SELECT ward, age FROM stays) AS u "
            "GROUP BY ward"
        ),
        lambda s, v: (
            v.select("ward", "age").union(s.table("stays").select("ward", "age")).group_by("ward").agg(n=dp.count())
        ),
    ),
    (
        "SELECT SUM(x) AS x FROM (SELECT age AS x FROM visits UNION ALL SELECT nights FROM stays) AS u",
        lambda s, v: v.select(x="age").union(s.table("stays").select("nights").select(x="nights")).agg(x=dp.sum("x")),
    ),
    (
        "SELECT visits.ward, AVG(nights) AS n FROM visits JOIN stays ON visits.id = stays.id GROUP BY visits.ward",
        lambda s, v: both(s).group_by("ward").agg(n=dp.mean("nights")),
    ),
    (
        "SELECT v.ward, AVG(nights) AS n FROM visits v, stays s WHERE s.id = v.id GROUP BY v.ward",
        lambda s, v: both(s).group_by("ward").agg(n=dp.mean("nights")),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits, stays WHERE visits.id = stays.id AND nights > 2 AND urgent",
        lambda s, v: (
            v.where(v.urgent)
            .join(
                s.table("stays").where(Name("nights") > 2),
                columns={"ward_2": "ward", "nights": "nights", "age_2": "age"},
            )
            .agg(n=dp.count())
        ),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v WHERE urgent AND EXISTS (SELECT 1 FROM stays WHERE id=v.id AND nights>2)",
        lambda s, v: v.where(v.urgent).semi_join(s.table("stays").where(Name("nights") > 2)).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v WHERE NOT EXISTS (SELECT 1 FROM stays WHERE ward = v.ward AND id = v.id)",
        lambda s, v: v.anti_join(s.table("stays"), "ward").agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits v WHERE EXISTS (SELECT 1 FROM stays s WHERE s.id = v.id AND v.age < s.age)",
        lambda s, v: v.semi_join(s.table("stays"), compare=("age", "<", "age")).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE id IN (SELECT id FROM stays)",
        lambda s, v: v.semi_join(s.table("stays")).agg(n=dp.count()),
    ),
    (
        "SELECT COUNT(*) AS n, COUNT(nights) AS m FROM visits v LEFT JOIN stays s ON v.id = s.id AND s.nights > 2",
        lambda s, v: v.left_join(
            s.table("stays").where(Name("nights") > 2), columns={"ward_2": "ward", "nights": "nights", "age_2": "age"}
        ).agg(n=dp.count(), m=dp.count("nights")),
    ),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE day < DATE '2021-12-31' - INTERVAL '3' MONTH",
        lambda s, v: v.where(v.day < dt.date(2021, 9, 30)).agg(n=dp.count()),
    ),
    (
        "SELECT ward, urgent, SUM(cost) AS c FROM visits GROUP BY ROLLUP (ward, urgent)",
        lambda s, v: v.group_by("ward", "urgent").agg(c=dp.sum("cost")),
    ),
    (
        "SELECT ward, AVG(cost) * 12 AS y, SUM(cost) / COUNT(*) AS p FROM visits GROUP BY ward HAVING COUNT(*) > 3",
        lambda s, v: v.group_by("ward").agg(avg_cost=dp.mean("cost"), sum_cost=dp.sum("cost"), count=dp.count()),
    ),
    (
        'SELECT "ward", COUNT(*) AS "many" FROM "visits" AS "v" GROUP BY "v"."ward" ORDER BY 2 DESC LIMIT 2 -- said',
        lambda s, v: v.group_by("ward").agg(many=dp.count()),
    ),
]
