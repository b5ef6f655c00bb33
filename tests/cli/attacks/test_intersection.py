"""discreet attack intersection: two made hospitals, and two files of one's own."""

import pytest

FIRST = "age,zip,ill\n20-29,479*,flu\n20-29,479*,aids\n20-29,479*,cold\n30-39,479*,cold\n30-39,479*,flu\n"
SECOND = 'age,zip,ill\n25-34,4790*,aids\n25-34,4790*,gout\n"[35, 60)",4790*,cold\n"[35, 60)",4790*,flu\n'
OWN = ("--releases", "a.csv", "b.csv", "--quasi", "age", "--quasi", "zip", "--sensitive", "ill")


@pytest.fixture
def own(folder):
    (folder / "a.csv").write_text(FIRST)
    (folder / "b.csv").write_text(SECOND)
    return OWN


def test_two_releases_of_the_shipped_table_fall_and_two_with_noise_hold(result):
    found = result("attack", "intersection", "--sensitive", "visits")["outcomes"]
    assert [each["verdict"] for each in found] == ["succeeds", "bounded"]
    assert found[0]["figures"]["narrowed"] > 0.5


def test_files_of_ones_own_are_intersected(result, own):
    (found,) = result("attack", "intersection", *own)["outcomes"]
    assert found["figures"]["people"] == 2
    assert found["verdict"] == "succeeds"  # for one of two, and neither release leaves one value to anybody


def test_people_whom_the_attacker_knows_are_looked_up(result, own, folder):
    (folder / "known.csv").write_text("name,age,zip\nAnn,28,47905\nBob,36,47906\n")
    (found,) = result("attack", "intersection", *own, "--table", "known.csv")["outcomes"]
    assert found["figures"] == {
        "people": 2,
        "narrowed": 0.5,
        "disclosed": 0.5,
        "disclosed_alone": 0.0,
        "guessed_right": None,
        "guessed_right_without_the_person": None,
    }


def test_the_picture_is_drawn(run, own, folder):
    code, out, _ = run("attack", "intersection", *own, "--plot", "left.svg")
    assert code == 0
    assert "succeeds" in out
    assert (folder / "left.svg").exists()


@pytest.mark.parametrize(
    "words",
    [("--releases", "a.csv", "b.csv"), (*OWN[:3], "--quasi", "nothing", "--sensitive", "ill"), ("--k", "100000")],
)
def test_what_makes_no_sense_is_refused(run, own, words):
    code, _, err = run("attack", "intersection", *words)
    assert code == 2
    assert "fix" in err
