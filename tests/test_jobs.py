"""Long runs of many jobs: records of what is done are kept, and what is left is done."""

import pytest

from tests import jobs


def doubled(key, folder):
    if key == "bad":
        raise ValueError(folder)
    return {"twice": 2 * int(key)}


def test_a_run_that_was_broken_off_goes_on_with_what_is_left(tmp_path):
    file = tmp_path / "records.jsonl"
    seen = []
    jobs.run(doubled, ["1"], file, 1, print_="a")
    with pytest.raises(ValueError, match="discreet-jobs"):
        jobs.run(doubled, ["1", "bad"], file, 1, print_="a")
    with file.open("a") as broken:
        broken.write('["2", {"twi')
    records = jobs.run(doubled, ["2", "1"], file, 1, say=lambda key, _: seen.append(key), print_="a")
    assert (records, seen) == ({"2": {"twice": 4}, "1": {"twice": 2}}, ["2"])
    assert jobs.run(doubled, ["1", "2"], file, 1, print_="a") == records
    assert jobs.remembered(file, "b") == {}


def test_the_parts_of_several_machines_are_all_of_the_jobs():
    assert sorted(key for at in (1, 2, 3) for key in jobs.part("abcdefg", f"{at}/3")) == list("abcdefg")


def test_a_table_is_written_between_its_marks_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- t -->\nold\n<!-- end of t -->\nb\n")
    for _ in range(2):
        jobs.rewritten(page, "t", ["| new |"])
    assert page.read_text() == "a\n<!-- t -->\n\n| new |\n\n<!-- end of t -->\nb\n"
    with pytest.raises(ValueError, match="has no"):
        jobs.rewritten(page, "other", [])
