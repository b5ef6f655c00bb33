"""discreet attack traitor: decoders, the numbers of questions, a picture of the stages."""

import json

from discreet.cli.main import main
from discreet.cli.shared.exits import Exit
from discreet.testing import seeded

FEW = ["attack", "traitor", "--users", "8", "--runs", "12", "--repetitions", "100"]


def test_useful_decoders_are_traced_and_the_private_one_is_not(capsys, tmp_path):
    plot = tmp_path / "stages.svg"
    with seeded(55):
        assert main([*FEW, "--target", "exact", "--plot", str(plot), "--json"]) == Exit.DONE
    result = json.loads(capsys.readouterr().out)["result"]
    assert [outcome["verdict"] for outcome in result["outcomes"]] == ["succeeds", "succeeds", "bounded"]
    assert result["outcomes"][0]["figures"]["questions"] == 100 * 9
    assert result["counts"][0] == {"users": 5, "repetitions": 25, "staircase": 150, "fingerprinting": 1908}
    assert plot.exists()


def test_people_read_how_many_questions_it_takes(capsys):
    with seeded(56):
        assert main([*FEW, "--target", "exact", "--coalition", "2"]) == Exit.DONE
    shown = capsys.readouterr().out
    for word in ("staircase, n^3", "1,010,000", "jump by", "12 of 12 decoders"):
        assert word in shown
