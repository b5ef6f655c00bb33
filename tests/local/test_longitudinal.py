"""The client ledger: every distinct value pays before its report leaves, repeats are free, and the cap holds."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from datetime import date, timedelta
from fractions import Fraction

import pytest

from discreet import local
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.local.longitudinal import ClientLedger, repeated
from discreet.local.protocol import Client

COLOURS = local.unary(k=8, epsilon=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.json"


@pytest.fixture
def ledger(path):
    made = local.longitudinal(path)
    made.topic("colour", COLOURS, lifetime=2.5)
    return made


def test_each_distinct_value_pays_once_and_a_repeat_is_free(ledger):
    first = ledger.report("colour", 3)
    assert ledger.spent("colour").epsilon(0) == COLOURS.loss.epsilon(0)
    assert all(ledger.report("colour", 3) == first for _ in range(20))
    assert ledger.spent("colour").epsilon(0) == COLOURS.loss.epsilon(0)
    ledger.report("colour", 4)
    assert ledger.spent("colour").epsilon(0) == pytest.approx(2)
    assert COLOURS.aggregate([first]).reports == 1


def test_a_price_is_shown_before_and_costs_nothing(ledger):
    price = ledger.price("colour", 1)
    assert (price.repeated, price.affordable, float(price.cost), float(price.left)) == (False, True, 1.0, 2.5)
    assert ledger.spent("colour").epsilon(0) == 0
    ledger.report("colour", 1)
    assert ledger.price("colour", 1).repeated
    assert "free" in str(ledger.price("colour", 1))
    assert "1.5 of 2.5 left" in str(ledger.price("colour", 2))


def test_what_exceeds_the_lifetime_is_refused_and_repeats_go_on(ledger):
    said = [ledger.report("colour", value) for value in (0, 1)]
    with pytest.raises(BudgetExceeded, match=r"0\.5 of 2\.5 remains"):
        ledger.report("colour", 2)
    assert not ledger.price("colour", 2).affordable
    assert [ledger.report("colour", value) for value in (0, 1)] == said
    assert ledger.spent("colour").epsilon(0) == pytest.approx(2)


def test_a_new_process_goes_on_where_the_last_one_stopped(path, ledger):
    said = ledger.report("colour", 5)
    again = local.longitudinal(path)
    assert again.report("colour", 5) == said
    assert again.spent("colour").epsilon(0) == pytest.approx(1)


def test_the_file_is_private_and_holds_no_value(path, ledger):
    strings = local.hadamard_count_mean_sketch(epsilon=1)
    ledger.topic("words", strings, lifetime=1)
    ledger.report("words", "a secret word")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "secret" not in path.read_text()
    assert sorted(each.name for each in path.parent.iterdir()) == ["ledger.json", "ledger.json.lock"]


def test_a_file_that_others_can_read_is_refused(path, ledger):
    path.chmod(0o644)
    with pytest.raises(Refusal, match="chmod 600"):
        ledger.price("colour", 1)


@pytest.mark.parametrize("text", ["", "{}", "\xff", '{"discreet": 1, "client_ledger": {"key": "00", "topics": {}}}'])
def test_a_damaged_file_is_refused_and_never_begun_anew(path, ledger, text):
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadParameter):
        ledger.report("colour", 1)
    assert path.read_bytes() == text.encode("latin-1")


def test_the_debit_is_on_disk_before_a_report_is_made(path, ledger, monkeypatch):
    def crash(self, value):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Client, "report", crash)
        with pytest.raises(KeyboardInterrupt):
            ledger.report("colour", 6)
    assert local.longitudinal(path).spent("colour").epsilon(0) == pytest.approx(1)
    assert local.longitudinal(path).price("colour", 6).repeated


def test_a_debit_that_cannot_be_written_lets_no_report_out(path, ledger, monkeypatch):
    def full(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space"):
            ledger.report("colour", 6)
    assert ledger.spent("colour").epsilon(0) == 0
    assert sorted(each.name for each in path.parent.iterdir()) == ["ledger.json", "ledger.json.lock"]


def test_killed_at_any_moment_it_has_paid_for_all_that_left(path, ledger):
    ledger.topic("fresh", local.randomized_response(k=2, epsilon=1), lifetime=10**6, memo=False)
    program = f"""
        from discreet import local
        ledger = local.longitudinal({str(path)!r})
        while True:
            ledger.report("fresh", 1)
            print("left", flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for _ in range(25):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        left = 25 + len(process.stdout.read().splitlines())
    paid = local.longitudinal(path).spent("fresh").epsilon(0)
    assert left - 1e-6 <= paid <= left + 2


def test_threads_do_not_spend_the_same_budget_twice(ledger):
    ledger.topic("fresh", local.randomized_response(k=2, epsilon=1), lifetime=10, memo=False)
    said = []

    def some():
        for _ in range(4):
            try:
                said.append(ledger.report("fresh", 0))
            except BudgetExceeded:
                return

    threads = [threading.Thread(target=some) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 10
    assert ledger.spent("fresh").epsilon(0) == pytest.approx(10)


def test_without_a_memo_every_report_pays(ledger):
    ledger.topic("fresh", COLOURS, lifetime=3, memo=False)
    for _ in range(3):
        assert not ledger.price("fresh", 1).repeated
        ledger.report("fresh", 1)
    with pytest.raises(BudgetExceeded, match="each report pays again"):
        ledger.report("fresh", 1)


def test_a_day_has_its_limit_and_a_clock_set_back_begins_no_new_one(path):
    today = [date(2026, 1, 5)]
    ledger = ClientLedger(path, lambda: today[0])
    words = local.count_mean_sketch(k=50, epsilon=1, reports_per_day=2)
    ledger.topic("words", words, lifetime=100, memo=False)
    for _ in range(2):
        ledger.report("words", 1)
    with pytest.raises(Refusal, match="tomorrow"):
        ledger.report("words", 1)
    today[0] -= timedelta(days=3)
    with pytest.raises(Refusal, match="tomorrow"):
        ledger.report("words", 1)
    today[0] += timedelta(days=4)
    ledger.report("words", 1)
    assert ledger.spent("words").epsilon(0) == pytest.approx(3)


def test_a_lifetime_never_rises_and_what_was_spent_stays_spent(ledger):
    ledger.report("colour", 1)
    with pytest.raises(BadParameter, match="guarantee"):
        ledger.topic("colour", COLOURS, lifetime=3)
    other = local.hadamard(k=8, epsilon=1)
    ledger.topic("colour", other, lifetime=2)
    assert ledger.spent("colour").epsilon(0) == pytest.approx(1)
    # Another protocol answers afresh: the same value pays again.
    assert not ledger.price("colour", 1).repeated
    ledger.report("colour", 1)
    with pytest.raises(BudgetExceeded):
        ledger.report("colour", 2)


def test_topics_have_answers_of_their_own(ledger):
    ledger.topic("shade", COLOURS, lifetime=100)
    ledger.topic("tint", COLOURS, lifetime=100)
    assert [ledger.report("shade", v) for v in range(8)] != [ledger.report("tint", v) for v in range(8)]
    with pytest.raises(UnknownName, match="shade"):
        ledger.report("shad", 1)


def test_rappor_pays_for_ever_and_reports_afresh(ledger):
    protocol = local.rappor(candidates=("a", "b"))
    ledger.topic("pages", protocol, lifetime=100)
    assert float(ledger.price("pages", "a").cost) == protocol.loss_forever.epsilon(0) > protocol.loss.epsilon(0)
    assert len({ledger.report("pages", "a") for _ in range(12)}) > 1
    assert ledger.spent("pages").epsilon(0) == protocol.loss_forever.epsilon(0)


def test_telemetry_remembers_whole_answers_so_that_values_add_up(ledger):
    # Its own client shares alpha between values, and no epsilon covers a change; see its history.
    ledger.topic("hours", local.one_bit_mean(0, 24, 1, step=1), lifetime=100)
    said = [ledger.report("hours", hours) for hours in range(25)]
    assert [ledger.report("hours", hours) for hours in range(25)] == said
    assert ledger.spent("hours").epsilon(0) == pytest.approx(25)


def test_a_value_that_is_none_is_refused_and_costs_nothing(ledger):
    with pytest.raises(BadParameter, match="values"):
        ledger.report("colour", 8)
    assert ledger.spent("colour").epsilon(0) == 0


def test_a_question_asked_again_and_again_is_answered_for_good():
    survey = local.randomized_response(truth=Fraction(3, 4))
    often = repeated(survey, 21)
    assert often.recovered == pytest.approx(0.9936, abs=5e-5)
    assert often.epsilon == pytest.approx(21 * 1.0986, rel=1e-4)
    assert often.memo == pytest.approx(1.0986, rel=1e-4)
    assert often.once == 0.75
    assert repeated(survey, 1).recovered == 0.75
    assert repeated(survey, 2).recovered == 0.75
    assert "21 fresh answers" in str(often)


@pytest.mark.parametrize("wrong", [{"lifetime": 0}, {"lifetime": -1}, {"per_day": 0}], ids=repr)
def test_a_topic_that_promises_nothing_is_refused(ledger, wrong):
    with pytest.raises(BadParameter):
        ledger.topic("other", COLOURS, **{"lifetime": 1, **wrong})


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadParameter, match="folder"):
        local.longitudinal(tmp_path / "none" / "ledger.json")


@pytest.mark.parametrize("published", [False, True])
def test_a_topic_that_goes_on_under_another_rappor_answers_independently(tmp_path, published):
    # With the same coins a bit that f = 3/4 left as it is and f = 1/4 turned over is impossible: no epsilon covers it.
    seen = set()
    for at in range(6):
        ledger = local.longitudinal(tmp_path / f"{at}.json")
        said = []
        for f in (Fraction(3, 4), Fraction(1, 4)):
            protocol = local.rappor(32, 1, 1, f, 0, 1, published=published)
            ledger.topic("pages", protocol, lifetime=1000)
            said.append(int.from_bytes(ledger.report("pages", "ada"), "little"))
        truth = protocol.client(bytes(32)).bloom("ada")
        wrong = [each ^ truth for each in said]
        seen |= {(bool(wrong[0] >> bit & 1), bool(wrong[1] >> bit & 1)) for bit in range(32)}
    # Independent coins do so at each of 192 bits with a chance of (5/8)(1/8): never, with a chance below 1e-6.
    assert (False, True) in seen


@pytest.mark.parametrize("published", [False, True])
def test_values_of_one_filter_are_answered_apart_because_they_pay_apart(tmp_path, published):
    protocol = local.rappor(32, 1, 1, 0.5, 0, 1, published=published)
    client = protocol.client(bytes(32))
    words = [word for word in map(str, range(300)) if client.bloom(word) == 1][:2]
    ledger = local.longitudinal(tmp_path / "ledger.json")
    ledger.topic("pages", protocol, lifetime=1000)
    first, second = (ledger.report("pages", word) for word in words)
    assert ledger.report("pages", words[0]) == first
    assert first != second  # but for a chance of (5/8)^32, below 1e-6


def test_a_path_that_is_no_plain_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("folder", "link"):
        with pytest.raises(BadParameter, match="plain file"):
            local.longitudinal(tmp_path / name)
