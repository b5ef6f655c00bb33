"""Tables over HTTP: declarations without sources, and made-up rows."""

from discreet.ask.dummy import dummy


def test_declarations_are_told_and_sources_are_not(vault):
    found = vault.ask("GET", "/v1/tables/visits").json()
    assert found["table"]["source"] is None
    assert set(found) == {"table", "version", "account", "revision"}
    assert vault.ask("GET", "/v1/tables").json() == {"tables": ["visits"]}
    assert vault.ask("GET", "/v1/tables", "reader").json() == {"tables": ["visits"]}
    assert vault.ask("GET", "/v1/tables", "custodian").json() == {"tables": ["secrets", "visits"]}
    assert vault.ask("GET", "/v1/session", "reader").json()["role"] == "reader"


def test_dummy_rows_are_those_of_the_declaration(vault):
    expected = dummy(vault.curator.table("visits").table, 20, 7)
    assert vault.ask("GET", "/v1/tables/visits/dummy?rows=20&seed=7").json()["columns"] == expected.record()
    text = vault.ask("GET", "/v1/tables/visits/dummy?rows=20&seed=7", headers={"Accept": "text/csv"}).text
    assert text == expected.to_csv()
    assert vault.ask("GET", "/v1/tables/secrets/dummy").status_code == 404
    assert vault.ask("GET", "/v1/tables/visits/dummy?rows=0").status_code == 422
