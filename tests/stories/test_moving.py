"""A table moves from a file to PostgreSQL to Spark: no question changes, and no budget is gained."""

import psycopg
import pytest

import discreet as dp
from tests.postgres import shared
from tests.spark import MASTER
from tests.stories.desks import remote

pytestmark = pytest.mark.xdist_group("spark")

QUESTION = "SELECT ward, COUNT(*) AS n, SUM(cost) AS cost FROM visits WHERE age >= 18 GROUP BY ward"
# So large that the noise is nought, but for a chance that no computer will see.
EPSILON = 200_000


def rows():
    return [(f"p{n % 50}", "ABC"[n % 3], 10 + n % 80, n % 300) for n in range(600)]


def written(path):
    lines = ["patient,ward,age,cost", *(",".join(map(str, row)) for row in rows())]
    path.write_text("\n".join(lines) + "\n")
    return path


def in_database():
    url = shared().database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE visits (patient text, ward text, age integer, cost integer)")
        with connection.cursor().copy("COPY visits FROM STDIN") as copy:
            for row in rows():
                copy.write_row(row)
    return dp.postgres("visits", url)


def in_folder(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path.mkdir()
    columns = dict(zip(("patient", "ward", "age", "cost"), map(list, zip(*rows(), strict=True)), strict=True))
    pq.write_table(pa.table(columns), path / "visits.parquet")
    return dp.spark(path, master=MASTER)


def test_no_question_changes_when_a_table_moves_and_its_budget_stays_spent(tmp_path):
    curator = dp.Curator(tmp_path / "vault.discreet")
    columns = {"ward": dp.one_of("A", "B", "C"), "age": dp.between(0, 110), "cost": dp.between(0, 500)}
    unit = dp.person("patient", max_rows=5, max_groups=2)
    budget = dp.Budget(epsilon=3 * EPSILON)
    curator.register("visits", written(tmp_path / "visits.csv"), unit=unit, columns=columns, budget=budget)
    token = curator.grant("alice", "visits")
    session = curator.session(token)

    answers = [list(session.sql(QUESTION, epsilon=EPSILON))]
    with remote(curator, token) as (served,):
        for moved in (in_database(), in_folder(tmp_path / "folder")):
            curator.refresh("visits", moved)
            # Asked of the server, and told again by the vault.
            answers.append(list(served.sql(QUESTION, epsilon=EPSILON)))
            assert list(session.sql(QUESTION, epsilon=EPSILON)) == answers[-1]

    told = [[(row["ward"], row["n"], row["cost"]) for row in answer] for answer in answers]
    for other in told[1:]:  # the same exact integers; each version has its own noise, of next to nothing
        for there, here in zip(other, told[0], strict=True):
            assert there[0] == here[0]
            assert there[1] == pytest.approx(here[1], abs=0.01)
            assert there[2] == pytest.approx(here[2], abs=1)
    with pytest.raises(dp.BudgetExceeded):
        session.sql(QUESTION, epsilon=EPSILON, fresh=True)


def test_tables_that_lie_apart_are_not_asked_together(tmp_path):
    curator = dp.Curator(tmp_path / "vault.discreet")
    unit, columns = dp.person("patient", max_rows=5), {"cost": dp.between(0, 500)}
    curator.register(
        "here", written(tmp_path / "visits.csv"), unit=unit, columns=columns, budget=dp.Budget(epsilon=1), group="one"
    )
    curator.register("there", in_database(), unit=unit, columns=columns, group="one")
    session = curator.session(curator.grant("alice", ["here", "there"]))
    both = session.table("here").union(session.table("there"))
    with pytest.raises(dp.BadParameter, match="no row is copied"):
        both.count().release(epsilon=0.5)
    assert session.remaining()
    assert all(standing.filter.spent.loss == 0 for standing in curator.ledger.standing() if standing.scope == "account")
