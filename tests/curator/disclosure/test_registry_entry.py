"""Registry entries: YAML that reads as it was written, with the ledger's figures, and names for what it cannot know."""

import json

import pytest

import discreet as dp
from discreet.core.errors import BadParameter, UnknownName
from discreet.curator.curator import Curator
from discreet.curator.disclosure.registry_entry import LEFT_OPEN, TOLD

yaml = pytest.importorskip("yaml")

ROWS = {"id": ["1", "2", "3"], "age": ["31", "42", "57"]}
TERMS = {"unit": dp.person("id", max_rows=2), "columns": {"age": dp.between(0, 99)}}


@pytest.fixture
def curator(tmp_path):
    with Curator(tmp_path / "vault.discreet") as made:
        made.register("visits", ROWS, budget=dp.Budget(epsilon=0.1, delta=1e-6), rows=1_000, **TERMS)
        yield made


def deployment(curator, **told):
    return yaml.safe_load(curator.disclose("visits", **told).to_yaml())["deployment"]


def test_the_figures_are_those_of_the_budget_never_below_them(curator):
    found = deployment(curator)
    assert found["dp_flavor"]["name"] == "Approximate DP"
    parameters = found["privacy_loss"]["privacy_parameters"]
    assert set(parameters) == {"epsilon", "delta"}
    assert 0.1 <= parameters["epsilon"] < 0.1 + 1e-9
    assert 1e-6 <= parameters["delta"] < 1e-6 + 1e-15
    assert found["privacy_loss"]["privacy_unit"] == "Person"
    assert "at most 2 rows, added or removed" in found["privacy_loss"]["privacy_unit_description"]
    assert "the number of rows of visits" in found["dp_flavor"]["unprotected_quantities"]


@pytest.mark.parametrize(
    ("budget", "flavor", "names"),
    [(dp.Budget(epsilon=1), "Pure DP", {"epsilon"}), (dp.Budget(rho=0.5), "Zero-concentrated DP", {"rho"})],
)
def test_each_kind_of_budget_has_its_flavor(tmp_path, budget, flavor, names):
    with Curator(tmp_path / "vault.discreet") as curator:
        curator.register("t", ROWS, budget=budget, unit=dp.row(), columns=TERMS["columns"])
        found = yaml.safe_load(curator.disclose().to_yaml())["deployment"]
    assert (found["dp_flavor"]["name"], set(found["privacy_loss"]["privacy_parameters"])) == (flavor, names)
    assert found["privacy_loss"]["privacy_unit"] == "Row"


def test_releases_and_versions_are_counted(curator):
    assert deployment(curator)["model"]["release_type"] == "Many releases"
    session = curator.session(curator.grant("zoe", "visits"))
    session.table("visits").agg(n=dp.count()).release(epsilon=0.05)
    found = deployment(curator)
    assert (found["model"]["release_type"], found["model"]["data_source_type"]) == ("One release", "Static")
    assert found["publication_date"] == str(curator.ledger.today())
    assert "(1)" in found["implementation"]["mechanisms"]
    curator.refresh("visits", {"id": ["1"], "age": ["3"]})
    assert deployment(curator)["model"]["data_source_type"] == "Dynamic"


def test_what_other_accounts_were_charged_is_not_told(curator):
    curator.register("stays", {"id": ["8"], "age": ["1"]}, budget=dp.Budget(epsilon=9), people="distinct", **TERMS)
    curator.bill("stays", dp.Laplace(2), "training")
    mine = deployment(curator)
    assert "none yet" in mine["implementation"]["mechanisms"]
    assert mine["publication_date"] == "nothing was released yet"
    theirs = yaml.safe_load(curator.disclose("stays").to_yaml())["deployment"]
    assert "laplace (1)" in theirs["implementation"]["mechanisms"].lower()
    assert "1 are bills" in theirs["implementation"]["mechanisms"]


def test_parts_of_a_running_release_are_releases_and_its_end_is_none(curator):
    session = curator.session(curator.grant("zoe", "visits"))
    visits = session.table("visits")
    watch = session.watch(visits, "above_threshold", threshold=10**6, epsilon=0.05)
    watch.look()
    watch.look(visits.age > 40)
    for _ in range(2):
        found = deployment(curator)
        assert found["model"]["release_type_description"].startswith("2 releases so far")
        assert found["publication_date"] == str(curator.ledger.today())
        curator.ledger.end_run(watch.receipt["key"])


def test_what_no_ledger_knows_is_named_until_it_is_told(curator):
    entry = curator.disclose()
    assert entry.open == tuple(name for name in TOLD if name not in ("name", "sector"))
    assert deployment(curator)["data_curator"] == LEFT_OPEN
    told = {name: f"the {name}" for name in TOLD if name != "sector"}
    full = curator.disclose(sector="Healthcare", **told)
    assert full.open == ()
    assert full.record["deployment"]["data_product_sector"] == "Healthcare"
    assert full.record["registry_authors"] == ["the author"]


@pytest.mark.parametrize(
    "text", ['a "quote": yes', "- no", "line\nline", "\u2028\x7f\x85", "😀 é", "1e-6", "null", "#"]
)
def test_a_text_is_read_as_it_was_written(curator, text):
    entry = curator.disclose(description=text)
    assert yaml.safe_load(entry.to_yaml())["deployment"]["description"] == text
    assert yaml.safe_load(entry.to_yaml()) == json.loads(json.dumps(entry.record))


def test_an_entry_is_about_one_account_and_known_fields(curator):
    curator.register("stays", {"id": ["8"], "age": ["1"]}, budget=dp.Budget(epsilon=1), **TERMS)
    with pytest.raises(BadParameter, match="one account"):
        curator.disclose()
    with pytest.raises(UnknownName):
        curator.disclose("nothing")
    with pytest.raises(UnknownName):
        curator.disclose("visits", colour="red")
    with pytest.raises(BadParameter, match="sector"):
        curator.disclose("visits", sector="Magic")
