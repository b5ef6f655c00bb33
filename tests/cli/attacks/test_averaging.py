"""discreet attack averaging: without an account, at a vault, and in a survey."""

import pytest


def test_a_count_is_averaged_where_nobody_keeps_an_account(result, folder):
    (folder / "clinic.csv").write_text("ill\n" + "yes\nno\n" * 40)
    found = result("attack", "averaging", "--table", "clinic.csv", "--times", "200", "--plot", "error.png")
    assert [each["verdict"] for each in found["outcomes"]] == ["succeeds", "bounded", "succeeds", "bounded"]
    fresh, vault, survey, _ = found["outcomes"]
    assert fresh["figures"]["epsilon"] == 100
    assert vault["figures"]["distinct"] == 1
    assert vault["figures"]["spent"] == 1
    assert survey["figures"]["computed"] == pytest.approx(0.9936, abs=5e-5)
    assert (folder / "error.png").stat().st_size > 1000


def test_people_are_told_in_sentences(run, folder):
    (folder / "clinic.csv").write_text("ill\nyes\nno\n")
    code, out, _ = run(
        "attack", "averaging", "--table", "clinic.csv", "--times", "3", "--survey", "3", "--total", "1/2"
    )
    assert code == 0
    assert "refused" in out


@pytest.mark.parametrize("words", [("--epsilon", "none"), ("--times", "0"), ("--secret", "sick"), ("--value", "maybe")])
def test_what_makes_no_sense_is_refused(run, folder, words):
    (folder / "clinic.csv").write_text("ill\nyes\nno\n")
    code, _, err = run("attack", "averaging", "--table", "clinic.csv", *words)
    assert code == 2
    assert "fix" in err


def test_a_table_without_anything_to_count_is_refused(run, folder):
    (folder / "dull.csv").write_text("a\n1\n1\n")
    code, _, err = run("attack", "averaging", "--table", "dull.csv")
    assert code == 2
    assert "--secret" in err
