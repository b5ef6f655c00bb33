"""discreet account deployments: the table, its JSON, another delta, and bars."""

from discreet.account.deployments import DEPLOYMENTS
from discreet.cli.shared.exits import Exit


def test_everybody_is_in_the_table(folder, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    code, out, _ = run("account", "deployments")
    assert code == Exit.DONE
    assert all(each.product in out for each in DEPLOYMENTS)
    assert "upper bounds, by composition" in out


def test_json_is_sorted_by_the_scale_and_names_its_delta(folder, result):
    found = result("account", "deployments", "--delta", "1e-5")
    assert found["delta"] == 1e-5
    placed = [each["epsilon"] for each in found["deployments"] if each["epsilon"] is not None]
    assert placed == sorted(placed)
    assert len(found["deployments"]) == len(DEPLOYMENTS) == len(placed) + 1  # RAPPOR's parameters were not told


def test_bars_are_drawn(folder, run):
    code, out, _ = run("account", "deployments", "--plot", "deployments.svg")
    assert code == Exit.DONE
    assert "deployments.svg" in out
    assert (
        "Wikimedia" in (folder / "deployments.svg").read_text() or (folder / "deployments.svg").stat().st_size > 20000
    )


def test_a_delta_that_is_no_probability_is_refused(folder, run):
    code, _, err = run("account", "deployments", "--delta", "2")
    assert code == Exit.USAGE
    assert "delta" in err
