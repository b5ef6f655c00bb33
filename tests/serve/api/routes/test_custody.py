"""Custody over HTTP: grants, tables from allowed folders alone, refreshes, limits on work."""

import pytest

from discreet.core.schema import Table
from discreet.serve.api.routes.custody import Roots
from tests.serve.api.served import TERMS, request, served

CSV = "patient,age,ward,note\n" + "".join(f"q{n % 40},{n % 80},{'ABC'[n % 3]},x\n" for n in range(120))


@pytest.fixture
def vault(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "more.csv").write_text(CSV)
    (tmp_path / "outside.csv").write_text(CSV.replace("q", "r"))
    (tmp_path / "data" / "link.csv").symlink_to(tmp_path / "outside.csv")
    with served(tmp_path, roots=(str(tmp_path / "data"),)) as made:
        yield made


def declared(source, name="more", **others):
    table = Table(name, TERMS["unit"], TERMS["columns"]).record()
    return {"source": str(source), "table": table, "budget": {"epsilon": "1/2"}, **others}


def test_a_file_of_an_allowed_folder_is_registered_granted_asked_and_refreshed(vault):
    place = vault.folder / "data" / "more.csv"
    made = vault.ask("POST", "/v1/tables", "custodian", json=declared(place))
    assert made.status_code == 201, made.text
    assert "data" not in made.text
    grant = {"analyst": "mo", "tables": ["more"], "budget": {"epsilon": 0.25}, "expires": "30d"}
    token = vault.ask("POST", "/v1/grants", "custodian", json=grant).json()["token"]
    asked = request("SELECT COUNT(*) AS n FROM more", epsilon=0.25)
    assert vault.ask("POST", "/v1/run", token, json=asked).status_code == 200
    assert vault.ask("POST", "/v1/run", token, json=request("SELECT COUNT(*) AS n FROM more", 0.2)).status_code == 403
    place.write_text(CSV + "q99,3,A,x\n")
    changed = vault.ask("POST", "/v1/run", token, json=asked)
    assert changed.status_code == 422
    assert "refresh" in changed.json()["fix"]
    found = vault.ask("POST", "/v1/tables/more/refresh", "custodian", json={})
    assert found.json()["version"] == 2
    assert "mo" in [each["analyst"] for each in vault.ask("GET", "/v1/grants", "custodian").json()["grants"]]
    assert vault.ask("DELETE", "/v1/grants/mo", "custodian").json()["ended"] == [token.partition("_")[0]]
    assert vault.ask("DELETE", "/v1/grants/nobody", "custodian").status_code == 404
    assert vault.ask("POST", "/v1/tables/nothing/refresh", "custodian", json={}).status_code == 404


@pytest.mark.parametrize(
    "source",
    ["outside.csv", "data/link.csv", "data/../outside.csv", "data/*.csv", "data/nothing.csv", "/etc/passwd", "", "\0",
     "postgresql://localhost/x", "https://example.org/x.csv"],
)  # fmt: skip
def test_what_does_not_lie_in_an_allowed_folder_is_refused_in_the_same_words(vault, source):
    place = source if "://" in source or not source else str(vault.folder / source)
    response = vault.ask("POST", "/v1/tables", "custodian", json=declared(place))
    assert response.status_code == 422
    assert response.json()["why"].startswith("sources are registered over HTTP from the folders")


def test_a_folder_is_allowed_by_its_path_and_not_by_the_letters_of_its_name(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data of others").mkdir()
    for folder in ("data", "data of others"):
        (tmp_path / folder / "rows.csv").write_text(CSV)
    roots = Roots((str(tmp_path / "data"),))
    assert roots.allowed(str(tmp_path / "data" / "rows.csv"))
    with pytest.raises(ValueError, match="folders that the server was started with"):
        roots.allowed(str(tmp_path / "data of others" / "rows.csv"))


def test_a_folder_with_a_link_that_leads_out_of_it_is_refused(tmp_path):
    parts = tmp_path / "data" / "parts"
    parts.mkdir(parents=True)
    (parts / "rows.csv").write_text(CSV)
    roots = Roots((str(tmp_path / "data"),))
    assert roots.allowed(str(parts)) == str(parts)
    (tmp_path / "outside.csv").write_text(CSV)
    (parts / "more.csv").symlink_to(tmp_path / "outside.csv")
    with pytest.raises(ValueError, match="folders that the server was started with"):
        roots.allowed(str(parts))


def test_without_folders_nothing_is_registered(tmp_path):
    with pytest.raises(ValueError, match="folders"):
        Roots(()).allowed(str(tmp_path))


def test_limits_on_work_are_read_and_changed(vault):
    assert vault.ask("GET", "/v1/policy", "custodian").json()["work"]["pace"] == "0"
    changed = vault.ask("PATCH", "/v1/policy", "custodian", json={"work": {"pace": "1/100"}})
    assert changed.json()["work"]["pace"] == "1/100"
    assert vault.ask("PATCH", "/v1/policy", "custodian", json={"work": {"pace": -1}}).status_code == 422
    assert vault.ask("PATCH", "/v1/policy", "custodian", json={"work": {"noise": 0}}).status_code == 422


@pytest.mark.parametrize(
    "body",
    [{}, {"analyst": 3}, {"analyst": "a", "tables": "visits"}, {"analyst": "a", "tables": ["visits"], "role": "king"},
     {"analyst": "a", "tables": ["visits"], "budget": {"epsilon": True}}, {"analyst": "a", "tables": ["nothing"]},
     {"analyst": "a", "tables": ["visits"], "expires": "yesterday"}, {"analyst": "", "tables": ["visits"]}],
)  # fmt: skip
def test_grants_that_make_no_sense_are_refused(vault, body):
    assert vault.ask("POST", "/v1/grants", "custodian", json=body).status_code == 422
