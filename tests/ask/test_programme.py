"""Programmes: one list of steps, which a release runs, a preview writes down and an answer is made of."""

from contextlib import contextmanager

import pytest

import discreet as dp
from discreet.answers.answer import Answer
from discreet.ask.programme import Programme
from discreet.core.exact import Exact
from discreet.noise.draws import Draws, new_key
from tests.curator.questions import engine, opened

ASKS = {
    "sums": (lambda t: t.group_by("ward").agg(n=dp.count(), cost=dp.mean("cost"), who=dp.people()), {"epsilon": 1}),
    "ranked": (lambda t: t.agg(age=dp.median("age"), n=dp.count(), cost=dp.quantile("cost", 0.25, 0.75)), {"rho": 1}),
    "pairs": (lambda t: t.agg(c=dp.covariance("age", "cost"), r=dp.correlation("age", "cost")), {"epsilon": 1}),
    "histogram": (lambda t: t.group_by("urgent").agg(h=dp.histogram("age", edges=[0, 50, 110])), {"epsilon": 1}),
    "cdf": (lambda t: t.agg(c=dp.cdf("age", [18, 65])), {"rho": 0.5}),
    "top_k": (lambda t: t.agg(best=dp.top_k("ward", 2)), {"epsilon": 1}),
    "selected": (lambda t: t.group_by("city").agg(n=dp.count(), age=dp.median("age")), {"epsilon": 50, "delta": 0.1}),
    "bought": (lambda t: t.agg(n=dp.count(), cost=dp.sum("cost")), {"epsilon": 1, "max_rows": "auto"}),
    "all": (
        lambda t: t.group_by("city").agg(n=dp.count(), age=dp.max("age")),
        {"epsilon": 50, "delta": 0.1, "max_rows": "auto"},
    ),
}


class Heard:
    """An engine that notes what it is asked, and a writer that does."""

    def __init__(self, engine=None):
        self.engine, self.asked = engine, []

    def in_order(self, question, unit):
        self.asked.append("tallies")
        return self.engine.in_order(question, unit)

    def people_by_key(self, question, unit):
        self.asked.append("tallies")
        return self.engine.people_by_key(question, unit)

    def tallies(self, _title, _question, _unit):
        self.asked.append("tallies")
        return []

    def rows_by_person(self, *given):
        self.asked.append("rows by person")
        return [] if self.engine is None else self.engine.rows_by_person(*given)

    @contextmanager
    def _counts(self, *given):
        with self.engine.counts(*given) as found:
            yield found

    def counts(self, *given):
        self.asked.append("counts")
        return [] if self.engine is None else self._counts(*given)


class Labelled(Draws):
    """Draws that note their labels."""

    def __init__(self):
        super().__init__(new_key())
        self.labels = []

    def at(self, label):
        self.labels.append(label)
        return super().at(label)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("programme")).table("visits")


def programme_of(table, name):
    ask, price = ASKS[name]
    return Programme(ask(table).asked(**price))


@pytest.mark.parametrize("name", ASKS)
def test_what_is_written_down_is_what_runs_in_that_order(table, name):
    programme = programme_of(table, name)
    written = Heard()
    programme.describe(written)
    draws = Labelled()
    with engine(programme.asked) as runner:
        ran = Heard(runner)
        programme.run(ran, draws)
    assert ran.asked == written.asked
    assert draws.labels == ["mark", *(claim.label for claim in programme.claims())]


@pytest.mark.parametrize("name", [name for name, (_, price) in ASKS.items() if "max_rows" not in price])
def test_the_losses_of_its_labels_are_the_loss_of_the_question(table, name):
    programme = programme_of(table, name)
    claims = [claim.loss for claim in programme.claims()]
    assert sum(claims[1:], claims[0]).epsilon(0.2) == pytest.approx(programme.asked.loss.epsilon(0.2), rel=1e-6)


@pytest.mark.parametrize("name", ASKS)
def test_an_answer_is_returned_as_built_and_its_replay_is_equal_to_it(tmp_path, monkeypatch, name):
    ask, price = ASKS[name]
    report = ask(opened(tmp_path).table("visits"))
    with monkeypatch.context() as patched:
        patched.setattr(Answer, "from_json", None)
        built = report.release(**price)
    read = report.release(**price)
    assert read.receipt["replayed"]
    assert not built.receipt["replayed"]
    assert read.received(None, "") == built.received(None, "")
    assert read.received(None, "").to_json() == built.received(None, "").to_json()
    assert list(read) == list(built)
    assert str(read.received(None, "")) == str(built.received(None, ""))


def test_the_answers_of_parts_are_returned_as_built_too(tmp_path, monkeypatch):
    parts = opened(tmp_path).table("visits").partition("ward")
    with monkeypatch.context() as patched:
        patched.setattr(Answer, "from_json", None)
        built = parts.release(lambda part: part.count(), epsilon=1)
    read = parts.release(lambda part: part.count(), epsilon=1)
    assert [each.received(None, "") for each in read.values()] == [each.received(None, "") for each in built.values()]


def test_what_an_engine_finds_is_a_token_until_a_mechanism_has_seen_it(table):
    for name in ASKS:
        programme = programme_of(table, name)
        with engine(programme.asked) as runner:
            step = programme.steps[0]
            with step.request(programme.start).found(runner) as found:
                assert isinstance(found, Exact) or callable(found)
