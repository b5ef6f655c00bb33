"""Exactly once: a collector is killed in the middle of its work, again and again, and every report counts once."""

import pytest
from bench.tasks.local_collector import collected


# The task compares the sketch with that of all reports, cell by cell, and fails where a report is missing or double.
def test_each_report_is_counted_once_though_the_collector_is_killed():
    assert collected(reports=60_000, batch=200, kills=3, senders=4)() > 0


@pytest.mark.soak
def test_each_of_a_million_reports_is_counted_once_though_the_collector_is_killed_ten_times():
    assert collected(reports=1_000_000, batch=1_000, kills=10)() > 0
