"""discreet register --public, refresh and tables: tables that protect nobody."""

import pytest

from discreet.cli.shared.exits import Exit


@pytest.fixture
def wards(vault, folder):
    """A file of public wards beside a vault of visits."""
    (folder / "wards.csv").write_text("ward,floor,beds\nA,0,12\nB,1,20\nC,1,7\n")
    return vault


def words(out):
    return [" ".join(line.split()) for line in out.splitlines()]


def test_a_public_table_is_registered_listed_joined_and_refreshed(wards, run, result, folder):
    code, out, _ = run("register", "wards", "wards.csv", "--public", "--key", "ward")
    assert code == Exit.DONE
    assert words(out) == [
        "Public table wards is registered, version 1.",
        "Any question of the vault may join it: one row for each ward. It has no budget.",
    ]
    token = result("grant", "alice", "visits")["token"]
    assert "wards nobody: public ward, floor, beds" in words(run("tables", "--token", token)[1])
    assert words(run("tables", "wards")[1])[1] == "public, version 1, one row for each ward"
    assert [each["name"] for each in result("tables")["public"]] == ["wards"]
    text = "SELECT floor, COUNT(*) FROM visits JOIN wards ON visits.ward = wards.ward GROUP BY floor"
    asked = result("ask", text, "--epsilon", "1", "--token", token)
    assert [row["floor"] for row in asked["rows"]] == [0, 1]
    (folder / "wards.csv").write_text("ward,floor,beds\nA,2,12\n")
    assert result("refresh", "wards") == {"name": "wards", "version": 2, "public": True}
    assert result("tables", "wards")["public"][0]["version"] == 2


def test_a_fan_out_and_columns_can_be_declared(wards, result):
    terms = ("--fan-out", "floor=2", "--key", "ward,floor", "--column", "ward=A,B,C", "--column", "floor=0..5")
    found = result("register", "wards", "wards.csv", "--public", *terms)
    assert found["reuses"] == [[["floor"], 2], [["ward", "floor"], 1]]
    assert [each["name"] for each in found["columns"]] == ["ward", "floor"]


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        (("--public",), "nothing bounds"),
        (("--public", "--key", "floor"), "1 of its values is in more than one row"),
        (("--public", "--key", "ward", "--unit", "row"), "a public table protects nobody"),
        (("--public", "--key", "ward", "--epsilon", "1"), "a public table protects nobody"),
        (("--public", "--fan-out", "floor"), "how many rows"),
        (("--key", "ward"), "only a public table is registered by its key"),
    ],
)
def test_what_is_no_public_table_is_refused(wards, run, terms, said):
    code, _, err = run("register", "wards", "wards.csv", *terms)
    assert code != Exit.DONE
    assert said in " ".join(err.split())


def test_a_public_table_has_no_people_to_refresh(wards, run):
    run("register", "wards", "wards.csv", "--public", "--key", "ward")
    assert "a public table has none" in run("refresh", "wards", "--people", "distinct")[2]
