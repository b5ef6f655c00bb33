"""fit: paid before a row is read, clipped person by person, replayed for free, and refused with the fix."""

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.budgets.price import Price
from discreet.ask.request import TrainingTerms
from discreet.ask.verbs.fit import VERB
from discreet.ask.verbs.training_run import training_run
from discreet.core import doors
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.schema import between, flag, one_of, text
from discreet.core.unit import person, row
from discreet.curator.session import Session
from discreet.ledger import QuestionFailed
from discreet.plan.gradients.person_gradients import gradient_sum
from discreet.testing import seeded
from tests.ask.desks import Textual
from tests.curator.questions import head, opened

COLUMNS = {"ward": one_of("A", "B", "C"), "age": between(0, 110), "urgent": flag(nullable=False), "note": text()}
RELATIONS = ("add_remove", "replace")
TERMS = TrainingTerms("logistic", "urgent")


def rows(many=3000, each=2):
    """People with `each` rows, whose urgency follows from ward and age."""
    place = np.arange(many)
    ward, age = np.array(["A", "B", "C"])[place % 3], place * 7 % 100
    return {"id": place // each, "ward": ward, "age": age, "urgent": (age > 60) | (ward == "A"), "note": "x"}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return opened(tmp_path_factory.mktemp("fit"), rows(), unit=person("id", max_rows=2), columns=COLUMNS, rows=3000)


def test_a_model_of_a_table_predicts_and_is_replayed_for_free(tmp_path):
    session = opened(tmp_path, rows(), unit=person("id", max_rows=2), columns=COLUMNS, rows=3000)
    visits, data = session.table("visits"), rows()
    first = session.fit(visits, learn.LogisticRegression(), target="urgent", epsilon=20, delta=1e-6)
    assert first.score({"ward": data["ward"], "age": data["age"]}, data["urgent"]) > 0.9
    assert first.classes_.tolist() == [False, True]
    assert first.model_.design.features[0].name == "ward"
    spent = head(session)
    again = session.fit(visits, learn.LogisticRegression(), target="urgent", epsilon=20, delta=1e-6)
    assert (again.coef_ == first.coef_).all()
    assert head(session) == spent
    other = session.fit(visits, learn.LogisticRegression(), target="urgent", epsilon=20, delta=1e-6, fresh=True)
    assert (other.coef_ != first.coef_).any()
    assert session.releases()[-1].label == "a logistic model of urgent in visits"
    with pytest.raises(BudgetExceeded):
        session.fit(visits, learn.LogisticRegression(), target="urgent", epsilon=2 * 10**6)


def test_every_kind_of_price_is_charged_at_what_it_says(session):
    visits = session.table("visits")
    pure = training_run(visits, TERMS, Price.of(epsilon=0.3))
    assert float(pure.loss.peak) == 0.3
    rho = training_run(visits, TERMS, Price.of(rho=0.01))
    assert 0.01 * (1 - 1e-9) < rho.loss.rho <= 0.01
    both = training_run(visits, TERMS, Price.of(epsilon=1, delta=1e-6))
    assert 0.8 < both.loss.epsilon(1e-6) <= 1


def test_a_number_of_people_is_declared_or_bought(session, tmp_path):
    assert training_run(session.table("visits"), TERMS, Price.of(epsilon=1)).descent.people is None
    single = opened(tmp_path, rows(), unit=row(), columns=COLUMNS, rows=3000)
    assert training_run(single.table("visits"), TERMS, Price.of(epsilon=1)).descent.people == 3000
    visits = single.table("visits")
    assert training_run(visits.where(visits.age > 3), TERMS, Price.of(epsilon=1)).descent.people is None


@pytest.mark.parametrize("kind", ["row", "person"])
def test_where_people_are_replaced_the_noise_is_twice_as_wide(kind, tmp_path):
    units = [
        (row if kind == "row" else lambda **of: person("id", max_rows=2, **of))(relation=each) for each in RELATIONS
    ]
    both = [opened(tmp_path, rows(60), unit=unit, columns=COLUMNS) for unit in units]
    runs = [training_run(session.table("visits"), TERMS, Price.of(rho=0.1)) for session in both]
    assert float(runs[1].descent.noise(5).scale / runs[0].descent.noise(5).scale) == pytest.approx(2, rel=1e-6)
    assert [run.loss.relation for run in runs] == [*RELATIONS]


def sums(session):
    """The exact sums of a round, as the engine's batches and the door give them."""
    found = []

    def heard(self, rows, at):
        weights = np.full((self.design.width, 1), 0.1)
        parts = [doors.opened(each.map(gradient_sum, self.residuals, weights, self.design)) for each in rows]
        found.extend(np.sum(parts, axis=0).tolist())
        raise RuntimeError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("discreet.learn.descent.Descent.run", heard)
        with pytest.raises(QuestionFailed):
            training_run(session.table("visits"), TERMS, Price.of(epsilon=1)).release(fresh=True)
    return np.array(found)


def test_a_person_who_comes_moves_a_round_by_no_more_than_was_paid_for(tmp_path):
    base = rows(60, 3)
    more = {name: [*values, *values[:5]] for name, values in base.items() if name != "note"}
    more |= {"id": [*base["id"], *[999] * 5], "urgent": [*base["urgent"], *[False] * 5], "note": ["x"] * 65}
    # At most five rows of a person: none is left out, so that both vaults keep the same ones.
    both = [
        opened(tmp_path, data, unit=person("id", max_rows=5), columns=COLUMNS)
        for data in ({**base, "note": ["x"] * 60}, more)
    ]
    one, other = map(sums, both)
    noise = training_run(both[0].table("visits"), TERMS, Price.of(epsilon=1)).descent.noise(1)
    assert noise.l1 * 0.9 < np.abs(other - one).sum() <= noise.l1


def test_what_went_through_text_is_what_the_vault_settled(session):
    through = Session(Textual(session.desk))
    one = through.fit(through.table("visits"), learn.LinearSVC(), "urgent", epsilon=1, columns=["age"])
    other = session.fit(session.table("visits"), learn.LinearSVC(), "urgent", epsilon=1, columns=["age"])
    assert one.model_.to_json() == other.model_.to_json()
    shown = through.preview_fit(through.table("visits"), learn.LinearSVC(), "urgent", epsilon=1)
    assert (
        shown.record() == session.preview_fit(session.table("visits"), learn.LinearSVC(), "urgent", epsilon=1).record()
    )
    assert "rounds" in str(shown)


def test_a_preview_is_free_and_says_what_to_expect(tmp_path):
    session = opened(tmp_path, rows(), unit=row(), columns=COLUMNS, rows=3000)
    before = head(session)
    shown = session.preview_fit(session.table("visits"), learn.LogisticRegression(), "urgent", epsilon=0.001)
    assert any("most frequent class" in word for word in shown.words)
    assert shown.rounds == 5
    assert head(session) == before


def test_numbers_are_learnt_too(session):
    found = session.fit(session.table("visits"), learn.HuberRegressor(), "age", epsilon=5, delta=1e-6)
    assert 0 <= found.predict({"ward": ["A"], "urgent": [True]})[0] <= 110


@pytest.mark.parametrize(
    ("estimator", "given", "kind", "words"),
    [
        (learn.LogisticRegression(), {"target": "age"}, BadParameter, "classes are listed"),
        (learn.HuberRegressor(), {"target": "ward"}, BadParameter, "number"),
        (learn.LogisticRegression(), {"target": "wards"}, UnknownName, "ward"),
        (learn.LogisticRegression(), {"target": "id"}, BadParameter, "identifies"),
        (learn.LogisticRegression(), {"target": "urgent", "columns": ["id"]}, BadParameter, "identifies"),
        (learn.LogisticRegression(), {"target": "urgent", "columns": ["note"]}, BadParameter, "not declared"),
        (learn.LogisticRegression(), {"target": "urgent", "columns": "age"}, BadParameter, "list"),
        (learn.LogisticRegression(), {"target": "urgent", "columns": []}, BadParameter, "nothing to learn"),
        (learn.LogisticRegression(epsilon=1), {"target": "urgent"}, BadParameter, "price"),
        (learn.LogisticRegression(bins=0), {"target": "urgent"}, BadParameter, "bins"),
        (object(), {"target": "urgent"}, BadParameter, "estimator"),
    ],
)
def test_what_cannot_be_learnt_is_refused_before_it_is_paid(session, estimator, given, kind, words):
    before = head(session)
    with pytest.raises(kind, match=words):
        session.fit(session.table("visits"), estimator, epsilon=1, **given)
    assert head(session) == before


def test_grouped_rows_are_refused(session):
    with pytest.raises(BadParameter, match="grouped"):
        training_run(session.table("visits").group_by("ward"), TERMS, Price.of(epsilon=1))


@pytest.mark.parametrize(
    "spec",
    [
        {"objective": 3, "target": "a"},
        {"objective": "logistic"},
        {"objective": "logistic", "target": "a", "columns": "b"},
        {"objective": "logistic", "target": "a", "bins": "b"},
        {"objective": "logistic", "target": "a", "more": 1},
    ],
)
def test_terms_that_are_not_written_as_they_should_be_are_refused(spec):
    with pytest.raises(BadParameter):
        VERB.read_spec(spec)


def test_terms_that_are_left_out_stay_as_usual():
    assert VERB.read_spec({"objective": "logistic", "target": "a"}) == TrainingTerms("logistic", "a")
    assert VERB.read_spec({"objective": "hinge", "target": "a", "bins": None}).bins is None


def test_the_same_debit_draws_the_same(session):
    asked = training_run(session.table("visits"), TERMS, Price.of(epsilon=1, delta=1e-6))
    with seeded(1):
        assert asked.release(fresh="one")[0].to_json() == asked.release(fresh="one")[0].to_json()
    assert isinstance(asked.loss, dp.GaussianDP)
