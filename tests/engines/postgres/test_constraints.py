"""Schemas in PostgreSQL: links and keys from its catalogue, what it leaves to the custodian, and public tables."""

import itertools
import tomllib

import psycopg
import pytest

import discreet as dp
from discreet.cli.main import main
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.curator import Curator
from discreet.curator.schemas.proposal import proposed
from discreet.engines.postgres import source as home
from discreet.engines.postgres.options import postgres
from discreet.engines.source import SourceChanged, locate
from tests.curator.questions import PLENTY, answered
from tests.postgres import shared

pytestmark = pytest.mark.xdist_group("postgres")

TABLES = """
CREATE TABLE nation (nationkey integer PRIMARY KEY, name text UNIQUE);
CREATE TABLE customer (custkey integer PRIMARY KEY, nationkey integer REFERENCES nation);
CREATE TABLE orders (orderkey bigint PRIMARY KEY, custkey integer REFERENCES customer, parent bigint REFERENCES orders);
CREATE TABLE part (partkey integer PRIMARY KEY, brand text);
CREATE TABLE offers (partkey integer REFERENCES part, supplier integer, PRIMARY KEY (partkey, supplier));
CREATE TABLE lines (orderkey bigint REFERENCES orders, partkey integer, supplier integer, n integer,
                    FOREIGN KEY (partkey, supplier) REFERENCES offers,
                    CONSTRAINT again FOREIGN KEY (orderkey) REFERENCES orders);
CREATE TABLE gifts (giver integer REFERENCES customer, taker integer REFERENCES customer, n integer);
CREATE TABLE notes (words text);
INSERT INTO nation VALUES (1, 'CH'), (2, 'FR');
INSERT INTO customer VALUES (1, 1), (2, 2);
INSERT INTO orders VALUES (10, 1, NULL), (11, 1, 10), (12, 2, NULL);
INSERT INTO part VALUES (1, 'A'), (2, 'B');
INSERT INTO offers VALUES (1, 1), (2, 1), (2, 2);
INSERT INTO lines VALUES (10, 1, 1, 1), (11, 2, 1, 2), (12, 2, 2, 3), (NULL, 1, 1, 4);
"""
COLUMNS = {
    "customer": {"nationkey": dp.between(1, 9)},
    "orders": {"orderkey": dp.between(1, 99)},
    "lines": {"partkey": dp.between(1, 9), "n": dp.between(0, 9)},
    "gifts": {"n": dp.between(0, 9)},
}
PUBLIC = {"nation": "nationkey", "part": "partkey"}

_vaults = itertools.count()


@pytest.fixture(scope="module")
def url():
    found = shared().database()
    with psycopg.connect(found, autocommit=True) as connection:
        connection.execute(TABLES)
    return found


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / f"pg{next(_vaults)}.discreet") as found:
        yield found


def terms(url, *names):
    return {name: {"source": postgres(name, url), "max_rows": 9, "columns": COLUMNS[name]} for name in names}


def public(url):
    return {name: {"source": postgres(name, url), "key": key} for name, key in PUBLIC.items()}


def test_the_catalogue_tells_keys_references_and_siblings(url):
    found = home.constraints(postgres("offers", url))
    assert found.unique == (("partkey", "supplier"),)
    assert [(each.columns, each.path, each.keys) for each in found.foreign] == [
        (("partkey",), "public.part", ("partkey",))
    ]
    assert [each.name for each in home.siblings(postgres("lines", url))] == sorted(
        [*COLUMNS, *PUBLIC, "notes", "offers"]
    )


def test_foreign_keys_link_a_schema_and_public_tables_are_joined_in_the_database(curator, url):
    curator.schema(
        terms(url, "lines", "orders", "customer"), public=public(url), person="customer.custkey", budget=PLENTY
    )
    assert curator.table("lines").whom == "orderkey = orders.orderkey, which is unique"
    session = curator.session(curator.grant("alice", ["lines", "customer"]))

    def brands():
        joined = session.table("lines").join(session.public("part"), on="partkey")
        return joined.group_by("brand").agg(n=dp.count(), s=dp.sum("n"))

    (answer,) = answered(brands().asked(epsilon=10**5))
    assert [(round(row["n"]), round(row["s"])) for row in answer] == [(1, 1), (2, 5)]
    nations = (
        "SELECT name, COUNT(*) AS n FROM customer JOIN nation ON customer.nationkey = nation.nationkey GROUP BY name"
    )
    assert [round(row["n"]) for row in session.sql(nations, epsilon=10**4)] == [1, 1]
    first = brands().release(epsilon=10**4)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE part SET brand = 'A'")
        connection.execute("SELECT pg_stat_force_next_flush()")
        connection.execute("SELECT 1")
    with pytest.raises(SourceChanged, match="the source of 'part' changed"):
        brands().release(epsilon=10**4)
    curator.refresh_public("part")
    again = brands().release(epsilon=10**4)
    assert again.receipt["key"] != first.receipt["key"]
    assert [round(row["n"]) for row in again] == [3]


def test_where_several_foreign_keys_lead_to_people_none_is_chosen(curator, url):
    with pytest.raises(
        BadParameter, match=r"2 foreign keys of 'gifts' lead to people: giver = .* and taker = "
    ) as refused:
        curator.schema(terms(url, "customer", "gifts"), person="customer.custkey", budget=PLENTY)
    assert 'via=link("giver", "customer", "custkey")' in refused.value.fix
    said = terms(url, "customer", "gifts")
    said["gifts"]["via"] = dp.link("taker", "customer", "custkey")
    assert [*curator.schema(said, person="customer.custkey", budget=PLENTY)] == ["customer", "gifts"]


def test_a_table_that_no_foreign_key_leads_from_to_people_is_not_linked(curator, url):
    notes = {"source": postgres("notes", url), "max_rows": 1, "columns": {"words": dp.text()}}
    with pytest.raises(BadParameter, match="no foreign key of 'notes' leads to the people of 'customer'"):
        curator.schema({**terms(url, "customer"), "notes": notes}, person="customer.custkey", budget=PLENTY)


def test_tables_of_two_databases_are_no_schema(curator, url):
    other = shared().database()
    with psycopg.connect(other, autocommit=True) as connection:
        connection.execute("CREATE TABLE part (partkey integer PRIMARY KEY, brand text)")
        connection.execute("INSERT INTO part VALUES (1, 'A')")
    curator.schema(terms(url, "customer", "orders", "lines"), person="customer.custkey", budget=PLENTY)
    curator.register_public("part", postgres("part", other), key="partkey")
    session = curator.session(curator.grant("alice", ["lines"]))
    joined = session.table("lines").join(session.public("part"), on="partkey").count()
    with pytest.raises(BadParameter, match="computed in one database") as refused:
        joined.preview(epsilon=1)
    assert "register them by the same URL" in refused.value.fix


def test_a_policy_is_proposed_with_links_and_keys_and_without_bounds(url):
    text = proposed(locate(f"{url}#public.customer"), "custkey")
    found = tomllib.loads(text)
    assert found["tables"]["orders"]["unit"] == {"via": "custkey = customer.custkey"}
    assert found["tables"]["lines"]["unit"] == {"via": "orderkey = orders.orderkey"}
    assert found["tables"]["customer"]["unit"] == {"person": "custkey"}
    assert all(each["columns"] == {} for each in found["tables"].values())
    assert "unit" not in found["tables"]["gifts"]
    assert '# unit = { via = "giver = customer.custkey" }' in text
    assert {name: each.get("key") for name, each in found["public"].items()} == {
        "nation": "nationkey",
        "offers": ["partkey", "supplier"],
        "part": "partkey",
    }
    # Nothing tells that what has no foreign key is public: it may be about people.
    assert "refers to them: notes." in text
    with pytest.raises(UnknownName, match="did you mean 'custkey'"):
        proposed(locate(f"{url}#public.customer"), "custke")


def test_files_have_no_catalogue(tmp_path):
    (tmp_path / "customer.csv").write_text("custkey\n1\n")
    with pytest.raises(BadParameter, match="files have no catalogue"):
        proposed(locate(tmp_path / "customer.csv"), "custkey")


def test_a_vault_begins_with_the_proposal(url, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_VAULT", raising=False)
    assert main(["init", "--propose", f"{url}#public.customer"]) != 0
    assert main(["init", "--propose", f"{url}#public.customer", "--person", "custkey"]) == 0
    found = tomllib.loads((tmp_path / "discreet.toml").read_text())
    assert (found["vault"], len(found["tables"]), len(found["public"])) == ("vault.discreet", 4, 3)
    assert main(["register"]) != 0  # limits and columns are still to be declared
    assert "discreet.toml:" in capsys.readouterr().err
