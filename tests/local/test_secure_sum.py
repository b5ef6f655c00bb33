"""Secure sums: shares that tell nothing, totals that are right, and noise that is exactly the centre's."""

import socket
import struct
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet import local, noise
from discreet.account import DiscreteLaplace
from discreet.core.errors import BadParameter, Refusal
from discreet.local.secure_sum import Party, TooFewClients, combined, deliver, secure_sum
from discreet.local.secure_sum_wire import RemoteParty, serve_party
from discreet.noise.polya import polya
from discreet.testing import FALSE_ALARM, fit, same, seeded

ROOT = Path(__file__).parents[2]


def clients(plan, values):
    return dict(plan.client(value) for value in values)


def test_the_total_is_right_but_for_its_noise():
    plan = secure_sum(people=50, epsilon=1000, bound=3)  # noise is all but never drawn
    parties = [Party(plan) for _ in range(3)]
    deliver(parties, clients(plan, [2] * 50))
    assert plan.release(parties).tolist() == [100]


def test_vectors_are_summed_coordinate_by_coordinate():
    plan = secure_sum(people=20, epsilon=2000, length=4, parties=5)
    parties = [Party(plan) for _ in range(5)]
    deliver(parties, clients(plan, np.eye(4, dtype=int)[np.arange(20) % 4]))
    assert plan.release(parties).tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("honest", [1, 3, 12])
def test_at_exactly_the_honest_minimum_the_noise_is_discrete_laplace(honest):
    # Through shares, parties and all, at the smallest number of survivors that is released.
    plan = secure_sum(people=honest, epsilon=1)
    totals = []
    with seeded(honest):
        for _ in range(6000 // honest):
            parties = [Party(plan) for _ in range(3)]
            deliver(parties, clients(plan, [0] * honest))
            totals.append(int(plan.release(parties)[0]))
    reach, q = 40, np.exp(-1.0)
    chances = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    counts = np.bincount(np.clip(totals, -reach, reach) + reach, minlength=2 * reach + 1)
    assert fit(counts, chances) > FALSE_ALARM


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10)], ids=str)
def test_a_million_sums_of_shares_follow_the_discrete_laplace_law(scale):
    honest, draws = 10, 10**6
    share = Fraction(1, honest)
    with seeded(77):
        total = np.zeros(draws, dtype=np.int64)
        for _ in range(honest):
            total += polya(share, scale, draws) - polya(share, scale, draws)
    reach, q = int(40 * scale), np.exp(-1 / float(scale))
    chances = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    counts = np.bincount(np.clip(total, -reach, reach) + reach, minlength=2 * reach + 1)
    assert fit(counts, chances) > FALSE_ALARM


def test_more_survivors_add_noise_and_never_take_it_away():
    # Ten people where five were promised: discrete Laplace noise twice over, which has twice the variance.
    plan, draws = secure_sum(people=10, epsilon=1, dropout=Fraction(1, 2)), 4 * 10**4
    share = Fraction(1, plan.honest)
    with seeded(78):
        drawn = polya(share, plan.scale, (10, draws)) - polya(share, plan.scale, (10, draws))
        twice = noise.laplace(plan.scale, draws) + noise.laplace(plan.scale, draws)
    first, second = (np.bincount(np.clip(x, -30, 30) + 30, minlength=61) for x in (drawn.sum(axis=0), twice))
    assert same(first, second) > FALSE_ALARM
    assert plan.variance == pytest.approx(float(np.var(twice)), rel=0.05)


def test_the_loss_is_that_of_a_trusted_centre():
    assert secure_sum(people=100, epsilon=Fraction(1, 2)).loss == DiscreteLaplace(2, 1, relation="replace")
    plan = secure_sum(people=100, epsilon=1, bound=2, length=10, dropout=0.25, colluding=5)
    assert plan.loss == DiscreteLaplace(4, 4, relation="replace")
    assert plan.loss.peak == 1
    assert (plan.honest, plan.least) == (70, 75)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_the_shares_of_all_parties_but_one_are_uniform_and_the_same_for_every_value(missing):
    plan = secure_sum(people=10, epsilon=1)
    seen = {}
    with seeded(40 + missing):
        for value in (0, 1):
            shares = np.array([[int(s[0]) for s in plan.client(value)[1]] for _ in range(2500)], dtype=object)
            kept = [place for place in range(3) if place != missing]
            # The top four bits of each share that is seen, together: 256 cells.
            seen[value] = np.bincount([int(a >> 60) * 16 + int(b >> 60) for a, b in shares[:, kept]], minlength=256)
    for counts in seen.values():
        # Cells of 9.8 are pooled in fours, so that each expects more than 20.
        assert fit(counts.reshape(-1, 4).sum(axis=1), np.full(64, 1 / 64)) > FALSE_ALARM


def test_clients_that_reached_only_some_parties_are_left_out_by_all():
    plan = secure_sum(people=12, epsilon=1000, dropout=Fraction(1, 4))
    parties = [Party(plan) for _ in range(3)]
    sent = list(clients(plan, [1] * 12).items())
    deliver(parties, dict(sent[:10]))
    for ticket, shares in sent[10:]:
        parties[0].add(ticket, shares[0])
    assert plan.release(parties).tolist() == [10]


def test_too_few_survivors_are_refused_and_nothing_is_summed():
    plan = secure_sum(people=10, epsilon=1, dropout=Fraction(1, 10))
    parties = [Party(plan) for _ in range(3)]
    sent = clients(plan, [1] * 9)
    deliver(parties, dict(list(sent.items())[:8]))
    with pytest.raises(TooFewClients, match="at least 9"):
        plan.release(parties)
    with pytest.raises(TooFewClients):
        parties[0].total(parties[0].tickets())
    deliver(parties, sent)
    assert plan.release(parties).shape == (1,)


def test_colluding_people_are_not_among_those_whose_noise_a_sum_needs():
    plan = secure_sum(people=10, epsilon=1, dropout=0.2, colluding=3)
    assert (plan.honest, plan.least) == (5, 8)  # of eight, three may take their noise off
    for heard, enough in ((7, False), (8, True)):
        parties = [Party(plan) for _ in range(3)]
        deliver(parties, clients(plan, [1] * heard))
        if enough:
            plan.release(parties)
            continue
        with pytest.raises(TooFewClients):
            plan.release(parties)


def test_a_party_gives_one_sum_and_no_other():
    plan = secure_sum(people=4, epsilon=1, dropout=Fraction(1, 4))
    parties = [Party(plan) for _ in range(3)]
    deliver(parties, clients(plan, [1] * 4))
    tickets = parties[0].tickets()
    parties[0].total(tickets)
    with pytest.raises(Refusal, match="a second one would reveal"):
        parties[0].total(frozenset(list(tickets)[:3]))
    assert parties[0].tickets() == frozenset()


def test_a_share_that_is_sent_twice_counts_once():
    plan = secure_sum(people=3, epsilon=1000)
    parties = [Party(plan) for _ in range(3)]
    sent = clients(plan, [1] * 3)
    deliver(parties, sent)
    deliver(parties, sent)
    assert plan.release(parties).tolist() == [3]


def test_totals_below_zero_are_read_as_such():
    assert combined([np.array([2**64 - 5], dtype=np.uint64), np.array([2], dtype=np.uint64)]).tolist() == [-3]


@pytest.mark.parametrize("values", [2, -1, 0.5, [1, 0], "1"])
def test_values_beyond_what_was_declared_are_refused_before_anything_is_drawn(values):
    with pytest.raises(BadParameter, match="values") as refused:
        secure_sum(people=10, epsilon=1).client(values)
    assert "0.5" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": 1e-30}, "epsilon"),
        ({"dropout": 1}, "dropout"),
        ({"dropout": -0.1}, "dropout"),
        ({"colluding": 10}, "colluding"),
        ({"people": 0}, "people"),
        ({"parties": 1}, "parties"),
        ({"bound": 2**50}, "bound"),
        ({"length": 0}, "length"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(given, name):
    with pytest.raises(BadParameter, match=name):
        secure_sum(**{"people": 10, "epsilon": 1} | given)


def test_a_share_of_a_wrong_shape_and_parties_too_few_are_refused():
    plan = secure_sum(people=2, epsilon=1)
    with pytest.raises(BadParameter, match="ticket"):
        Party(plan).add(b"short", np.zeros(1, dtype=np.uint64))
    with pytest.raises(BadParameter, match="parties"):
        plan.release([Party(plan)])


def test_the_plan_is_a_name_of_the_package():
    assert local.secure_sum is secure_sum


def test_parties_in_processes_of_their_own_sum_over_loopback_sockets():
    plan = secure_sum(people=30, epsilon=2000, dropout=Fraction(1, 10), length=3)
    words = [sys.executable, "-m", "tests.local.party", "30", str(plan.honest), str(plan.epsilon), "3"]
    running = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=ROOT) for _ in range(3)]
    try:
        remote = [RemoteParty("127.0.0.1", int(process.stdout.readline())) for process in running]
        sent = list(clients(plan, np.eye(3, dtype=int)[np.arange(30) % 3]).items())
        deliver(remote, dict(sent[:26]))
        with pytest.raises(TooFewClients):
            plan.release(remote)
        with pytest.raises(Refusal, match="at least 27"):
            remote[0].total(remote[0].tickets())
        with pytest.raises(Refusal, match="a ticket has"):
            remote[0].add(b"0123456789abcdef", np.zeros(2, dtype=np.uint64))
        deliver(remote, dict(sent[26:28]))
        assert plan.release(remote).tolist() == [10, 9, 9]
        for party in remote:
            party.close()
    finally:
        for process in running:
            process.kill()
            process.communicate()


def test_a_fraction_that_leaves_is_read_as_it_is_written():
    assert secure_sum(people=10, epsilon=1, dropout=0.3).honest == 7
    for wrong in (float("nan"), "x", 1):
        with pytest.raises(BadParameter, match="dropout"):
            secure_sum(people=10, epsilon=1, dropout=wrong)
    with pytest.raises(BadParameter, match="values"):
        secure_sum(people=10, epsilon=1).client([[1], [1, 2]])


def test_who_breaks_off_takes_nothing_of_the_others_away():
    plan = secure_sum(people=2, epsilon=1, parties=2)
    left = iter([True, True, True, False])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        party = threading.Thread(target=serve_party, args=(plan, listener), kwargs={"keep_on": lambda: next(left)})
        party.start()
        ticket, shares = plan.client(1)
        for _ in range(2):
            with socket.create_connection(listener.getsockname()) as broken:
                broken.sendall(b"A")
                broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # ends by a reset
        there = RemoteParty(*listener.getsockname())
        there.add(ticket, shares[0])
        assert there.tickets() == {ticket}
        there.close()
        party.join()
