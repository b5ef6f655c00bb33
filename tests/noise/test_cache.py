"""Tables in memory: bounded, shared, and only for scales in use."""

import os
import threading

import numpy as np
import pytest

from discreet import noise
from discreet.noise import sampling


@pytest.fixture(autouse=True)
def empty():
    sampling.clear()
    yield
    sampling.clear()


def test_memory_stays_bounded_and_the_least_used_goes_first(monkeypatch):
    monkeypatch.setattr(sampling, "LIMIT", 1 << 20)
    keep = ("laplace", (1, 1))
    noise.laplace(1, 1000)
    for step in range(1, 30):
        noise.gaussian(1 + step / 7, 1000)
        noise.laplace(1, 1000)
        assert sampling.bytes_held() <= 1 << 20
        assert keep in sampling._samplers
    assert sampling.bytes_held() == sum(s.nbytes for s in sampling._samplers.values())
    assert len(sampling._samplers) < 30


def test_nothing_is_built_for_a_scale_drawn_rarely():
    for _ in range(20):
        noise.laplace(3.25)
    assert noise.laplace(3.25, 10).shape == (10,)
    assert sampling.bytes_held() == 0


def test_a_scale_in_use_gets_its_table():
    for _ in range(600):
        noise.gaussian(3)
    assert sampling.bytes_held() > 0


def test_equal_numbers_of_different_types_share_a_table():
    from fractions import Fraction

    for scale in (2, 2.0, Fraction(2), np.float64(2), np.int64(2)):
        noise.laplace(scale, 1000)
    assert len(sampling._samplers) == 1


def test_the_list_of_rare_scales_is_bounded_too(monkeypatch):
    monkeypatch.setattr(sampling, "_REMEMBERED", 10)
    for step in range(50):
        noise.laplace(1 + step)
    assert len(sampling._seen) == 10


def test_threads_may_build_and_drop_at_once(monkeypatch):
    monkeypatch.setattr(sampling, "LIMIT", 1 << 19)
    wrong = []

    def work(start):
        for step in range(12):
            values = noise.laplace(start + step / 4, 2000)
            if values.shape != (2000,) or sampling.bytes_held() > 1 << 19:
                wrong.append((start, step))

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert sampling.bytes_held() == sum(s.nbytes for s in sampling._samplers.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_while_the_cache_is_locked_can_still_draw():
    with sampling._lock:
        child = os.fork()
        if child == 0:
            os._exit(0 if noise.laplace(5, 1000).shape == (1000,) else 1)
    assert os.waitpid(child, 0)[1] == 0
