"""Reconstruction: exact, rounded and slightly noisy counts give everyone away, and noise at a small epsilon nobody.

Bits and noise are seeded; a statistical limit is crossed by a right program with probability 1e-6 (Hoeffding).
"""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from discreet import noise
from discreet.core.errors import BadParameter, UnknownName
from discreet.lab import rand
from discreet.lab.attacks.reconstruction import Reconstruction, compared, expose, reconstruction
from discreet.lab.attacks.reconstruction.knowledge import AttackerKnowledge, known
from discreet.lab.attacks.reconstruction.message_passing import message_passing
from discreet.lab.attacks.reconstruction.people import crowd, fair, secret_column
from discreet.lab.attacks.reconstruction.questions import all_groups, predicates, random_groups
from discreet.lab.attacks.reconstruction.solvers import exhaustive
from discreet.lab.defence import (
    ExactDefence,
    GaussianDefence,
    LaplaceDefence,
    NoisyDefence,
    RoundedDefence,
    SampledDefence,
    SuppressedDefence,
    ceiling,
)
from discreet.lab.picture import svg
from discreet.lab.table_copy import TableCopy
from discreet.testing import FALSE_ALARM, seeded

PEOPLE = 200


def stray(coins):
    """How far the share of heads among fair coins strays from half, but for one time in a million."""
    return math.sqrt(math.log(2 / FALSE_ALARM) / (2 * coins))


def made(people, seed):
    with seeded(seed):
        return np.asarray(noise.bernoulli(1 / 2, people))


def attacked(people, defence, seed=1, **options):
    with seeded(seed):
        return reconstruction(noise.bernoulli(1 / 2, people), defence, **options)


@dataclass(frozen=True)
class Towards:
    """Answers within `most` of the exact ones, and as near to another table's as that allows: the worst liar."""

    decoy: np.ndarray
    most: float
    name = "a liar"
    epsilon = None

    def protect(self, values, questions, most=1):
        return Lying(values, self.decoy, self.most)


@dataclass(frozen=True)
class Lying:
    values: np.ndarray
    decoy: np.ndarray
    most: float

    def sums(self, groups):
        exact, other = groups @ self.values, groups @ self.decoy
        return exact + np.clip(other - exact, -self.most, self.most)


@pytest.mark.parametrize("method", ["linear_program", "least_squares", "message_passing"])
def test_exact_counts_give_everybody_away(method):
    found = attacked(PEOPLE, ExactDefence(), method=method)
    assert found.share == 1.0
    assert found.blatant
    assert found.furthest == 0
    assert found.guesses.tolist() == made(PEOPLE, 1).tolist()


@pytest.mark.parametrize(
    "defence", [ExactDefence(), RoundedDefence(5), RoundedDefence(10), RoundedDefence(50), RoundedDefence(100)]
)
def test_a_thousand_people_fall_to_four_thousand_rounded_counts(defence):
    shares = [attacked(1000, defence, seed).share for seed in range(2)]
    assert min(shares) >= 0.99


@pytest.mark.parametrize(("people", "width", "least"), [(500, 0.25, 0.99), (2000, 0.5, 0.93), (1000, 1, 0.8)])
def test_noise_of_the_order_of_the_root_of_the_people_is_solved_away(people, width, least):
    assert attacked(people, NoisyDefence(round(width * math.sqrt(people)))).share >= least


def test_discreet_keeps_a_thousand_people_at_the_throw_of_a_coin():
    laplace = [attacked(1000, LaplaceDefence(1), seed) for seed in range(3)]
    gaussian = [attacked(1000, GaussianDefence(0.1), seed) for seed in range(3)]
    assert np.mean([each.share for each in laplace]) <= 0.55
    assert np.mean([each.share for each in gaussian]) <= 0.60
    for each in laplace + gaussian:
        assert each.share <= each.ceiling
        assert not each.blatant
        assert each.outcome.verdict == "bounded"


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(
    ("defence", "least", "most"),
    [
        (ExactDefence(), 0.99, 1),
        (RoundedDefence(5), 0.99, 1),
        (RoundedDefence(10), 0.99, 1),
        (RoundedDefence(100), 0.88, 1),
        (LaplaceDefence(1), 0, 0.5 + stray(1000)),
        (GaussianDefence(0.1), 0, 0.55 + stray(1000)),
    ],
)
def test_the_bars_hold_for_twenty_seeds(defence, least, most, seed):
    assert least <= attacked(1000, defence, seed).share <= most


def test_one_private_at_epsilon_one_and_delta_a_tenth_is_never_blatantly_non_private():
    # Pure epsilon 1 is (1, 0.1)-private; a tenth wrong at most would need 90% right, where 73.1% is the ceiling.
    # At one question a person, the least noise that O(n) questions allow. 40 runs of 100 people.
    runs = [attacked(100, LaplaceDefence(1), seed, questions=100) for seed in range(40)]
    assert not any(each.blatant for each in runs)
    assert np.mean([each.share for each in runs]) <= ceiling(1) + stray(40 * 100)


def test_one_question_about_one_person_reaches_the_ceiling_and_no_more():
    runs = 20_000
    with seeded(2):
        bits = np.asarray(noise.bernoulli(1 / 2, runs))
        heard = LaplaceDefence(1).protect(bits, 1)
        # Every person alone: the same noise as if each were asked about in a table of their own.
        guessed = np.asarray(heard.release(bits)) >= 1
    share = float((guessed == (bits == 1)).mean())
    assert 0.6 < share <= ceiling(1) + stray(runs)


@pytest.mark.parametrize("alpha", [0.025, 0.05, 0.1])
@pytest.mark.parametrize("seed", range(4))
def test_all_questions_within_alpha_n_leave_at_most_four_alpha_n_bits_wrong_whoever_lies(alpha, seed):
    people = 12
    secret, other = made(people, seed), made(people, seed + 100)
    far = secret.copy()
    far[: math.floor(4 * alpha * people)] ^= 1  # as far away as the theorem allows
    for decoy in (1 - secret, far, other):
        found = reconstruction(secret, Towards(decoy, alpha * people))
        assert (found.method, found.asked) == ("exhaustive", 2**people)
        assert found.furthest <= alpha * people + 1e-9
        assert people - found.right <= 4 * alpha * people


def test_no_better_bound_than_four_times_the_error_holds():
    # Half way between two tables that differ in four places, two each way, no answer is off by more than one: both fit
    # as well as can be asked for, and whoever takes the wrong one is wrong about 4 E = 4 bits.
    secret, decoy, groups = np.array([1, 1, 0, 0, 1]), np.array([0, 0, 1, 1, 1]), all_groups(5)
    answers = groups @ ((secret + decoy) / 2)
    assert np.abs(answers - groups @ secret).max() == np.abs(answers - groups @ decoy).max() == 1
    assert (secret != decoy).sum() == 4
    assert np.abs(answers - groups @ exhaustive(groups, answers)).max() <= 1


def test_sixteen_people_are_solved_exhaustively_by_default_and_more_are_not():
    assert attacked(16, RoundedDefence(2)).method == "exhaustive"
    assert attacked(17, RoundedDefence(2)).method == "message_passing"
    assert attacked(16, RoundedDefence(2), questions=64).method == "message_passing"


def test_the_worst_answer_of_the_table_found_is_the_least_of_all_tables():
    groups = all_groups(6)
    with seeded(4):
        answers = groups @ made(6, 3) + np.asarray(noise.uniform(7, 64)) - 3.0
    worst = np.abs(groups @ all_groups(6).T.astype(float) - answers[:, None]).max(axis=0)
    found = exhaustive(groups, answers)
    assert np.abs(groups @ found - answers).max() == worst.min()


def test_message_passing_gets_more_out_of_the_same_answers_than_least_squares():
    defence = NoisyDefence(round(math.sqrt(500) / 2))
    by = {method: attacked(500, defence, 5, method=method).share for method in ("least_squares", "message_passing")}
    assert by["message_passing"] >= 0.99 > by["least_squares"] > 0.85


def test_groups_are_sized_such_that_a_coarse_rounding_tells_something():
    assert known(RoundedDefence(50)).group_share(200) == 0.25  # a count of 25 is expected, where rounding to 50 changes
    assert known(RoundedDefence(100)).group_share(1000) == 0.5
    assert known(RoundedDefence(5)).group_share(1000) == 0.5
    assert known(RoundedDefence(10**6)).group_share(10) == 0.5
    assert attacked(PEOPLE, RoundedDefence(50)).share >= 0.99


def test_rounding_beyond_all_counts_tells_nothing():
    assert abs(attacked(PEOPLE, RoundedDefence(1000)).share - 0.5) <= stray(PEOPLE)


def test_whoever_is_in_a_sample_and_has_the_bit_is_found():
    found, secret = attacked(400, SampledDefence(0.5)), made(400, 1)
    assert not (found.guesses > secret).any()  # nobody is accused who has not got it
    assert abs(found.share - 0.75) <= stray(400)
    assert found.outcome.succeeds
    assert not found.blatant


def test_refused_answers_are_left_out():
    found = attacked(40, SuppressedDefence(20), questions=200)
    assert 0 < found.answered < found.asked == 200
    assert found.share == 1.0
    assert "more refused" in found.outcome.sentence


def test_with_no_answer_at_all_the_attacker_throws_coins():
    found = attacked(PEOPLE, SuppressedDefence(1000))
    assert found.answered == 0
    assert abs(found.share - 0.5) <= stray(PEOPLE)
    assert not found.outcome.succeeds


def test_the_noise_is_all_that_protects():
    assert attacked(PEOPLE, LaplaceDefence(100_000)).share == 1.0
    assert attacked(PEOPLE, GaussianDefence(10**6)).share == 1.0


def test_with_fewer_questions_than_people_many_are_still_guessed():
    assert attacked(PEOPLE, ExactDefence(), questions=PEOPLE // 2).share > 0.5 + stray(PEOPLE)


def test_messages_that_never_settle_give_way_to_least_squares(monkeypatch):
    astray = np.zeros(PEOPLE), False
    monkeypatch.setattr("discreet.lab.attacks.reconstruction.message_passing", lambda *_: astray)
    assert attacked(PEOPLE, ExactDefence()).share == 1.0


def test_messages_stay_numbers_where_groups_are_far_from_random():
    # Everyone but the first k: the groups of a running total.
    groups, bits = np.triu(np.ones((30, 30), bool)), made(30, 6)
    found, _ = message_passing(groups, (groups @ bits).astype(float), AttackerKnowledge(width=0.5))
    assert ((found >= 0) & (found <= 1)).all()


def test_where_clauses_over_public_columns_give_everybody_away():
    with seeded(3):
        people = crowd(TableCopy.read(rand.path(), identifier="zper"))
        chosen, bits = fair(people, people.bits("health", "excellent"), 120)
        public = TableCopy("rand", {name: chosen.column(name) for name in ("age", "income", "site", "female")})
        exact = reconstruction(bits, ExactDefence(), shape="sql", public=public)
        private = reconstruction(bits, LaplaceDefence(1), shape="sql", public=public)
        squares = reconstruction(bits, ExactDefence(), shape="sql", public=public, method="least_squares")
    assert exact.method == "linear_program"
    assert exact.share >= 0.99
    assert squares.share >= 0.9
    assert private.share <= private.ceiling
    assert "SELECT count(*) WHERE secret = 1 AND" in exact.example
    assert "(SQL)" in exact.outcome.target


def test_a_clause_means_what_it_says_and_nulls_satisfy_none():
    table = TableCopy.read({"age": [1, 2, 3, 4], "ward": ["A", "B", None, "A"], "empty": [None] * 4})
    with seeded(5):
        clauses = predicates(table, ["age", "ward", "empty"], 60)
    assert {part.partition(" ")[0] for each in clauses for part in each.text.split(" AND ")} >= {"age", "ward", "empty"}
    for each in clauses:
        if each.text.startswith("ward IN") and "age" not in each.text and "empty" not in each.text:
            assert each.members.tolist() == [f"'{ward}'" in each.text for ward in ("A", "B", "-", "A")]
        if "empty" in each.text:
            assert not each.members.any()


def test_random_groups_hold_the_share_that_was_asked_for():
    with seeded(8):
        for share in (0.5, 0.25):
            groups = random_groups(500, 403, share)
            assert groups.shape == (500, 403)
            assert groups.dtype == np.bool_
            assert abs(groups.mean() - share) <= stray(groups.size)


def test_the_bits_of_a_fair_copy_are_fair_though_the_column_is_not():
    bits = np.zeros(50_000, np.int64)
    bits[:5000] = 1
    with seeded(9):
        people, drawn = fair(TableCopy.read({"place": np.arange(50_000)}), bits, 4000)
    assert abs(drawn.mean() - 0.5) <= stray(4000)
    assert (bits[people.column("place")] == drawn).all()
    assert len(set(people.column("place").tolist())) == 4000


def test_a_secret_that_everybody_shares_is_refused():
    with pytest.raises(BadParameter, match="same bit"):
        fair(TableCopy.read({"a": [1, 1]}), np.array([1, 1]), 2)


def test_the_column_nearest_to_halving_the_people_is_the_secret():
    table = TableCopy.read({"rare": [1] * 8 + [0] * 92, "half": ["x", "y"] * 50, "unique": list(range(100))})
    assert secret_column(table) == "half"
    assert secret_column(TableCopy.read({"unique": list(range(100))})) is None


def test_an_outcome_says_in_words_and_figures_what_happened():
    exact, private = attacked(PEOPLE, ExactDefence()).outcome, attacked(PEOPLE, LaplaceDefence(1)).outcome
    assert (exact.verdict, private.verdict) == ("succeeds", "bounded")
    assert "200 of 200 secret bits guessed right (100.0%" in exact.sentence
    assert "73.1%" in private.sentence
    assert exact.record()["figures"]["asked"] == 800
    assert "<svg" in svg(exact.picture)


def test_several_targets_share_one_picture():
    assert compared([]) == []
    first, second = compared([attacked(PEOPLE, ExactDefence()), attacked(PEOPLE, LaplaceDefence(1))])
    assert first.picture.names == ["exact", "Discreet, epsilon 1 in all"]
    assert second.picture is None
    assert [line.text for line in first.picture.lines] == ["a coin", "promise 73%"]
    assert "<svg" in svg(first.picture)


def test_a_custodians_table_is_exposed_to_all_targets():
    said = []
    with seeded(11):
        table = TableCopy.read({"ward": noise.bernoulli(1 / 2, 300), "age": list(range(300)), "odd": [[1]] * 300})
        outcomes = expose(table, said.append)
    verdicts = {each.target: each.verdict for each in outcomes}
    assert verdicts["exact"] == verdicts["rounded to 10"] == verdicts["exact (SQL)"] == "succeeds"
    assert verdicts["Discreet, epsilon 1 in all"] == verdicts["a Discreet vault, epsilon 1 in all"] == "bounded"
    assert len(said) == len(outcomes)


@pytest.mark.parametrize(
    "columns", [{"a": []}, {"a": [1]}, {"a": [None] * 50}, {"a": list(range(50))}, {"a": [[1], [2]] * 20}]
)
def test_a_table_with_nothing_to_attack_gives_no_outcome(columns):
    assert expose(TableCopy.read(columns)) == []


@pytest.mark.parametrize("secret", [[], [0, 2], [[0, 1]], ["yes"]])
def test_what_is_not_a_list_of_bits_is_refused(secret):
    with pytest.raises(BadParameter, match="bits"):
        reconstruction(secret, ExactDefence())


def test_a_defence_that_loses_answers_is_refused():
    @dataclass(frozen=True)
    class Losing:
        name, epsilon = "losing", None

        def protect(self, values, questions, most=1):
            return self

        def sums(self, groups):
            return np.zeros(len(groups) - 1)

    with pytest.raises(BadParameter, match="800 answers"):
        attacked(PEOPLE, Losing())


@pytest.mark.parametrize("questions", [0, -1, 1.5])
def test_questions_are_counted(questions):
    with pytest.raises(BadParameter, match="questions"):
        attacked(PEOPLE, ExactDefence(), questions=questions)


def test_what_cannot_be_done_is_refused_with_the_fix():
    with pytest.raises(UnknownName, match="method"):
        attacked(PEOPLE, ExactDefence(), method="magic")
    with pytest.raises(UnknownName, match="shape"):
        attacked(PEOPLE, ExactDefence(), shape="round")
    with pytest.raises(BadParameter, match="16 people"):
        attacked(17, ExactDefence(), method="exhaustive")
    with pytest.raises(BadParameter, match="public"):
        attacked(PEOPLE, ExactDefence(), shape="sql")


def test_luck_with_few_people_is_no_verdict():
    lucky = Reconstruction("x", "auto", "random", np.ones(20, np.int64), np.array([1] * 15 + [0] * 5), 80, 80, 0.0)
    assert lucky.share == 0.75
    assert not lucky.outcome.succeeds
