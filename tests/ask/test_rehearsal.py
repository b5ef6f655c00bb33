"""Rehearsals: what cannot be answered is refused before it is paid for, and nothing that was paid for raises."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.ask.release import rehearse
from discreet.core.errors import BadParameter, Refusal
from discreet.core.schema import between, flag, one_of, text
from discreet.core.unit import person
from discreet.ledger import ledger as ledger_module
from discreet.plan.keys import LEAST_ROOM, MOST_KEYS, Keys, keys_of
from tests.curator.questions import PURE, curator_of, head, opened

ILL = {"id": [1], "ill": [1]}
COLUMNS = {
    "ward": one_of("A", "B", "C"),
    "age": between(0, 110),
    "huge": between(-1e300, 1e300, step=1e290),
    "large": between(0, 10**15),
    "fine": between(-1, 1, step=1e-12),
    "odd": between(Fraction(-1, 3), Fraction(2, 3), step=Fraction(1, 3)),
    "city": text(),
    "urgent": flag(),
}
ROWS = {
    "id": [*range(12), 1, 2],
    "ward": ["A", "B", None, "Z", "A", "A", "C", "B", "A", "C", "A", "B", "A", "A"],
    "age": [41, -5, 200, 7, 8, 90, 0, 110, 30, 31, 55, 56, 57, 58],
    "huge": [1e300, -1e300, 0.0, math.nan, math.inf, -math.inf, 1e290, 1.0, -0.0, 5e299, 1e308, 2.0, 3.0, 4.0],
    "large": [10**15, 0, 1, 2, 3, 10**12, 5, 6, 7, 8, 9, 10, 11, 12],
    "fine": [1.0, -1.0, 0.5, 1e-12, 0.0, math.nan, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
    "odd": [0.5, 0.1, -0.2, 0.0, 0.6, 0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1],
    "city": ["x", "y", "x", "", "x", "x", "x", "x", "x", None, "x", "x", "x", "x"],
    "urgent": [True, False, None, True, True, True, True, True, True, True, True, True, True, True],
}


def kinds_of(session):
    """The kinds of all entries of a session's ledger."""
    return [entry.kind for entry in curator_of(session).ledger.entries()]


@pytest.mark.parametrize("many", [10**310 + Fraction(1, 2), 10**310, 1e300])
@pytest.mark.parametrize("word", [dp.median, dp.sum, dp.mean, dp.variance, dp.std, dp.max])
def test_values_that_no_float_holds_are_refused_before_they_are_paid_for(tmp_path, word, many):
    session = opened(tmp_path, ILL, columns={"ill": between(0, 1)}, budget=PURE, unit=person("id", max_rows=1))
    before, visits = head(session), session.table("visits")
    report = visits.agg(m=word((1 - visits.ill) * many))
    for ask in (report.preview, report.release):
        with pytest.raises(Refusal, match="larger, or finer"):
            ask(epsilon=1)
    assert head(session) == before


def test_a_column_that_is_selected_126_times_is_refused_whatever_is_in_it(tmp_path):
    told = []
    for cities in (["x"] * 9, ["x"] * 5 + ["y"] * 4):
        session = opened(
            tmp_path, {"id": range(9), "city": cities}, columns={"city": text()}, unit=person("id", max_rows=1)
        )
        visits = session.table("visits")
        for number in range(125):
            visits = visits.derive(**{f"c{number}": visits.city})
        before = head(session)
        with pytest.raises(BadParameter, match="126 bits") as refused:
            visits.group_by("city", *(f"c{number}" for number in range(125))).count().release(epsilon=9, delta=0.1)
        assert head(session) == before
        told.append(str(refused.value))
    assert told[0] == told[1]


@pytest.mark.parametrize(("columns", "room"), [(1, MOST_KEYS), (6, MOST_KEYS), (12, 1448)])
def test_selected_keys_have_room_whatever_they_are(columns, room):
    keys = keys_of([f"c{n}" for n in range(columns)], {f"c{n}": text().named(f"c{n}") for n in range(columns)})
    assert keys.room == room >= LEAST_ROOM
    most = [tuple(f"{row}" for _ in range(columns)) for row in range(min(room, 2000))]
    assert isinstance(keys.chosen(most), Keys)


def test_keys_beyond_the_room_are_left_out_and_a_note_says_so(tmp_path, monkeypatch):
    session = opened(
        tmp_path, {"id": range(40), "city": list("abcd") * 10}, columns={"city": text()}, unit=person("id", max_rows=1)
    )
    report = session.table("visits").group_by("city").count()
    assert len(report.release(epsilon=50, delta=0.1)) == 4
    monkeypatch.setattr(Keys, "room", property(lambda _: 3))
    monkeypatch.setattr("discreet.plan.keys.LEAST_ROOM", 1)
    answer = report.release(epsilon=50, delta=0.1, fresh=True)
    assert [row[0] for row in answer.rows] == ["a", "b", "c"]
    assert "of the keys that are selected the first 3 are shown" in answer.notes


def test_a_rehearsal_names_what_cannot_be_written(tmp_path, monkeypatch):
    session = opened(tmp_path)
    asked = session.table("visits").agg(age=dp.median("age")).asked(epsilon=1)
    rehearse(asked)
    monkeypatch.setattr("discreet.measures.nested_quantiles.NestedQuantiles.noise", property(lambda _: str(10**5000)))
    with pytest.raises(BadParameter, match="too large to be written"):
        rehearse(asked)


def test_what_a_rehearsal_alone_refuses_is_refused_by_a_release_and_costs_nothing(tmp_path, monkeypatch):
    session = opened(tmp_path)
    report = session.table("visits").agg(age=dp.median("age"))
    before = head(session)
    with monkeypatch.context() as patched:
        patched.setattr("discreet.measures.nested_quantiles.NestedQuantiles.noise", property(lambda _: str(10**5000)))
        with pytest.raises(BadParameter, match="too large to be written"):
            report.release(epsilon=1)
    assert head(session) == before
    report.release(epsilon=1)
    assert kinds_of(session)[-2:] == ["charge", "settle"]


@pytest.mark.parametrize("end", ["low", "high"])
def test_a_rehearsal_looks_at_both_ends_of_the_grid(tmp_path, end):
    asked = opened(tmp_path).table("visits").agg(age=dp.median("age")).asked(epsilon=1)
    (part,) = asked.measures
    unwritten = getattr(part.middle.grid, end)

    def written(place):
        return str(10**5000) if place == unwritten else part.written(place)

    rehearse(asked)
    with pytest.raises(BadParameter, match="too large to be written"):
        rehearse(replace(asked, measures=(replace(part, written=written),)))


# Whatever is asked ----------------------------------------------------------------------------------------------------

powers = st.integers(-300, 300).flatmap(
    lambda power: st.integers(1, 9).map(lambda digit: Fraction(digit) * Fraction(10) ** power)
)
small = st.sampled_from([Fraction(1), Fraction(-3, 7), Fraction(1, 10), Fraction(10**20), Fraction(10) ** 90])
names = st.sampled_from(["age", "huge", "large", "fine", "odd"])
SUMS = [dp.sum, dp.mean, dp.variance, dp.std]
CHOICES = [dp.median, dp.min, dp.max]


@st.composite
def questions(draw, visits):
    """A question of any kind, and a price from next to nothing to next to everything."""

    def number():
        found = visits[draw(names)] if hasattr(visits, "__getitem__") else getattr(visits, draw(names))
        if draw(st.booleans()):
            found = found * draw(st.one_of(powers, small))
        if draw(st.booleans()):
            found = found + draw(st.one_of(powers, small))
        return -found if draw(st.booleans()) else found

    def aggregate():
        kind = draw(st.integers(0, 9))
        if kind < 4:
            return draw(st.sampled_from(SUMS))(number())
        if kind < 6:
            return draw(st.sampled_from(CHOICES))(number())
        if kind == 6:
            return dp.quantile(number(), draw(st.sampled_from([0.25, Fraction(1, 3), Fraction(1, 10**400)])))
        if kind == 7:
            return draw(st.sampled_from([dp.covariance, dp.correlation]))(number(), number())
        return dp.count() if kind == 8 else dp.people()

    def alone():
        edges = sorted(set(draw(st.lists(st.integers(-5, 120), min_size=2, max_size=5, unique=True))))
        kind = draw(st.integers(0, 2))
        return [dp.histogram("age", edges=edges), dp.cdf("age", edges), dp.top_k("ward", draw(st.integers(1, 3)))][kind]

    query = visits
    by = draw(st.sampled_from([None, None, "ward", "city", "urgent", "age"]))
    if by is not None:
        query = query.group_by(by)
    if draw(st.integers(0, 4)) == 0:
        report = query.agg(a=alone())
    else:
        report = query.agg(**{name: aggregate() for name in "abc"[: draw(st.integers(1, 2))]})
    price = {draw(st.sampled_from(["epsilon", "epsilon", "rho"])): Fraction(10) ** draw(st.integers(-100, 100))}
    if by == "city" or draw(st.booleans()):
        price["delta"] = draw(st.sampled_from([1e-6, 1e-300, 0.4]))
    if draw(st.integers(0, 3)) == 0:
        price["max_rows"] = "auto"
    return report, price


def examined(session, data):
    """Ask; whatever is refused was not paid for, and whatever was paid for can be written and printed."""
    report, price = data
    before = kinds_of(session)
    try:
        answer = report.release(**price, fresh=True)
    except Refusal:
        assert "charge" not in kinds_of(session)[len(before) :]
        return False
    assert str(answer)
    assert answer.explain()
    assert answer.to_json()
    assert len([*answer]) == len(answer)
    return True


def fuzz(tmp_path_factory, examples):
    """Examine so many questions; an exception out of the work is raised as it is, so that it can be read."""
    session = opened(
        tmp_path_factory.mktemp("fuzz"), ROWS, columns=COLUMNS, budget=dp.Budget(epsilon=10**150, delta=0.99)
    )
    answered = []

    repeated = examples < 1000  # the short form asks the same every time
    health = list(HealthCheck)

    @settings(max_examples=examples, deadline=None, database=None, derandomize=repeated, suppress_health_check=health)
    @given(questions(session.table("visits")))
    def run(data):
        answered.append(examined(session, data))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger_module, "_tried", lambda work, draws: work(draws))
        run()
    assert sum(answered) > examples / 20
    return answered


def test_nothing_raises_once_it_is_paid_for(tmp_path_factory):
    fuzz(tmp_path_factory, 60)


@pytest.mark.soak
def test_nothing_raises_once_it_is_paid_for_at_length(tmp_path_factory):
    fuzz(tmp_path_factory, 20_000)
