"""Answers: what they show, what can be done with them for free, and what they refuse."""

import io
import json
import re
import sqlite3
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser
from importlib import import_module

import numpy as np
import pytest
from rich.console import Console

import discreet as dp
from discreet import noise
from discreet.answers.answer import NOT_HELD, Answer, AnswerColumn
from discreet.answers.quantity import (
    BracketedValue,
    FunctionQuantity,
    LinearQuantity,
    NoisyInteger,
    PublicValue,
    linear,
)
from discreet.cli.shared.answer_output import record_of
from discreet.core.errors import BadParameter, UnknownName
from discreet.measures import moments
from tests.answers import spreads
from tests.curator.answers import days, noisy, single, wards

PRINTED = """\
ward    n          cost                  age
──────  ─────────  ────────────────────  ───────────
A       1,208 ± 6    820 [799, 842]      41 [39, 44]
B <b>&    640 ± 6  1,283 [1,246, 1,320]  41 [39, 44]
C          87 ± 6    394 [54, 693]       41 [39, 44]
D          -3 ± 6      ? [0, 5,000]      41 [39, 44]"""


def test_an_answer_prints_as_an_aligned_table_with_error_bars():
    assert str(wards()) == repr(wards()) == PRINTED


def test_no_more_digits_are_shown_than_the_interval_justifies():
    def shown(value, scale):
        quantity = linear(NoisyInteger("a", value, "laplace", Fraction(scale)))
        return str(Answer(keys=(), rows=[()], columns=[AnswerColumn("n", [quantity])])).splitlines()[-1]

    assert shown(5_034_221, 400) == "5,034,200 ± 1,200"
    assert shown(5_034_221, 2) == "5,034,221 ± 6"
    assert shown(-3, 2) == "-3 ± 6"


def test_shown_ends_are_rounded_outwards():
    answer = Answer(keys=(), rows=[()], columns=[AnswerColumn("x", [BracketedValue(10.0, 0.4999, 123.01)])])
    assert str(answer).splitlines()[-1] == "10 [0, 124]"


def test_a_table_of_many_rows_is_cut_in_the_middle():
    count = linear(NoisyInteger("a", 5, "laplace", Fraction(1)))
    many = Answer(keys=("k",), rows=[(at,) for at in range(1000)], columns=[AnswerColumn("n", [count] * 1000)])
    assert len(str(many).splitlines()) == 63
    assert "940 rows more" in str(many)
    assert "940 rows more" in many._repr_html_()


def test_an_answer_without_groups_is_one_number():
    answer = single()
    low, high = answer.interval()
    assert isinstance(answer.value(), int)
    assert low < answer.value("n") < high
    assert answer.cell().value == answer.value()
    assert len(answer) == 1


def test_rows_are_dictionaries_with_the_ends_beside_the_values():
    first = next(iter(wards()))
    assert list(first) == [
        "ward",
        "n",
        "n_low",
        "n_high",
        "cost",
        "cost_low",
        "cost_high",
        "age",
        "age_low",
        "age_high",
    ]
    assert (first["ward"], first["n"], first["n_low"], first["n_high"]) == ("A", 1208, 1202, 1214)
    assert wards().cell("A", column="n").value == 1208


def test_an_answer_comes_back_from_json_as_it_was():
    for answer in (wards(), days(), single(), wards()["cost"] * wards()["n"], wards() > 50, round(wards()["n"] / 7, 1)):
        again = Answer.from_json(answer.to_json())
        assert again == answer
        assert str(again) == str(answer)


def test_the_stored_text_is_versioned_and_holds_exact_numbers():
    record = json.loads(single().to_json())
    assert record["discreet"] == 1
    assert record["answer"]["noises"] == [["8.n", str(single().value()), "laplace", "2"]]
    assert record["answer"]["columns"][0]["quantities"] == [{"sum": [["1", "8.n"]], "constant": "0"}]


def test_a_receipt_is_added_when_the_answer_is_read():
    again = Answer.from_json(single().to_json(), receipt={"sequence": 12}, remaining="epsilon 1 of 2")
    assert (again.receipt, again.remaining) == ({"sequence": 12}, "epsilon 1 of 2")
    assert "receipt 12" in again._repr_html_()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda a: a.pop("rows"),
        lambda a: a["noises"].pop(),
        lambda a: a["rows"].append([[1]]),
        lambda a: a.update(columns=3),
        lambda a: a["noises"][0].__setitem__(1, "many"),
    ],
)
def test_a_text_that_was_changed_is_refused(spoil):
    record = json.loads(wards().to_json())
    spoil(record["answer"])
    with pytest.raises(BadParameter, match=r"to_json returned|one value for each key|one quantity"):
        Answer.from_json(json.dumps(record))


# Arithmetic ----------------------------------------------------------------------------------------------------------


def test_an_answer_minus_itself_is_exactly_zero_and_so_is_one_minus_its_replay():
    answer, replayed = wards()["n"], Answer.from_json(wards().to_json())["n"]
    for difference in (answer - answer, answer - replayed):
        assert {(c.value, c.low, c.high) for c in difference.column().cells} == {(0, 0, 0)}


def test_two_answers_of_the_same_question_have_noise_of_their_own():
    cell = (wards("7")["n"] - wards("8", seed=9)["n"]).cell("A")
    assert cell.high - cell.low > wards()["n"].cell("A").high - wards()["n"].cell("A").low


def test_shares_of_a_total_count_shared_noise_once():
    counts = wards()["n"].clip(0)
    shares = wards()["n"] / wards()["n"].total()
    cells = shares.column().cells
    assert sum(cell.value for cell in cells) == pytest.approx(1)
    assert all(cell.low <= cell.value <= cell.high for cell in cells)
    assert counts.keys == shares.keys == ("ward",)


def test_the_total_is_as_wide_as_the_sum_of_noise_and_not_as_the_sum_of_intervals():
    answer = wards()["n"]
    total, one = answer.total().cell(), answer.cell("A")
    assert total.value == sum(cell.value for cell in answer.column().cells)
    assert one.high - one.low < total.high - total.low < 4 * (one.high - one.low)


def test_numbers_stand_on_either_side():
    n = single()
    value = n.value()
    assert (n + 1).value() == (1 + n).value() == value + 1
    assert (n - 1).value() == value - 1
    assert (1 - n).value() == 1 - value
    assert (2 * n).value() == (n * 2).value() == (np.int64(2) * n).value() == 2 * value
    assert (n / 4).value() == value / 4
    assert (100 / n).value() == pytest.approx(100 / value)
    assert (-n).value() == -value
    assert abs(-n).value() == value
    assert round(n / 3, 1).value() == pytest.approx(round(value / 3, 1))
    assert round(n / 3).value() == int(value / 3 + 0.5)
    assert (n * 0.1).column().quantities[0] == n.column().quantities[0].times(Fraction(1, 10))


def test_rows_are_matched_by_key_and_not_by_place():
    answer = wards()["n"]
    turned = replace(
        answer,
        rows=answer.rows[::-1],
        columns=[replace(answer.columns[0], quantities=answer.columns[0].quantities[::-1])],
    )
    assert {cell.value for cell in (answer - turned).column().cells} == {0}


def test_a_negative_count_is_shown_as_it_is_and_clipped_on_request():
    with_negative = Answer(
        keys=(), rows=[()], columns=[AnswerColumn("n", [linear(NoisyInteger("a", -3, "laplace", Fraction(2)))])]
    )
    assert with_negative.value() == -3
    assert with_negative.clip(0).value() == 0
    assert with_negative.clip(0).interval() == (0, 3)


def test_comparisons_tell_certain_from_possible():
    large = wards()["n"] > 90
    assert [(c.value, c.low, c.high) for c in large.column().cells] == [
        (True, True, True),
        (True, True, True),
        (False, False, True),
        (False, False, False),
    ]
    assert [line.split()[-1] for line in str(large).splitlines()[2:]] == ["yes", "yes", "no?", "no"]


def test_only_a_single_comparison_is_true_or_false():
    assert single() > 10
    assert not single() < 10
    with pytest.raises(BadParameter, match="only a single comparison is true or false"):
        bool(wards())
    with pytest.raises(BadParameter, match="compare first"):
        bool(single())


def test_columns_are_joined_and_renamed():
    both = wards().join((wards()["cost"] * wards()["n"]).named("spent"))
    assert [column.name for column in both.columns] == ["n", "cost", "age", "spent"]
    assert both.receipt == wards().receipt


def test_what_is_made_of_two_receipts_has_the_price_of_neither():
    made = wards("7")["n"] + wards("8", receipt={"sequence": 8})["n"]
    assert (made.loss, made.receipt, dict(made.asked), made.remaining) == (None, None, {}, "")
    assert "Price: free" in made.explain()


def test_a_thousand_operations_touch_no_ledger_and_draw_no_noise(monkeypatch):
    first, second = wards("7")["n"], wards("8", seed=9)["n"]

    def forbidden(*_args, **_options):
        raise AssertionError("post-processing is free")

    monkeypatch.setattr(sqlite3, "connect", forbidden)
    # Each module of the noise took the name over from `bits`, so that it has to be replaced where it is used.
    for module in ("bernoulli", "polya", "sampling", "uniform"):
        monkeypatch.setattr(import_module(f"discreet.noise.{module}"), "current", forbidden)
    for guarded in (lambda: noise.laplace(2), lambda: noise.uniform(9), lambda: sqlite3.connect(":memory:")):
        with pytest.raises(AssertionError, match="post-processing is free"):
            guarded()
    steps = [
        lambda a: a + second,
        lambda a: a - 3,
        lambda a: a * Fraction(1, 2),
        lambda a: a / 4,
        lambda a: -a,
        lambda a: second - a,
        lambda a: abs(a),
        lambda a: a.clip(0),
        lambda a: round(a, 2),
        lambda a: a > 5,
    ]
    answer = first
    for at in range(1000):
        answer = steps[at % len(steps)](answer if at % len(steps) else first)
        assert all(cell.low <= cell.value <= cell.high for cell in answer.column().cells)


def test_functions_of_functions_keep_intervals():
    n, cost = wards()["n"], wards()["cost"]
    for made in (cost * n + 1, (cost * n) / n.total(), cost / n, (cost + n) * 2, 5 / cost):
        cell = made.cell("A")
        assert cell.low <= cell.value <= cell.high


# Showing -------------------------------------------------------------------------------------------------------------


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.opened, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in ("rect", "path", "circle"):
            self.opened.append(tag)

    def handle_endtag(self, tag):
        assert self.opened.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)

    def handle_data(self, data):
        self.text.append(data)


def test_html_is_well_formed_escaped_and_fetches_nothing():
    page = wards()._repr_html_()
    parser = _Tags()
    parser.feed(page)
    assert parser.opened == []
    assert "b" not in parser.seen
    assert "B <b>&" in parser.text
    assert not re.search(r"https?:|src=|@import|url\(|<script", page)
    assert page.count("<svg") == 11  # a ward without a mean has no bar
    assert 'aria-label="1,208, between 1,202 and 1,214"' in page


def test_html_of_columns_with_hostile_names_is_escaped():
    hostile = "<img src=x onerror=alert(1)>"
    answer = Answer(
        keys=(hostile,),
        rows=[(hostile,)],
        columns=[AnswerColumn("n", [PublicValue(1)], words=hostile)],
        notes=(hostile,),
    )
    assert "<img" not in answer._repr_html_()


def test_a_terminal_gets_a_rich_table():
    from rich.console import Console

    console = Console(width=70, file=io.StringIO())
    console.print(wards())
    shown = console.file.getvalue()
    assert "1,208 ± 6" in shown
    assert "B <b>&" in shown


def test_explain_says_what_was_protected_at_what_price_and_what_the_bounds_did():
    words = wards().explain()
    for part in (
        "Protected: one person (patient_id), with at most 20 rows, added or removed.",
        "Price: epsilon 0.5.",
        "1.65 times as likely",
        "Left: epsilon 2.5 of 3.",
        "Receipt: sequence 7, head 3f9a01.",
        "values above 5,000 count as 5,000",
        "n (number of rows: count, Laplace, scale 2, epsilon 0.2).",
        "within 6 of the middle",
        "small groups have wide intervals",
        "The interval was paid for with the value",
        "Free from here on",
    ):
        assert part in words


def test_explain_says_so_where_an_interval_has_no_end():
    ratio = single(1000) / single(0, name="m", mark="9")
    assert "unbounded" in ratio.explain()


# What it refuses -----------------------------------------------------------------------------------------------------


def test_a_misspelt_column_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'cost'"):
        wards()["cots"]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda a: a.value(), "rows=4: there are many values, not one. Fix: use cell(key), or iterate."),
        (lambda a: a.column(), "column=None: there are several columns. Fix: name one of n, cost, age."),
        (lambda a: a.cell("Z", column="n"), "key=('Z',): no row has that key. Fix: use a row such as ('A',)."),
        (lambda a: a.named("x"), "name='x': there are several columns. Fix: choose one first: answer['n'].named(...)."),
        (
            lambda a: a["n"] + days(),
            (
                "keys=('day', 'urgent'): the answers have other keys or rows; this one has ward. "
                "Fix: group both in the same way, or take total() first."
            ),
        ),
    ],
)
def test_refusals_say_what_why_and_the_fix(ask, text):
    with pytest.raises(BadParameter) as refusal:
        ask(wards())
    assert str(refusal.value) == text


def test_what_is_no_number_is_left_to_python():
    with pytest.raises(TypeError):
        single() + "1"
    with pytest.raises(TypeError):
        single() * True


def test_names_that_clash_and_columns_that_do_not_fit_are_refused():
    with pytest.raises(BadParameter, match="a name of its own"):
        Answer(keys=("n",), rows=[(1,)], columns=[AnswerColumn("n", [PublicValue(1)])])
    with pytest.raises(BadParameter, match="a name of its own"):
        Answer(keys=("n_low",), rows=[(1,)], columns=[AnswerColumn("n", [PublicValue(1)])])
    with pytest.raises(BadParameter, match="one quantity for every row"):
        Answer(keys=("k",), rows=[(1,), (2,)], columns=[AnswerColumn("n", [PublicValue(1)])])
    with pytest.raises(BadParameter, match="one value for each key"):
        Answer(keys=("k",), rows=[(1, 2)], columns=[AnswerColumn("n", [PublicValue(1)])])


def test_an_answer_is_a_value_that_cannot_be_changed():
    with pytest.raises(AttributeError):
        wards().loss = dp.Pure(1)
    assert wards() == wards()


def test_moments_say_what_the_mechanisms_say():
    from discreet.mechanisms.covariance import Covariance
    from discreet.mechanisms.mean import Mean
    from discreet.mechanisms.variance import Variance

    def same(statistic, exact, build):
        laws = [(noise.law, noise.scale) for noise, size in statistic.noises for _ in range(size)]
        drawn = [
            noisy(str(at), one, scale, law)
            for at, (one, (law, scale)) in enumerate(zip(statistic._inner(exact), laws, strict=True))
        ]
        answer = statistic._outer([np.array([each.value]) for each in drawn])
        (column,) = [AnswerColumn("x", [build(drawn)])]
        return float(np.ravel(answer)[1 if np.size(answer) > 1 else 0]), column.cells[0].value

    one = Fraction(1)
    mean = Mean(low=-5, high=15, epsilon=1)
    found, said = same(mean, (300, 200), lambda n: moments.mean(n, Fraction(-5), Fraction(15), step=one))
    assert found == pytest.approx(said)
    variance = Variance(low=0, high=20, epsilon=1)
    found, said = same(variance, (2000, 4000, 200_000), lambda n: spreads.variance(n, 20, step=one))
    assert found == pytest.approx(said)
    both = Covariance(bounds=((0, 10), (0, 20)), epsilon=1)
    found, said = same(
        both, (5000, 900, -800, 190_000, 90_000, 800_000), lambda n: moments.covariance(n, (10, 20), steps=(one, one))
    )
    assert found == pytest.approx(said)


def test_a_function_of_no_noise_is_exact():
    answer = Answer(
        keys=(), rows=[()], columns=[AnswerColumn("x", [FunctionQuantity("root", (LinearQuantity((), Fraction(9)),))])]
    )
    assert (answer.value(), answer.interval()) == (3.0, (3.0, 3.0))


def test_a_wide_answer_goes_on_below_beside_its_keys_and_cuts_nothing_off():
    columns = [AnswerColumn(f"column {n}", [BracketedValue(1e6 + n, 9e5, 1.2e6)] * 2) for n in range(8)]
    answer = Answer(keys=("ward",), rows=[("Intensive, Care",), ("B",)], columns=columns)
    console = Console(width=60, record=True)
    console.print(answer)
    shown = console.export_text()
    assert "…" not in shown
    assert shown.count("Intensive, Care") > 1
    assert all(f"column {n}" in shown for n in range(8))


def test_what_intervals_do_not_hold_is_a_line_of_its_own_wherever_an_answer_is_shown():
    line = f"{NOT_HELD}what bounding each person to 5 rows cut off"
    answer = replace(wards(), notes=("cost: values above 5,000 count as 5,000", line))
    assert answer.not_held == (line,)
    assert str(answer) == f"{PRINTED}\n{line}"
    assert f"<p>{line}</p>" in answer._repr_html_()
    console = Console(width=100, file=io.StringIO())
    console.print(answer)
    assert console.file.getvalue().rstrip().splitlines()[-1].strip() == line
    assert record_of(answer, None)["not_in_intervals"] == [line]
    assert Answer.from_json(answer.to_json()).not_held == (line,)
    assert wards().not_held == ()


def test_parts_of_rows_are_counted_and_whole_ones_shown():
    noise_of_weights = NoisyInteger("n", 7 * 2**20 + 2**19 - 1, "laplace", Fraction(2**20))
    quantity = linear(noise_of_weights, Fraction(1, 2**20))
    counted = Answer(keys=(), rows=[()], columns=[AnswerColumn("n", [quantity], kind="count")])
    assert str(counted).splitlines()[-1] == "7 ± 3"
    assert counted.value() == 7.5 - 2.0**-20
