"""Census: exact tables of small blocks give records and names away, and noisy ones no more than the country does."""

from dataclasses import replace
from itertools import combinations_with_replacement

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks.census import Block, Census, blocked, census, chosen, compared, expose, solver
from discreet.lab.attacks.census.solver import UniquenessProof, solve
from discreet.lab.attacks.census.tables import Attribute, design, published
from discreet.lab.defence import ExactDefence, GaussianDefence, LaplaceDefence, RoundedDefence, SuppressedDefence
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.testing import FALSE_ALARM, seeded

NAMES = ("age", "female", "health")


@pytest.fixture(scope="module")
def blocks():
    """Six blocks of fifteen people of the public table."""
    with seeded(1):
        return blocked(TableCopy.read(rand.path(), identifier="zper", name="rand").people(), 15, 6)


OPEN = UniquenessProof.UNDECIDED


def small(**columns):
    return TableCopy.read({"block": [0] * len(next(iter(columns.values()))), **columns})


def test_exact_tables_give_most_records_and_names_away(blocks):
    with seeded(2):
        found = census(blocks, block="block", attributes=NAMES)
    assert found.people == 90
    assert found.found > 0.8 > 0.3 > found.chance
    assert found.confirmed > 0.6
    assert found.outcome.succeeds
    assert found.tables[:5] == ("total", "age", "female", "health", "age by female")
    assert found.register == ("age", "female")


def test_noisy_tables_give_about_as_much_away_as_the_country(blocks):
    with seeded(3):
        found = census(blocks, block="block", attributes=NAMES, defence=LaplaceDefence(1), seconds=0.2)
    assert found.found <= found.chance + 0.1
    assert found.confirmed <= found.luck
    assert not found.outcome.succeeds
    assert found.epsilon == 1


def test_a_solution_fits_every_table_and_median(blocks):
    plan, kinds = design(blocks, NAMES)
    numbers = blocks.codes(["block"])
    for number in range(3):
        records = kinds[numbers == number]
        with seeded(number):
            solution = solve(plan, published(plan, records, ExactDefence()), plan.middles(records), ExactDefence(), 2.0)
        made_up = np.repeat(np.arange(plan.kinds), solution.counts)
        assert plan.middles(made_up) == plan.middles(records)
        for ours, theirs in zip(plan.counts(made_up), plan.counts(records), strict=True):
            assert ours.tolist() == theirs.tolist()


def test_a_block_with_one_solution_is_known_to_have_one_and_is_right():
    # Everyone has an age of their own, so that no two could have changed places.
    table = small(age=[20, 31, 42, 53, 64, 75], female=[0, 1, 0, 1, 0, 1], health=["a", "b", "a", "b", "b", "a"])
    found = census(table, block="block", attributes=NAMES)
    assert found.blocks == (Block(people=6, records=6, found=6, unique=UniquenessProof.PROVEN, named=6, confirmed=6),)
    assert "proven for 1 blocks, refuted for 0" in found.outcome.sentence
    assert found.outcome.evidence.trials == 0  # nobody lives in another block


def test_two_people_who_could_change_places_leave_more_than_one_solution():
    # Two men of one age group, 20 and 22, one of each health, and medians that lie with the women.
    table = small(age=[20, 22, *range(40, 60)], female=[0, 0] + [1] * 20, health=["a", "b"] * 11)
    found = census(table, block="block", attributes=NAMES)
    assert found.blocks[0].unique is UniquenessProof.REFUTED
    assert found.unique == 0


def test_medians_tell_what_tables_do_not():
    # Ages 20 and 21 of one group, one of each health: only the median by health says which is whose.
    table = small(age=[20, 21, *range(40, 60)], female=[0] * 22, health=["a", "b", *"c" * 20])
    plan, records = design(table, NAMES)
    exact = published(plan, records, ExactDefence())
    with seeded(4):
        told = solve(plan, exact, plan.middles(records), ExactDefence(), 2.0)
        untold = solve(plan, exact, [(0, -1)] * len(plan.medians), ExactDefence(), 2.0)
    assert told.unique is UniquenessProof.PROVEN
    assert untold.unique is UniquenessProof.REFUTED


def test_an_incumbent_of_a_solver_that_ran_out_of_time_proves_nothing(monkeypatch, blocks):
    real = solver._milp

    def hurried(costs, limits, seconds):
        solved = real(costs, limits, seconds)
        solved.status = 1  # the time limit: what was found may not be the last word
        return solved

    monkeypatch.setattr(solver, "_milp", hurried)
    with seeded(13):
        found = census(blocks, block="block", attributes=NAMES)
    assert found.statements(UniquenessProof.PROVEN) == 0
    assert found.statements(UniquenessProof.UNDECIDED) > 0


def test_whether_other_records_fit_is_what_trying_all_of_them_says():
    # Two attributes of two values and four people: 35 multisets of records, of which some share all tables.
    for records in combinations_with_replacement(range(4), 4):
        ages, sexes = [20 + kind // 2 for kind in records], [kind % 2 for kind in records]
        plan, kinds = design(small(age=[*ages, 20, 21], female=[*sexes, 0, 1]), NAMES[:2])
        plan = replace(plan, titles=plan.titles[:3], tables=plan.tables[:3], medians=())  # margins alone
        solution = solve(plan, published(plan, kinds, ExactDefence()), [], ExactDefence(), 5.0)
        same = [
            each
            for each in combinations_with_replacement(range(4), 6)
            if all((a == b).all() for a, b in zip(plan.counts(np.array(each)), plan.counts(kinds), strict=True))
        ]
        assert (solution.unique is UniquenessProof.PROVEN) == (len(same) == 1)


def test_suppressed_cells_are_known_to_be_small(blocks):
    with seeded(5):
        found = census(blocks, block="block", attributes=NAMES, defence=SuppressedDefence(3), seconds=0.3)
    exact = census(blocks, block="block", attributes=NAMES)
    assert found.found < exact.found
    assert all(block.records > 0 for block in found.blocks)


def test_rounded_cells_bound_their_counts():
    table = small(age=[30] * 20, female=[0] * 10 + [1] * 10, health=["a"] * 10 + ["b"] * 10)
    plan, records = design(table, NAMES)
    with seeded(6):
        solution = solve(plan, published(plan, records, RoundedDefence(5)), [], RoundedDefence(5), 2.0)
    ours = np.concatenate(plan.counts(np.repeat(np.arange(plan.kinds), solution.counts)))
    exact = np.concatenate(plan.counts(records))
    rounded = (2 * ours + 5) // 10 * 5
    assert rounded.tolist() == ((2 * exact + 5) // 10 * 5).tolist()


@pytest.mark.parametrize("defence", [LaplaceDefence(1), GaussianDefence(0.5)])
def test_the_noise_of_the_tables_is_made_for_one_person_in_one_cell_of_each(defence):
    plan, kinds = design(small(age=[1, 2], female=[0, 1], health=["a", "b"]), NAMES)
    with seeded(7):
        runs = np.array([published(plan, kinds, defence) for _ in range(300)]) - np.concatenate(plan.counts(kinds))
    tables = len(plan.tables)
    # Discrete Laplace at scale b has variance 2 q / (1 - q)^2 with q = exp(-1/b); a Gaussian that of its parameter.
    q = np.exp(-1 / tables)
    wanted = 2 * q / (1 - q) ** 2 if isinstance(defence, LaplaceDefence) else tables / (2 * 0.5)
    # The mean of squares strays by 4.9 standard errors one time in a million; a square's kurtosis is 6 at most.
    allowed = np.sqrt(-2 * np.log(FALSE_ALARM)) * np.sqrt(6 / runs.size) * wanted
    assert abs(np.mean(runs**2) - wanted) <= allowed


def test_ages_are_whole_years_in_groups_of_five_and_other_values_are_their_own():
    age, codes = Attribute.read("age", np.array([20.9, 34.0, 21.0, *range(40, 52)]))
    assert age.values[:3] == (20, 21, 34)
    assert age.groups[:3].tolist() == [0, 0, 1]
    assert codes[:3].tolist() == [0, 2, 1]
    assert age.fine
    assert not Attribute.read("sex", np.array(["f", "m", "f"], object))[0].fine


def test_whoever_lacks_a_value_is_left_out():
    table = small(age=[20, 31, None, 53], female=[0, 1, 0, 1], health=["a", "b", "a", None])
    assert census(table, block="block", attributes=NAMES).people == 2


def test_made_up_records_beyond_the_people_are_no_success():
    flooded = Census("x", ("t",), NAMES, (Block(10, 100, 10, UniquenessProof.UNDECIDED, 0, 0),), 0.1, 0.1)
    assert flooded.found == 0.1
    assert not flooded.outcome.succeeds


def test_blocks_that_were_not_solved_in_time_are_neither_found_nor_held_against_the_attack(blocks):
    late = Census("x", ("t",), NAMES, (Block(10, 10, 9, OPEN, 9, 8), Block(10, 0, 0, OPEN, 0, 0, solved=False)), 0, 0)
    assert (late.people, late.found, late.confirmed) == (10, 0.9, 0.8)
    assert "1 more were not solved in time" in late.outcome.sentence
    with seeded(10):
        none = census(blocks, block="block", attributes=NAMES, defence=LaplaceDefence(1), seconds=1e-9)
    assert none.solved == ()
    assert none.outcome.figures["blocks_not_solved"] == 6


def test_a_guesser_has_the_kinds_of_records_too_so_that_a_small_table_does_not_seem_to_fall():
    # One block, nobody outside, and hardly more kinds of records than people: knowing the kinds is knowing the records.
    table = small(age=list(range(0, 80, 4)), female=[0] * 20, health=["a"] * 20)
    with seeded(11):
        found = [census(table, block="block", attributes=NAMES, defence=LaplaceDefence(1)) for _ in range(5)]
    assert all(each.chance > 0.4 for each in found)
    assert not any(each.outcome.succeeds for each in found)


def test_a_table_that_missing_values_leave_no_two_blocks_of_is_not_exposed():
    columns = {
        "age": list(range(80)),
        "sex": [0, 1] * 40,
        "race": ["a", None, None, "b"] * 20,
        "few": [1, 2, None, 3] * 20,
    }
    assert expose(TableCopy.read({name: columns[name] for name in ("age", "sex")})) == []
    assert chosen(TableCopy.read(columns)) != []
    with seeded(12):
        assert all(
            each.target != "Discreet, epsilon 1 in all" or not each.succeeds for each in expose(TableCopy.read(columns))
        )


def test_blocks_are_of_the_size_asked_for_and_hold_everybody_once():
    table = TableCopy.read({"who": list(range(105))})
    with seeded(8):
        made = blocked(table, 10)
    assert np.bincount(made.column("block")).tolist() == [10] * 10
    assert len(set(made.column("who").tolist())) == 100
    assert blocked(table, 10, 3).rows == 30


def test_columns_are_chosen_by_what_they_tell():
    people = TableCopy.read(rand.path(), identifier="zper").people()
    assert chosen(people)[:2] == ["age", "female"]
    assert len(chosen(people)) >= 3


def test_a_custodians_table_is_exposed():
    said = []
    with seeded(9):
        table = TableCopy.read(
            {
                "age": np.asarray(noise.uniform(60, 400)),
                "sex": np.asarray(noise.uniform(2, 400)),
                "race": [f"r{code}" for code in noise.uniform(5, 400)],
            }
        )
        outcomes = expose(table, said.append)
    assert [each.verdict for each in outcomes] == ["succeeds", outcomes[1].verdict, outcomes[2].verdict, "bounded"]
    assert len(said) == len(outcomes) == 4
    assert "<svg" in svg(outcomes[0].picture)
    assert outcomes[0].record()["figures"]["blocks"] == 20


@pytest.mark.parametrize("columns", [{"a": []}, {"a": [1, 2]}, {"a": [None] * 50}, {"a": [[1], [2]] * 30}])
def test_a_table_with_nothing_to_publish_gives_no_outcome(columns):
    assert expose(TableCopy.read(columns)) == []


def test_one_outcome_keeps_its_own_picture(blocks):
    (alone,) = compared([census(blocks, block="block", attributes=NAMES)])
    assert alone.picture.names[0] == "records found"


def test_what_cannot_be_published_is_refused(blocks):
    with pytest.raises(BadParameter, match="two columns"):
        design(blocks, ["age"])
    with pytest.raises(BadParameter, match="too many"):
        census(blocks, block="block", attributes=("income", "spending", "age"))
    with pytest.raises(BadParameter, match="register"):
        census(blocks, block="block", attributes=NAMES, register=3)
    with pytest.raises(BadParameter, match="nobody"):
        census(small(age=[None], female=[1], health=["a"]), block="block", attributes=NAMES)
    with pytest.raises(BadParameter, match="seconds"):
        census(blocks, block="block", attributes=NAMES, seconds=0)
    with pytest.raises(UnknownName, match="column"):
        census(blocks, block="county", attributes=NAMES)
