"""The stream of bits: the right cipher, never the same bit twice, a key that does not stay."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from discreet.noise import bits
from discreet.noise.bits import KEY_LIFE, BitSource, current


def scripted(*parts):
    left = list(parts)
    return lambda size: left.pop(0)


def test_the_stream_is_aes_256_in_counter_mode():
    # NIST SP 800-38A, F.5.5: the first output block of CTR-AES256
    key = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    counter = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    block = bytes.fromhex("0bdf7df1591716335e9a8b15c860c502")
    assert BitSource(scripted(key, counter)).words(8, 16).tobytes() == block


def test_small_and_large_draws_read_one_stream_without_overlap():
    key, counter = os.urandom(32), os.urandom(16)
    stream = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor().update(bytes(1 << 16))
    source = BitSource(scripted(key, counter))
    first = source.words(100, 16).tobytes()
    small = source.bits(64).to_bytes(8, "little")
    second = source.words(100, 64).tobytes()
    assert first == stream[:200]
    assert small == stream[200:208]
    assert second == stream[200 + 4096 : 200 + 4096 + 800]


def test_a_key_is_renewed_after_its_life_and_no_copy_stays(monkeypatch):
    keys = []
    aes = algorithms.AES
    monkeypatch.setattr(algorithms, "AES", lambda key: keys.append(key) or aes(key))
    taken = []
    source = BitSource(lambda size: taken.append(os.urandom(size)) or taken[-1])
    assert len(keys) == 1
    source.words(KEY_LIFE // 8, 64)
    assert len(keys) == 1
    source.bits(8)
    assert len(keys) == 2
    assert all(key == bytes(32) for key in keys)
    assert taken[0] != taken[2]


def test_a_draw_longer_than_a_key_s_life_uses_several_keys(monkeypatch):
    monkeypatch.setattr(bits, "KEY_LIFE", 1 << 20)
    taken = []
    source = BitSource(lambda size: taken.append(os.urandom(size)) or taken[-1])
    words = source.words(3 * (1 << 20) // 8, 64)
    assert len(taken) == 6
    assert len(np.unique(words)) == len(words)


@pytest.mark.parametrize("width", [1, 4, 7, 16, 17, 32, 33, 48, 63, 64])
def test_words_have_the_asked_width_and_every_bit_of_it_is_fair(width):
    words = current().words(40_000, width)
    assert int(words.max()) < 1 << width
    for bit in range(width):
        share = int(((words >> words.dtype.type(bit)) & words.dtype.type(1)).sum())
        # 40,000 fair coins: 10 standard deviations, below 1e-6 by far
        assert abs(share - 20_000) < 1000
    assert 0 <= current().bits(width) < 1 << width


def test_threads_have_streams_of_their_own():
    found, sources = [], []

    def work():
        sources.append(current())
        found.append(current().words(20_000, 64))
        found.append(np.array([current().bits(64) for _ in range(2000)], dtype=np.uint64))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    words = np.concatenate(found)
    assert len(set(map(id, sources))) == 8
    # 176,000 words of 64 bits: a repeat has probability below 1e-9
    assert len(np.unique(words)) == len(words)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_repeat_its_parent():
    current().bits(64)  # so that there is a half-used buffer to inherit
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, b"".join(current().bits(64).to_bytes(8, "little") for _ in range(64)))
        os.write(write, current().words(64, 64).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), dtype=np.uint64)
    os.waitpid(child, 0)
    ours = np.concatenate([np.array([current().bits(64) for _ in range(64)], dtype=np.uint64), current().words(64, 64)])
    assert len(theirs) == 128
    assert len(np.unique(np.concatenate([ours, theirs]))) == 256


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_draw_under_way_when_its_thread_forks_goes_on_with_other_bits():
    source = current()
    source.bits(64)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, source.bits(64).to_bytes(8, "little") + source.words(1, 64).tobytes())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), dtype=np.uint64).tolist()
    os.waitpid(child, 0)
    # 4 words of 64 bits: a repeat has probability below 1e-18
    assert len({source.bits(64), int(source.words(1, 64)[0]), *theirs}) == 4


def test_a_fork_that_python_did_not_see_is_noticed_by_the_process_number(monkeypatch):
    before = current()
    monkeypatch.setattr(os, "getpid", lambda: before.process + 1)
    assert current() is not before
    monkeypatch.undo()
    bits._forget()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no interval timers")
def test_a_signal_handler_that_draws_gets_bits_of_its_own():
    taken = []
    before = signal.signal(signal.SIGALRM, lambda *_: taken.append(current().bits(64)))
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        mine = [current().bits(64) for _ in range(100_000)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert taken
    assert len(set(mine + taken)) == len(mine) + len(taken)


def test_two_processes_never_draw_alike():
    code = "from discreet import noise; print(noise.uniform(2**64))"
    first, second = (subprocess.check_output([sys.executable, "-c", code]) for _ in range(2))
    assert first != second
