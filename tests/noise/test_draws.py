"""Draws: the same label, the same bits; no order, no history, no thread and no fork changes them."""

import os
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import pytest

from discreet import noise
from discreet.core.errors import BadParameter, Refusal
from discreet.mechanisms.key_selection import KeySelection
from discreet.mechanisms.quantile import Quantile
from discreet.noise import bits, sampling
from discreet.noise.draws import Draws, _stream, new_key
from discreet.testing import seeded

KEY = bytes(range(32))
SCALES = [Fraction(1, 1000), Fraction(7, 3), 40, 10**6, 10**30, Fraction(1, 10**50)]


def everything(draws):
    """A value of every sampler, single and many, and of mechanisms that choose."""
    found = []
    for scale in SCALES:
        for law in ("laplace", "gaussian", "geometric"):
            for size in (None, 3, 600):
                with draws.at(f"{law} {scale} {size}"):
                    drawn = getattr(noise, law)(scale, size)
                found.append(drawn if size is None else drawn.tolist())
    with draws.at("uniform"):
        found.append([noise.uniform(10, 5).tolist(), noise.uniform(2**70), noise.bernoulli(0.3, 50).tolist()])
    with draws.at("keys"):
        found.append(KeySelection(epsilon=1, delta=0.01).release({f"k{n}": n for n in range(40)}))
    with draws.at("quantile"):
        found.append(Quantile(q=0.5, low=0, high=1000, step=1, epsilon=1)([*range(0, 900, 7)]))
    return found


def test_the_same_key_and_label_give_the_same_values_in_any_order():
    def drawn(labels):
        draws, found = Draws(KEY), {}
        for label in labels:
            with draws.at(label):
                found[label] = noise.laplace(10, 20).tolist()
        return found

    assert drawn("abc") == drawn("cab")
    assert len({str(values) for values in drawn("abcdef").values()}) == 6


def test_other_keys_labels_and_parts_give_other_bits():
    seen = set()
    for key in (KEY, new_key(), new_key()):
        draws = Draws(key)
        for each in (draws, draws.part("a"), draws.part("b"), draws.part("label")):
            for label in ("a", "b", "part", f"{'column ' * 40}n", f"{'column ' * 40}s"):
                with each.at(label):
                    seen.add(bits.current().bits(128))
    assert len(seen) == 3 * 4 * 5


def test_a_label_and_a_part_are_used_once():
    draws = Draws(KEY)
    with draws.at("n"):
        pass
    with pytest.raises(BadParameter, match="drawn again"), draws.at("n"):
        pass
    draws.part("n")
    with pytest.raises(BadParameter, match="drawn from again"):
        draws.part("n")


def test_a_key_of_another_length_is_refused_and_no_text_shows_it():
    with pytest.raises(BadParameter, match="32 bytes"):
        Draws(b"short")
    assert repr(Draws(KEY)) == "Draws(hidden)"


def test_neither_a_cold_nor_a_warm_cache_changes_what_is_drawn():
    sampling.clear()
    cold = everything(Draws(KEY))
    for scale in SCALES:
        for law in ("laplace", "gaussian", "geometric"):
            getattr(noise, law)(scale, 1000)
    warm = everything(Draws(KEY))
    assert cold == warm


def test_another_process_with_another_hash_seed_draws_the_same():
    code = "from tests.noise.test_draws import *; print(repr(everything(Draws(KEY))))"
    for seed in ("0", "4711"):
        env = {**os.environ, "PYTHONHASHSEED": seed}
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
        assert told.stdout.strip() == repr(everything(Draws(KEY)))


def test_other_threads_draw_from_the_operating_system_meanwhile():
    found = []

    def other():
        found.append(bits.current())

    with Draws(KEY).at("n"):
        mine = bits.current()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert bits.current() is mine
    assert mine.fixed
    assert not found[0].fixed
    assert not bits.current().fixed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_goes_on_with_the_same_draws():
    code = """
import os, sys
from discreet import noise
from discreet.noise.draws import Draws
with Draws(bytes(range(32))).at("n"):
    noise.laplace(10)
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, str(noise.laplace(10**9)).encode())
        os._exit(0)
    os.wait()
    assert os.read(read, 100).decode() == str(noise.laplace(10**9))
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_new_key_comes_from_the_system_even_inside_a_label():
    with Draws(KEY).at("n"):
        first = new_key()
    with Draws(KEY).at("n"):
        assert new_key() != first
    with seeded(1):
        known = new_key()
    with seeded(1):
        assert new_key() == known


def test_a_fixed_stream_is_gone_with_its_block_however_that_was_left():
    def left_open():
        bits.drawing(bits.BitSource(fixed=True)).__enter__()  # as an interrupt would have it that comes before the end

    left_open()
    assert not bits.current().fixed
    kept = Draws(KEY).at("n")
    kept.__enter__()
    assert bits.current().fixed
    bits.let_go()
    assert not bits.current().fixed


def test_a_fixed_stream_hands_out_nothing_after_its_block():
    with Draws(KEY).at("n"):
        mine = bits.current()
        mine.bits(8)
    with pytest.raises(Refusal, match="has ended"):
        mine.bits(8)
    with pytest.raises(Refusal, match="has ended"):
        mine.words(3, 16)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an interrupt inside a destructor
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers")
def test_interrupts_at_any_moment_leave_no_fixed_stream():
    def interrupt(*_):
        raise KeyboardInterrupt

    before, kept = signal.signal(signal.SIGALRM, interrupt), []
    try:
        for number in range(300):
            try:
                end = time.monotonic() + 0.05  # an interrupt that a destructor swallows ends no loop
                signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + number % 20))
                while time.monotonic() < end:
                    with bits.drawing(bits.BitSource(fixed=True)):
                        pass
            except KeyboardInterrupt as error:
                kept.append(error)  # as a notebook does
                bits.let_go()  # what a ledger does before and after any work
            assert not bits.current().fixed
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_substream_that_outlives_its_key_goes_on_with_another():
    keys, again = _stream(KEY), _stream(KEY)
    found = [keys(32) for _ in range(5)]
    assert len({*found}) == 5
    assert [again(32) for _ in range(5)] == found
