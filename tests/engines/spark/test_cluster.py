"""Spark with executors of its own: ten stories, what is logged, and a table larger than the driver's memory."""

import re
from functools import cache

import pytest

from discreet.ledger import QuestionFailed
from tests.engines.spark.stories import STORIES
from tests.spark import alone

pytestmark = [pytest.mark.xdist_group("spark"), pytest.mark.slow]

MASTER = "local-cluster[2,1,1024]"


@cache
def stories():
    """All stories, told once, in a process of its own: executors are processes too."""
    return alone("tests.engines.spark.stories", MASTER, 3000, 300)


@pytest.mark.parametrize("story", STORIES)
def test_executors_answer_with_the_integers_of_duckdb(story):
    found = stories()[0]["answers"][story]
    assert found["spark"] == found["duckdb"]
    assert any(number for rows in found["spark"] for row in rows for number in row)


def test_no_log_shows_the_secret_order():
    found, log = stories()
    logs = found["logs"]
    assert (logs["shown"], logs["plans"]) == ([], True)
    assert logs["bytes"] > 100_000
    order = {str(number) for row in found["order"] for number in row}
    printed = log.replace(log.splitlines()[-1], "") if "answers" in log.splitlines()[-1] else log
    assert "INFO" in printed
    assert not order & set(re.findall(r"\d+", printed))


def test_a_folder_larger_than_the_drivers_memory_is_answered():
    found, _ = alone("tests.engines.spark.large", 200_000, 80, "480m")
    assert found["bytes"] > 480 << 20
    assert found["spark"] == found["duckdb"]


def test_a_java_process_killed_in_mid_question_fails_it_for_good_in_one_text(tmp_path):
    first, log = alone("tests.engines.spark.killed", tmp_path, "first")
    assert first["told"] == str(QuestionFailed())
    assert first["before"] != first["after"]
    assert "SELECT" not in log  # nor is a statement shown, or what it was about
    assert "visits" not in log
    again, _ = alone("tests.engines.spark.killed", tmp_path, "again")
    assert (again["told"], again["cells"]) == (str(QuestionFailed()), 3)
    assert again["before"] == again["after"] == first["after"]  # asking again costs nothing, and tells nothing


@pytest.mark.soak
def test_a_folder_much_larger_than_the_drivers_memory_is_answered():
    found, _ = alone("tests.engines.spark.large", 10_000_000, 8, "480m", seconds=1800)
    assert found["bytes"] > 5 * (480 << 20)
    assert found["spark"] == found["duckdb"]
