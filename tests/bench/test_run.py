"""Runs: interleaving, medians per item, and going on when someone fails."""

from bench.harness.bar import faster
from bench.harness.case import Case, Participant, Task
from bench.harness.crew import Crew
from bench.harness.run import order, run_area
from bench.harness.watch import Quiet

from tests.bench.helpers import FAKE, area, reported, run, series


def test_the_order_of_turns_rotates():
    assert [order(["x", "a", "b"], repetition) for repetition in range(4)] == [
        ["x", "a", "b"],
        ["a", "b", "x"],
        ["b", "x", "a"],
        ["x", "a", "b"],
    ]


def test_everyone_takes_turns(tmp_path):
    path = tmp_path / "turns"
    ours, a, b = (Task("log", {"path": str(path), "name": name}) for name in ("ours", "a", "b"))
    run(reported(ours=ours, peers={"a": a, "b": b}))
    assert path.read_text().split() == ["ours", "a", "b", "a", "b", "ours", "b", "ours", "a"]


def test_warmups_are_made_and_not_counted():
    (outcome,) = run(reported(ours=series(100, 100, 1, 2, 3), warmups=2)).outcomes
    assert outcome.samples["discreet"].values == (1, 2, 3)


def test_figures_are_medians_per_item_also_where_sizes_differ():
    case = reported(ours=series(30, 10, 20, items=10), peers={"a": series(900, 400, 500, items=100)})
    (outcome,) = run(case).outcomes
    assert outcome.figures == {"discreet": 2.0, "a": 5.0}
    assert outcome.ratio("a") == 2.5


def test_the_spread_is_the_distance_between_quartiles():
    (outcome,) = run(reported(ours=series(5, 1, 3, 2, 4), repetitions=5)).outcomes
    assert outcome.samples["discreet"].spread == (2.0, 4.0)


def test_times_are_taken_where_nothing_is_reported():
    case = Case("sleep", Task("sleep", {"seconds": 0.001}), {"a": Task("sleep", {"seconds": 0.02})}, repetitions=3)
    (outcome,) = run(case).outcomes
    assert outcome.figures["discreet"] >= 0.001
    assert outcome.figures["a"] >= 0.02


def test_fewer_repetitions_can_be_asked_for_and_never_more():
    case = reported(ours=series(*range(1, 9)), repetitions=4)
    assert len(run(case, most=2).outcomes[0].samples["discreet"].values) == 2
    assert len(run(case, most=9).outcomes[0].samples["discreet"].values) == 4


def test_one_worker_serves_all_cases_unless_a_case_asks_for_a_fresh_one():
    again = reported(ours=Task("process"), repetitions=1)
    fresh = reported(ours=Task("process"), repetitions=1, fresh=True)
    first, second, third, fourth = (outcome.figures["discreet"] for outcome in run(again, again, fresh, again).outcomes)
    assert first == second
    assert len({second, third, fourth}) == 3


def test_a_failure_costs_one_participant_one_case():
    bad = reported("bad", ours=series(1, 1, 1), peers={"a": Task("fail"), "b": series(2, 2, 2)}, bars=(faster("a", 1),))
    good = reported("good", ours=series(1, 1, 1), peers={"a": series(3, 3, 3)})
    result = run(bad, good)
    assert result.outcomes[0].failures == {"a": "ValueError: this task always fails"}
    assert result.outcomes[0].ratio("b") == 2.0
    assert result.outcomes[1].ratio("a") == 3.0
    assert result.misses == ["fake: bad: a failed: ValueError: this task always fails"]


def test_a_crash_is_followed_by_a_fresh_worker():
    crash = reported("crash", ours=Task("crash"), peers={"a": series(1, 1, 1)}, bars=(faster("a", 1),))
    result = run(crash, reported("after", ours=series(4, 4, 4)))
    assert result.outcomes[0].failures == {"discreet": "the worker ended with status 7: dying now"}
    assert result.outcomes[0].missed
    assert result.outcomes[1].figures == {"discreet": 4.0}


def test_a_silent_task_is_given_up_and_the_run_goes_on():
    silent = reported("silent", ours=Task("silent"), peers={"a": series(1, 1, 1)}, timeout=0.5)
    result = run(silent, reported("after", ours=series(4, 4, 4)))
    assert result.outcomes[0].failures == {"discreet": "no answer in 0.5 s"}
    assert result.outcomes[1].figures == {"discreet": 4.0}


def test_figures_taken_before_a_failure_do_not_count():
    (outcome,) = run(reported(ours=series(1, 2))).outcomes
    assert outcome.samples["discreet"].values == (1, 2)
    assert "StopIteration" in outcome.failures["discreet"]
    assert outcome.figures == {}


def test_no_worker_outlives_its_crew():
    with Crew(area(), Quiet()) as crew:
        crew.ask("a", 30, do="prepare", function="process", arguments={})
        worker = crew._workers["a"]
    assert worker._process.returncode is not None


def test_versions_say_what_ran():
    peers = (Participant("a", FAKE, package="rich"),)
    result = run_area("fake", area(reported(ours=series(1, 1, 1), peers={"a": series(1, 1, 1)}), peers=peers), Quiet())
    assert result.versions["discreet"].startswith("Python 3.")
    assert result.versions["a"].startswith("rich ")
