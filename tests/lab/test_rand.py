"""RAND: the table that is shipped, what is declared of it, and the copies that attacks are made on."""

import math

import duckdb
import pytest

from discreet.core.errors import BadParameter
from discreet.core.schema import Table
from discreet.lab import rand
from discreet.testing import seeded

HEALTH = "CASE WHEN hlthg = 1 THEN 'good' WHEN hlthf = 1 THEN 'fair' WHEN hlthp = 1 THEN 'poor' ELSE 'excellent' END"


@pytest.fixture(scope="module")
def table():
    with duckdb.connect() as engine:
        yield engine.from_parquet(str(rand.path()))


def test_the_table_is_small_and_has_every_person_year(table):
    assert rand.path().stat().st_size < 200_000
    assert table.aggregate("count(*), count(DISTINCT zper)").fetchall() == [(rand.ROWS, 5912)]


def test_nobody_has_more_rows_than_the_unit_allows(table):
    most = table.aggregate("zper, count(*) AS years").aggregate("max(years)").fetchall()
    assert most == [(rand.unit().max_rows,)]


def test_every_column_is_declared_but_the_persons_own(table):
    assert set(table.columns) - {rand.unit().identifier} == set(rand.columns())
    assert Table("rand", rand.unit(), rand.columns(), rand.ROWS).rows == rand.ROWS


def test_declared_keys_are_all_there_are(table):
    for name in ("health", "site", "coinsurance"):
        found = {value for (value,) in table.project(name).distinct().fetchall()}
        assert found == set(rand.columns()[name].keys)


def test_the_shipped_table_is_the_origin(table, data_folder):
    origin = data_folder / "rand" / "randhie.csv.gz"
    if not origin.exists():
        pytest.skip("no RAND table here: set DISCREET_DATA to the folder that has rand/randhie.csv.gz")
    with duckdb.connect() as engine:
        wanted = engine.sql(
            f"SELECT zper, year, site, coins, female = 1, mdvis, totadm, {HEALTH}, round(meddol, 2)::DECIMAL(8, 2)"
            f" FROM read_csv('{origin}') ORDER BY zper, year"
        ).fetchall()
    names = "zper, year, site, coinsurance, female, visits, admissions, health, spending"
    assert table.order("zper, year").project(names).fetchall() == wanted


def test_a_copy_is_of_different_people_with_their_own_bits(table):
    with seeded(3):
        copied = rand.copy(200)
    assert len(set(copied.people)) == len(copied.secret) == 200
    known = dict(table.project("zper, (health <> 'excellent')::INT").distinct().fetchall())
    assert [known[each] for each in copied.people] == copied.secret.tolist()


def test_the_bits_of_a_copy_are_fair_coins():
    # False alarm 1e-6 (Hoeffding), over all copies together.
    with seeded(4):
        ones = sum(int(rand.copy(100).secret.sum()) for _ in range(20))
    assert abs(ones / 2000 - 0.5) <= math.sqrt(math.log(2 / 1e-6) / (2 * 2000))


@pytest.mark.parametrize("people", [0, -2, 2.5, 100_000])
def test_a_number_of_people_that_makes_no_sense_is_refused(people):
    with pytest.raises(BadParameter, match="people"):
        rand.copy(people)
