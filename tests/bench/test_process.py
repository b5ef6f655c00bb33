"""Workers: they answer, and their failures are answers too."""

import sys
import time
from pathlib import Path

import pytest
from bench.harness.process import Worker, WorkerFailed
from bench.harness.worker import Bench

from tests.bench.helpers import FAKE


@pytest.fixture
def worker():
    with Worker(Path(sys.executable), FAKE) as one:
        yield one


def prepare(worker: Worker, function: str, **arguments: object) -> None:
    worker.ask(30, do="prepare", function=function, arguments=arguments)


def test_a_worker_measures_the_call_and_not_the_pipe(worker):
    prepare(worker, "sleep", seconds=0.02)
    answer = worker.ask(30, do="measure", seconds=0.0)
    assert answer["calls"] == 1
    assert answer["figure"] >= 0.02


def test_a_short_call_is_repeated_until_its_slice_is_filled(worker):
    prepare(worker, "sleep", seconds=0.0005)
    answer = worker.ask(30, do="measure", seconds=0.02)
    assert answer["calls"] > 1
    assert answer["calls"] * answer["figure"] >= 0.02


def test_what_a_task_prints_does_not_reach_the_answers(worker):
    prepare(worker, "noisy")
    assert worker.ask(30, do="report")["figure"] == 2.0


def test_a_worker_and_what_it_starts_find_the_tree_of_the_harness_and_no_other(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "of_the_tree.py").touch()
    (tmp_path / "of_the_caller.py").touch()
    monkeypatch.setattr("bench.harness.process.SOURCE", tmp_path / "here")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Worker(Path(sys.executable), FAKE) as worker:
        for module, found in (("of_the_tree", 1.0), ("of_the_caller", 0.0)):
            prepare(worker, "finds", module=module)
            assert worker.ask(30, do="report")["figure"] == found


def test_a_worker_names_its_versions(worker):
    answer = worker.ask(30, do="describe", packages=["rich", "no-such-package"])
    assert answer["python"].startswith("3.")
    assert answer["packages"]["rich"][0].isdigit()
    assert answer["packages"]["no-such-package"] == "of unknown version"


@pytest.mark.parametrize(
    ("function", "why"),
    [
        ("fail", "ValueError: this task always fails"),
        ("words", "TypeError: a reporting task returns a number, not 'many'"),
    ],
)
def test_a_task_that_fails_leaves_the_worker_alive(worker, function, why):
    prepare(worker, function)
    with pytest.raises(WorkerFailed, match=why) as caught:
        worker.ask(30, do="report")
    assert caught.value.alive
    prepare(worker, "process")
    assert worker.ask(30, do="report")["figure"] > 0


def test_a_task_that_cannot_be_prepared_is_not_called(worker):
    prepare(worker, "process")
    with pytest.raises(WorkerFailed, match="nothing to set up"):
        prepare(worker, "fail_to_prepare")
    with pytest.raises(WorkerFailed, match="nothing is prepared"):
        worker.ask(30, do="report")


def test_a_crash_is_told_with_its_status_and_last_words(worker):
    prepare(worker, "crash")
    with pytest.raises(WorkerFailed, match="status 7: dying now") as caught:
        worker.ask(30, do="report")
    assert not caught.value.alive


def test_a_silent_worker_is_given_up_in_time(worker):
    prepare(worker, "silent")
    start = time.perf_counter()
    with pytest.raises(WorkerFailed, match=r"no answer in 0\.2 s") as caught:
        worker.ask(0.2, do="report")
    assert not caught.value.alive
    assert time.perf_counter() - start < 5


def test_a_worker_may_be_closed_twice_and_then_answers_no_more(worker):
    worker.close()
    worker.close()
    with pytest.raises((WorkerFailed, ValueError)):
        worker.ask(1, do="report")


def test_a_task_file_that_does_not_exist_is_a_failure_not_a_crash():
    with Worker(Path(sys.executable), FAKE.with_name("absent.py")) as worker:
        with pytest.raises(WorkerFailed, match=r"FileNotFoundError.*absent\.py") as caught:
            prepare(worker, "process")
        assert caught.value.alive


def test_an_interpreter_that_is_not_there_is_a_failure_not_a_crash(tmp_path):
    with pytest.raises(WorkerFailed, match="its interpreter does not start") as caught:
        Worker(tmp_path / "python", FAKE)
    assert not caught.value.alive


def test_blocks_of_calls_keep_to_the_slice():
    bench = Bench(str(FAKE))
    bench.prepare("sleep", {"seconds": 0.001})
    answer = bench.measure(0.04)
    assert answer["calls"] * answer["figure"] < 1.0
