"""Traitor: anyone who answers counting questions about keys, well enough, is a decoder that gives a key away.

Users have keys, and a coalition builds a pirate decoder. The sender broadcasts a staircase: at stage i the first i
users get a one and all others a zero, each bit under the user's own key. At stage 0 a useful decoder says zero, at
stage n one, so somewhere between its probability of saying one jumps by 1/n at least; and as nobody without one
user's key can tell the two stages apart that differ in this user alone, that user is in the coalition (Chor, Fiat, Naor
1994; Boneh, Sahai, Waters 2006). A mechanism that answers "how many rows decrypt this to one?" about a table of keys is
such a decoder, and a private one cannot jump: with O~(n^2) repetitions, O~(n^3) questions in all cannot be answered
privately and well (Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Ullman 2013). Fingerprinting codes need O~(n^2).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.account.losses.zcdp import Zcdp
from discreet.account.numeric.checks import whole
from discreet.core.errors import BadParameter
from discreet.lab.attacks._coins import coins
from discreet.lab.attacks.fingerprinting import length_of
from discreet.lab.attacks.tracing.people import Matrix, Numbers
from discreet.lab.attacks.tracing.private_answers import Forgetful, least_noise
from discreet.lab.attacks.traitor.broadcast import BroadcastSender, unsealed
from discreet.lab.defence import Defence, ExactDefence, GaussianDefence, RoundedDefence
from discreet.lab.outcome import Counted, Outcome
from discreet.lab.picture import Curves, Picture, Shades
from discreet.lab.table_copy import TableCopy

USERS = 20
RUNS = 20
_MUCH = 50.0  # an epsilon beyond this promises nothing, and its exponential is too large for some
_ALARM = 1e-6  # how likely a decoder that cannot tell stages apart is taken for one that can


@dataclass(frozen=True, slots=True, eq=False)
class Traitor:
    """How often a pirate decoder said one at each stage, and whom that accuses."""

    defence: Defence
    users: int
    coalition: tuple[int, ...]
    repetitions: int
    said: Numbers  # at each of the users + 1 stages, the share of repetitions in which the decoder said one

    @property
    def questions(self) -> int:
        """How many broadcasts the decoder was asked about in all."""
        return self.repetitions * (self.users + 1)

    @property
    def accused(self) -> int:
        """The user at whose step the decoder jumps highest."""
        return int(np.argmax(np.diff(self.said)))

    @property
    def gap(self) -> float:
        """How high it jumps there; a useful decoder jumps by 1/n at least."""
        return float(np.diff(self.said).max())

    @property
    def guilty(self) -> bool:
        """Whether the accused is in the coalition."""
        return self.accused in self.coalition

    @property
    def sure(self) -> float:
        """A gap that a decoder which cannot tell stages apart exceeds with probability 1e-6 at most (Hoeffding)."""
        return math.sqrt(math.log(self.users / _ALARM) / self.repetitions)

    @property
    def ceiling(self) -> float | None:
        """How often a private decoder can be traced to its coalition, at most; None where nothing is promised.

        Exchange a member for a user outside: the one who was accused as a member is accused, as an outsider, less by
        a factor of exp(epsilon) at most, up to delta. With c members of n the probability A of a right accusation
        is so at most exp(epsilon) c/(n - c) (1 - A) + c delta. Concentrated privacy is read at a delta of 1/(10 n).
        """
        if self.defence.epsilon is None:
            return None
        size, delta, epsilon = len(self.coalition), 0.0, self.defence.epsilon
        if isinstance(self.defence, GaussianDefence):
            delta = 1 / (10 * self.users)
            epsilon = Zcdp(self.defence.rho).epsilon(delta)
        if size == self.users or epsilon > _MUCH:
            return 1.0
        odds = math.exp(epsilon) * size / (self.users - size)
        return min(1.0, (odds + size * delta) / (1 + odds))

    @property
    def traced(self) -> bool:
        """Whether the decoder is traced: its highest jump is no accident, and accuses one who helped to build it."""
        return self.guilty and self.gap >= max(1 / self.users, self.sure)

    @property
    def outcome(self) -> Outcome:
        """What it means, in words."""
        return summary([self])


def summary(runs: Sequence[Traitor], picture: Picture | None = None) -> Outcome:
    """Return the outcome of several decoders of one kind: how often the accused is in the coalition."""
    first, right = runs[0], sum(run.guilty for run in runs)
    gap = float(np.mean([run.gap for run in runs]))
    return Outcome(
        attack="traitor",
        target=first.defence.name,
        evidence=Counted(right, len(runs), "decoders that accused one who helped to build them"),
        chance=len(first.coalition) / first.users,
        told=_told(runs, gap),
        ceiling=first.ceiling,
        demonstration=True,
        figures={
            "runs": len(runs),
            "users": first.users,
            "coalition": len(first.coalition),
            "repetitions": first.repetitions,
            "questions": first.questions,
            "accused": first.accused,
            "guilty": right / len(runs),
            "traced": sum(run.traced for run in runs),
            "gap": gap,
            "needed": 1 / first.users,
            "sure": first.sure,
        },
        picture=picture or stages([first]),
    )


def _told(runs: Sequence[Traitor], gap: float) -> str:
    first, traced = runs[0], sum(run.traced for run in runs)
    return (
        f"Decoders built from the keys of {len(first.coalition)} of {first.users} users ({first.defence.name}) were "
        f"asked {first.questions:,} questions each; their answers jump by {gap:.2f} on average at the step of the user "
        f"who is accused, and for {traced:,} of {len(runs):,} the jump is no accident."
    )


def traitor(
    users: int = USERS,
    coalition: int | None = None,
    defence: Defence | None = None,
    *,
    repetitions: int | None = None,
) -> Traitor:
    """Build a decoder from the keys of a coalition (half of the users), ask it, and accuse.

    The coalition's table has a row for each key; a broadcast is the question how many of them decrypt it to one, and
    the decoder says one where the answer is more than half of them. The defence answers all questions; exact answers
    are the pirate that rounds. Repetitions are users^2 unless said; the order of all broadcasts is shuffled.
    """
    n = whole("users", users, least=2)
    size = n // 2 if coalition is None else whole("coalition", coalition)
    if size > n:
        raise BadParameter("coalition", size, why="it is made of users", fix=f"let at most all {n} users join")
    times = n**2 if repetitions is None else whole("repetitions", repetitions)
    members = tuple(sorted(coins().permutation(n)[:size].tolist()))
    chosen = defence or ExactDefence()
    stage = coins().permutation(np.repeat(np.arange(n + 1), times))
    sender = BroadcastSender.make(n)
    packets = sender.seal(staircase(n)[stage], session=times)
    heard = unsealed(packets, [(user, sender.keys[user]) for user in members])
    said = _decoder(chosen, heard)
    return Traitor(chosen, n, members, times, np.bincount(stage, said, minlength=n + 1) / times)


def staircase(users: int) -> Matrix:
    """Return what is broadcast, a row for each stage: at stage i, one to the users below i and zero to all others."""
    return np.tri(users + 1, users, -1, dtype=bool)


def _decoder(defence: Defence, heard: Matrix) -> Numbers:
    """Answer how many keys open each broadcast to one, and say one where it is more than half of them."""
    target = defence.protect(np.ones(heard.shape[1], np.int64), len(heard))
    return np.asarray(np.nan_to_num(target.sums(heard)) > heard.shape[1] / 2, np.float64)


def counts(users: Sequence[int] = (5, 20, 50, 100, 200, 500)) -> list[dict[str, int]]:
    """Return how many questions trace a traitor: n^2 repetitions, n^3 with the staircase, n^2 with a fingerprint."""
    return [
        {
            "users": n,
            "repetitions": n**2,
            "staircase": n**2 * (n + 1),
            "fingerprinting": length_of(n, n, 1 / (10 * n)),
        }
        for n in users
    ]


def stages(results: Sequence[Traitor]) -> Curves:
    """Draw how often decoders said one, stage by stage."""
    series = [
        (f"{each.defence.name} (gap {each.gap:.2f})", [(float(i), float(said)) for i, said in enumerate(each.said)])
        for each in results
    ]
    title = f"The highest step names a traitor: {results[0].questions:,} questions, {results[0].users} users"
    return Curves(title, series, "users who are sent a one", "how often the decoder says one", reach=(-0.05, 1.05))


def broadcast(users: int = USERS) -> Shades:
    """Draw the staircase: what each user is sent at each stage."""
    values = staircase(users).astype(float).tolist()
    return Shades("The staircase: at stage i, one to the users below i", values, "user", "stage")


# What a table has to have for it, in words for whoever has a table without.
NEEDS = "four people"


def expose(copied: TableCopy, say: Callable[[str], None] = lambda _: None) -> list[Outcome]:
    """Trace decoders of as many users as the copy has people, 20 at most, with and without privacy."""
    users = min(USERS, copied.people().rows)
    if users < 4:
        return []
    questions = users**2 * (users + 1)
    # The delta of the theorem: a decoder may not be private except for 1/(10 n).
    private = least_noise(questions, 1, 1 / (10 * users))
    found = []
    for defence in (ExactDefence(), RoundedDefence(5), Forgetful(1, questions), private):
        say(f"{questions:,} broadcasts to {users} users: {defence.name}")
        found.append([traitor(users, defence=defence) for _ in range(RUNS)])
    picture = stages([runs[0] for runs in found])
    return [summary(runs, picture) for runs in found]
