"""Solvers of a reconstruction: all tables tried, a linear program, and least squares by conjugate gradients."""

from __future__ import annotations

import numpy as np

from discreet.lab.attacks.reconstruction.knowledge import AttackerKnowledge
from discreet.lab.attacks.reconstruction.message_passing import Floats, blocks
from discreet.lab.attacks.reconstruction.questions import all_groups
from discreet.lab.defence import Answers, Groups

ROUNDS = 200
_NEAR = 1e-5
# Counts are whole, so an answer within this is exact.
_EXACT = 0.5
# How many questions give a first bound on how badly a table fits, and how many tables are looked at together.
_FEW, _TOGETHER = 256, 64


def exhaustive(groups: Groups, answers: Answers) -> Floats:
    """Return the table whose worst answer is the least off, of all there are.

    Dinur and Nissim (2003): where all groups are asked and no answer is off by more than E, no answer of this table is
    either. The people who have the bit and were guessed not to are a group, and so are those the other way round; the
    true count and the guessed one of each differ by 2 E at most, so at most 4 E bits are wrong.
    """
    people = groups.shape[1]
    tables = all_groups(people).T.astype(np.float32)
    asked, given = groups.astype(np.float32), answers.astype(np.float32)
    few = slice(None, None, max(1, len(asked) // _FEW))
    # A table's worst answer is at least as bad as its worst of a few: the promising ones come first, and most never.
    least = np.abs(asked[few] @ tables - given[few, None]).max(axis=0)
    order = np.argsort(least, kind="stable")
    best, found = np.inf, 0
    for start in range(0, len(order), _TOGETHER):
        some = order[start : start + _TOGETHER]
        if least[some[0]] >= best:
            break
        worst = np.abs(asked @ tables[:, some] - given[:, None]).max(axis=0)
        at = int(worst.argmin())
        if worst[at] < best:
            best, found = float(worst[at]), int(some[at])
    return tables[:, found].astype(np.float64)


def linear_program(groups: Groups, answers: Answers, known: AttackerKnowledge) -> Floats:
    """Return numbers from 0 to 1 whose counts are the least off: at the worst, where errors have a bound, or in all.

    Dinur and Nissim (2003); Dwork, McSherry and Talwar (2007) for the sum of errors, which a few wild answers among
    many do not harm. Solved by HiGHS; the sum of errors through its dual program, whose equations are as many as the
    people and not as the questions.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csc_matrix, eye, hstack, vstack

    questions, people = groups.shape
    matrix = csc_matrix(groups.astype(np.float64))
    if known.width is None or known.width <= _EXACT:
        # max y v - sum(u) with A' v <= u, -1 <= v <= 1 and u >= 0: what the constraints are worth is x itself.
        system = hstack([matrix.T, -eye(people)], format="csc")
        costs = np.concatenate([-answers, np.ones(people)])
        limits: list[tuple[float, float | None]] = [(-1, 1)] * questions + [(0, None)] * people
        solved = linprog(costs, A_ub=system, b_ub=np.zeros(people), bounds=limits, method="highs-ipm")
        found = -solved.ineqlin.marginals if solved.x is not None else None
    else:
        slack = csc_matrix(-np.ones((questions, 1)))
        system = vstack([hstack([matrix, slack]), hstack([-matrix, slack])], format="csc")
        costs = np.append(np.zeros(people), 1)
        limits = [(0, 1)] * people + [(0, None)]
        bounds = np.concatenate([answers, -answers])
        solved = linprog(costs, A_ub=system, b_ub=bounds, bounds=limits, method="highs-ipm")
        found = solved.x[:people] if solved.x is not None else None
    return np.full(people, 0.5) if found is None else np.asarray(found, np.float64)


def least_squares(groups: Groups, answers: Answers) -> Floats:
    """Return the numbers nearest to a half whose counts have the least squared error.

    By conjugate gradients on the normal equations, which need products with the groups alone: random ones are so well
    conditioned that some twenty rounds do, where the matrix of the equations would take n^2 numbers.
    """
    people = groups.shape[1]
    wanted = answers - groups.sum(axis=1) / 2  # of the deviations from a half
    deviation = np.zeros(people)
    residual = _back(groups, wanted)
    direction, size = residual, float(residual @ residual)
    first = size
    for _ in range(ROUNDS):
        if size <= _NEAR**2 * first or size == 0:
            break
        step = _normal(groups, direction)
        image = float(direction @ step)
        if image <= 0:  # nothing in this direction is asked about
            break
        deviation = deviation + size / image * direction
        residual = residual - size / image * step
        before, size = size, float(residual @ residual)
        direction = residual + size / before * direction
    return deviation + 0.5


def _back(groups: Groups, weights: Floats) -> Floats:
    total = np.zeros(groups.shape[1])
    for rows, block in blocks(groups):
        total += weights[rows].astype(np.float32) @ block
    return total


def _normal(groups: Groups, direction: Floats) -> Floats:
    total, small = np.zeros(groups.shape[1]), direction.astype(np.float32)
    for _, block in blocks(groups):
        total += (block @ small) @ block
    return total
