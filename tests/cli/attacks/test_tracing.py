"""discreet attack tracing: a table or made-up people, several targets, a picture."""

import json

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.testing import seeded


def test_the_shipped_table_falls_and_holds(capsys):
    with seeded(50):
        assert main(["attack", "tracing", "--target", "exact", "--target", "laplace:1"]) == Exit.DONE
    shown = capsys.readouterr().out
    for word in ("tracing", "exact", "succeeds", "Discreet, epsilon 1 in all", "bounded", "73.1%"):
        assert word in shown


def test_made_up_people_are_drawn_against_the_number_of_attributes(capsys, tmp_path):
    plot = tmp_path / "climb.svg"
    words = ["attack", "tracing", "--made", "300", "--people", "30", "--target", "exact", "--plot", str(plot), "--json"]
    with seeded(51):
        assert main(words) == Exit.DONE
    (outcome,) = json.loads(capsys.readouterr().out)["result"]["outcomes"]
    assert outcome["verdict"] == "succeeds"
    assert outcome["figures"]["attributes"] == 300
    assert outcome["figures"]["people"] == 30
    assert plot.read_text(encoding="utf-8").count("<svg") == 1


def test_a_table_of_ones_own_is_traced(capsys, tmp_path):
    table = tmp_path / "people.csv"
    rows = [f"{row},{row * 37 % 11},{row * 17 % 7},{row * 13 % 5}" for row in range(60)]
    table.write_text("\n".join(["id,a,b,c", *rows]), encoding="utf-8")
    with seeded(52):
        assert main(["attack", "tracing", "--table", str(table), "--identifier", "id", "--json"]) == Exit.DONE
    outcomes = json.loads(capsys.readouterr().out)["result"]["outcomes"]
    assert [outcome["figures"]["people"] for outcome in outcomes] == [30] * 4


def test_an_unknown_target_is_refused_with_the_nearest(capsys):
    assert main(["attack", "tracing", "--target", "exakt"]) != Exit.DONE
    assert "exact" in capsys.readouterr().err
