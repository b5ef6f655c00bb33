"""Every method of publishing as a black box: beyond noise and choices, nothing depends on the table."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.account.budgets.budget import Budget
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Coded
from discreet.publish.domain import Domain
from discreet.publish.method import METHODS, MarginalWorkload, method_of
from discreet.publish.methods import merf
from discreet.publish.pmw import Weights
from discreet.publish.pmw_session import Ended, Weighing, weigh
from tests.publish.replay import alike, check_moves, moved, spent, taped

DOMAIN = Domain.of({"a": 4, "b": 2, "c": 2})
SMALL = Domain.of({"a": 2, "b": 2})  # of which there are few enough databases
ALLOWANCES = [
    pytest.param(Allowance("rho", Fraction(1, 2), 3), id="rho"),
    pytest.param(Allowance("epsilon", Fraction(3, 2), 3), id="epsilon"),
]


@pytest.fixture(autouse=True)
def _few_features(monkeypatch):
    monkeypatch.setattr(merf, "FEATURES", 12)
    monkeypatch.setattr(merf, "_STEPS", 60)


def rows_of(domain, cells):
    """Return a table of cells, each as often as is said."""
    listed = np.repeat([*cells], [*cells.values()], axis=0)
    columns = tuple(np.asarray(listed[:, place], np.int32) for place in range(len(domain)))
    return Coded(domain, columns)


def tables(domain):
    """Return three tables over a domain that have nothing in common, one of them nearly empty."""
    first, last = (0,) * len(domain), tuple(size - 1 for size in domain.sizes)
    mixed = {cell: 3 + 5 * number for number, cell in enumerate(np.ndindex(*domain.sizes))}
    return {first: 90, last: 2}, {last: 1}, mixed


def run(name, allowance, cells, ways=2):
    domain = SMALL if name == "smalldb" else DOMAIN
    measure, workload = rows_of(domain, cells).measure, MarginalWorkload.of(domain, ways)
    steps = []
    with taped() as tape:
        built = method_of(name).build(measure, domain, allowance, workload, steps.append)
    model, merged = built.model, built.merged
    measured = [(each.clique, each.values, each.scale) for each in built.measured]
    told = [model.tree.cliques, model.tables, model.total, merged.groups, merged.shares, measured, built.words, steps]
    return told, tape


@pytest.mark.parametrize("allowance", ALLOWANCES)
@pytest.mark.parametrize("name", METHODS)
def test_what_a_method_makes_is_a_function_of_noisy_counts_and_choices_alone(name, allowance):
    domain = SMALL if name == "smalldb" else DOMAIN
    results = [run(name, allowance, cells)[0] for cells in tables(domain)]
    assert all(alike(results[0], each) for each in results[1:])


@pytest.mark.parametrize("allowance", ALLOWANCES)
@pytest.mark.parametrize("name", METHODS)
def test_no_person_moves_what_noise_and_choices_see_by_more_than_was_paid_for(name, allowance):
    domain = SMALL if name == "smalldb" else DOMAIN
    most = Fraction(0)
    for cells in tables(domain):
        told, tape = run(name, allowance, cells)
        for row in [(0,) * len(domain), tuple(size - 1 for size in domain.sizes)]:
            more = cells | {row: cells.get(row, 0) + allowance.rows}
            again, other = run(name, allowance, more)
            assert alike(told, again)
            found = moved(tape, other)
            check_moves(found)
            paid = spent(found, allowance.currency)
            assert paid <= allowance.amount
            most = max(most, paid)
    # And these neighbours come near to it, so a sensitivity of half would show. (A feature's length is rounded up.)
    assert most > allowance.amount * Fraction(7, 10)


def ask(cells, allowance, above):
    """Go through a session of 6 updates, asking until it ends; returns what was told, and the tape."""
    terms = Weights(SMALL, allowance, Fraction(1, 4), 6, 40, Fraction(1, 20))
    coded = rows_of(SMALL, cells)
    told = []
    with taped(above) as tape:
        columns = {"a": coded.columns[0], "b": coded.columns[1]}
        weighing = weigh(columns, SMALL, budget=Budget(epsilon=1))
        count = weighing._count
        tape.asked.clear()
        weighing = Weighing(terms, terms.begin(coded.measure), count)
        for number in range(60):
            try:
                answer = weighing.answer([{"a": 0}, {"a": 1, "b": 0}, {"b": [0, 1]}][number % 3])
            except Ended as ended:
                told.append(str(ended))
                break
            told.append((answer.value, answer.low, answer.high, weighing.left, weighing.asked))
    return [told, weighing.words, weighing.histogram.table, weighing.rows], tape


@pytest.mark.parametrize("allowance", ALLOWANCES)
@pytest.mark.parametrize("above", [lambda _: True, lambda number: number % 3 == 1], ids=["always", "seldom"])
def test_a_session_of_weights_tells_and_pays_for_nothing_but_comparisons_and_noisy_answers(allowance, above):
    most = Fraction(0)
    even = dict.fromkeys(np.ndindex(2, 2), 10)  # as the histogram begins, so no update is needed
    worlds = [even, *tables(SMALL)]
    runs = [ask(cells, allowance, above) for cells in worlds]
    assert all(alike(runs[0][0], told) for told, _ in runs[1:])
    assert isinstance(runs[0][0][0][-1], str)  # it ended
    for cells, (told, tape) in zip(worlds, runs, strict=True):
        for row in np.ndindex(2, 2):
            again, other = ask(cells | {row: cells.get(row, 0) + allowance.rows}, allowance, above)
            assert alike(told, again)
            found = moved(tape, other)
            check_moves(found)
            paid = spent(found, allowance.currency)
            assert paid <= allowance.amount
            most = max(most, paid)
    assert most > allowance.amount * Fraction(7, 10)
