"""discreet demo: a table and a picture of samples against the exact distribution."""

import builtins
import json
import math

import pytest

from discreet.cli._sampled import gaussian, laplace, sample
from discreet.cli.main import main


@pytest.mark.parametrize("law", [laplace, gaussian])
@pytest.mark.parametrize("scale", [1, 2, 10])
def test_the_exact_probabilities_sum_to_one(law, scale):
    assert math.fsum(law(k, scale) for k in range(-50 * scale, 50 * scale + 1)) == pytest.approx(1, abs=1e-14)


def test_the_shares_are_those_of_the_samples():
    sampled = sample("laplace", 2, 1000)
    assert sum(sampled.counts.values()) == 1000
    (row,) = sampled.rows([0])
    assert row.share == sampled.counts[0] / 1000
    error = math.sqrt(row.probability * (1 - row.probability) / 1000)
    assert row.standard_errors == pytest.approx((row.share - row.probability) / error)


def test_it_prints_two_tables_and_says_where_the_plot_is(capsys, tmp_path):
    picture = tmp_path / "new" / "noise.png"
    assert main(["demo", "--samples", "2000", "--out", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "Discrete Laplace, scale 2" in out
    assert "Discrete Gaussian, sigma 2" in out
    assert "noise.png" in "".join(out.split())
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_row_of_the_tables(capsys, tmp_path):
    assert main(["demo", "--samples", "500", "--out", str(tmp_path / "n.png"), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result["samples"] == 500
    assert [row["value"] for row in result["distributions"]["gaussian"]["rows"]] == list(range(-5, 6))


@pytest.mark.parametrize("samples", ["0", "-5", "many"])
def test_a_count_that_makes_no_sense_is_refused(capsys, tmp_path, samples):
    assert main(["demo", "--samples", samples, "--out", str(tmp_path / "n.png")]) == 2
    assert "--samples" in capsys.readouterr().err


def test_one_sample_is_enough_for_a_picture(capsys, tmp_path):
    assert main(["demo", "--samples", "1", "--out", str(tmp_path / "n.png")]) == 0
    assert (tmp_path / "n.png").exists()


def test_without_matplotlib_the_pip_line_is_given(capsys, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["demo", "--samples", "10", "--out", str(tmp_path / "n.png")]) == 4
    assert "pip install 'discreet[plot]'" in capsys.readouterr().err
