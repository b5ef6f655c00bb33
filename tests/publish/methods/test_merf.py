"""DP-MERF: what one row can move is what the noise was bought for, and marginals are nearly the table's."""

from fractions import Fraction

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.account.losses.zcdp import Zcdp
from discreet.core.doors import opened
from discreet.core.errors import BadParameter, MissingExtra
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.publish import merf_images
from discreet.publish.allowance import Allowance
from discreet.publish.code_table import Coded
from discreet.publish.kernels import COSINES, GRID, SINES, TURN
from discreet.publish.method import MarginalWorkload
from discreet.publish.methods import merf
from discreet.publish.methods.merf import SQUARE, SUM, released
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made

BUDGETS = [Budget(rho=Fraction(1, 100)), Budget(epsilon=1), Budget(epsilon=1, delta=1e-6)]


@pytest.fixture(scope="module")
def table():
    return dependent_table(made(1))


@pytest.fixture
def seen(monkeypatch):
    """Keep the exact vectors that noise was added to, and the mechanisms that did it."""
    found = []

    def watched(kind):
        class Watched(kind):
            def release(self, exact):
                found.append((self, np.array(opened(exact))))  # a copy: noise is added in place
                return super().release(exact)

        return Watched

    monkeypatch.setattr(merf, "Gaussian", watched(Gaussian))
    monkeypatch.setattr(merf, "Laplace", watched(Laplace))
    return found


def test_a_point_of_the_circle_is_never_longer_than_stated():
    assert len(COSINES) == len(SINES) == TURN
    assert max(c * c + s * s for c, s in zip(COSINES.tolist(), SINES.tolist(), strict=True)) == SQUARE
    assert max(abs(c) + abs(s) for c, s in zip(COSINES.tolist(), SINES.tolist(), strict=True)) == SUM
    assert GRID**2 <= SQUARE <= (GRID + 1) ** 2  # rounding to the grid adds less than a step


@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("rows", [1, 3])
def test_no_rows_of_a_person_move_the_sums_further_than_the_noise_was_bought_for(
    table, seen, budget, rows, monkeypatch
):
    domain, columns = table
    allowance = Allowance.of(budget, rows)
    angles = merf._phases(domain, merf._looked_at([*MarginalWorkload.of(domain, 2).weights], 100))
    monkeypatch.setattr(merf, "FEATURES", 100)
    monkeypatch.setattr(merf, "_phases", lambda *_: angles)  # they are public, and the same for neighbours
    # A person's rows are alike, so that nothing cancels out; one of them may have no value here and there.
    for missing in (False, True):
        seen.clear()
        person = {name: values[:1].repeat(rows) for name, values in columns.items()}
        if missing:
            person["second"] = np.full(rows, -1)
        with_them = {name: np.concatenate([values[:200], person[name]]) for name, values in columns.items()}
        without = {name: values[:200] for name, values in columns.items()}
        for each in (with_them, without):
            merf.build(
                Coded.of(each, domain).measure, domain, allowance, MarginalWorkload.of(domain, 2), lambda _: None
            )
        (mechanism, one), (_, other) = seen
        moved = (one - other).tolist()
        assert any(moved)
        if isinstance(mechanism, Gaussian):
            assert sum(each * each for each in moved) <= mechanism.sensitivity_squared
            assert mechanism.rho <= allowance.amount
        else:
            assert sum(map(abs, moved)) <= mechanism.sensitivity
            assert mechanism.epsilon <= allowance.amount


@pytest.mark.parametrize("budget", [Budget(epsilon=5), Budget(epsilon=5, delta=1e-9)])
def test_synthetic_data_has_nearly_the_tables_marginals(table, seen, budget):
    domain, columns = table
    with seeded(3):
        synthetic = publish.synthesize(columns, domain, budget=budget, method="merf", workload=2)
    assert synthetic.loss == Allowance.of(budget).loss
    assert len(seen) == 1  # all of it bought one release
    assert abs(synthetic.rows - 4000) < 40
    exact = np.histogram2d(columns["first"], columns["second"], bins=[3, 3])[0]
    assert abs(synthetic.marginal(["first", "second"]) - exact).sum() / 4000 < 0.1


def test_the_hidden_class_is_never_shown_and_is_kept_in_files(table, tmp_path):
    domain, columns = table
    with seeded(4):
        synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="merf", workload=2)
        synthetic.save(tmp_path / "synthetic.json")
    again = publish.load(tmp_path / "synthetic.json")
    assert [*again.codes(10)] == [*domain.names]
    np.testing.assert_array_equal(again.marginal(["first", "third"]), synthetic.marginal(["first", "third"]))
    assert {*again.condition(first=1).codes(50)["first"].tolist()} == {1}
    assert again.answer({"first": 0}).error is None  # no marginal was measured, so that none has a bar
    assert 0 < again.answer({}).error < 20  # but the number of rows was
    assert abs(again.answer({}).value - 4000) < again.answer({}, beta=1e-6).error


def test_a_synthetic_of_an_empty_table_is_synthetic_data(table):
    domain, columns = table
    empty = {name: values[:0] for name, values in columns.items()}
    synthetic = publish.synthesize(empty, domain, budget=Budget(epsilon=1), method="merf", workload=2)
    assert all(len(column) == 10 for column in synthetic.codes(10).values())


def test_gradients_of_a_mixture_are_differences_of_its_distance(table):
    domain, _ = table
    generator = made(6)
    phases = [{0: generator.integers(0, TURN, 3), 2: generator.integers(0, TURN, 2)} for _ in range(5)]
    phases += [{3: generator.integers(0, TURN, 4)}, {0: generator.integers(0, TURN, 3), 1: np.array([1, 5, 9])}]
    angles = [merf.Angled.of(domain, place, phases) for place in range(len(domain))]
    target = generator.normal(size=len(phases)) + 1j * generator.normal(size=len(phases))
    mixture = merf.Mixture.random(domain)
    before, slopes = mixture.slopes(angles, target)
    for part, slope in zip([mixture.classes, *mixture.codes], slopes, strict=True):
        place = tuple(int(generator.integers(size)) for size in part.shape)
        part[place] += 1e-6
        after, _ = mixture.slopes(angles, target)
        part[place] -= 1e-6
        assert (after - before) / 1e-6 == pytest.approx(slope[place], rel=1e-3, abs=1e-5)


def _pictures(rows=120):
    """Return images of 3 x 4 pixels, bright on the left or on the right, as their label says."""
    generator = made(8)
    labels = generator.integers(0, 2, rows)
    bright = np.where((np.arange(4) < 2) == (labels[:, None, None] == 0), 200, 20)
    return (bright + generator.integers(0, 50, (rows, 3, 4))).astype(np.uint8), labels


def test_sums_over_images_do_not_depend_on_their_order():
    pixels, labels = _pictures()
    with seeded(9):
        frequencies = merf_images.drawn_frequencies(12, 2.0, features=40)
    order = np.arange(len(labels))[::-1]
    flat = pixels.reshape(len(pixels), -1)
    one = opened(merf_images.embedded(flat, labels, 2, frequencies))
    other = opened(merf_images.embedded(flat[order], labels[order], 2, frequencies))
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_one_image_moves_the_sums_no_further_than_the_noise_was_bought_for(seen):
    pixels, labels = _pictures()
    flat = pixels.reshape(len(pixels), -1)
    with seeded(10):
        frequencies = merf_images.drawn_frequencies(12, 2.0, features=40)
    for last in (len(labels), len(labels) - 1):
        exact = merf_images.embedded(flat[:last], labels[:last], 2, frequencies)
        released(exact, 2, 40, Allowance.of(Budget(rho=1)))
    (mechanism, one), (_, other) = seen
    assert 0 < sum(each * each for each in (one - other).tolist()) <= mechanism.sensitivity_squared


def test_an_image_with_a_label_that_is_none_stays_out():
    pixels, labels = _pictures()
    flat = pixels.reshape(len(pixels), -1)
    with seeded(11):
        frequencies = merf_images.drawn_frequencies(12, 2.0, features=10)
    odd = np.array([-1, 2, 2**40])
    more = np.concatenate([flat, flat[:3]]), np.concatenate([labels, odd])
    for ours, theirs in zip(
        opened(merf_images.embedded(flat, labels, 2, frequencies)),
        opened(merf_images.embedded(*more, 2, frequencies)),
        strict=True,
    ):
        np.testing.assert_array_equal(ours, theirs)


def test_images_without_torch_are_refused_with_the_line_that_installs_it(monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr(merf_images, "import_module", absent)
    pixels, labels = _pictures()
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[torch\]'"):
        merf_images.images(pixels, labels, classes=2, budget=Budget(rho=1))


def test_images_are_billed_after_every_check_and_before_they_are_looked_at(monkeypatch):
    pixels, labels = _pictures()
    seen = []

    class Unpaid(Exception):
        pass

    def refuse(loss):
        seen.append(loss)
        raise Unpaid

    monkeypatch.setattr(merf_images, "_torch", lambda: None)
    monkeypatch.setattr(merf_images, "_check_device", lambda *_: seen.append("checked"))
    monkeypatch.setattr(merf_images, "embedded", lambda *_: seen.append("read"))
    with pytest.raises(Unpaid):
        merf_images.images(pixels, labels, classes=2, budget=Budget(rho=1), bill=refuse)
    assert seen == ["checked", Zcdp(1)]


def test_arrays_that_are_no_images_are_refused_by_their_type(monkeypatch):
    monkeypatch.setattr(merf_images, "import_module", lambda _: None)
    pixels, labels = _pictures()
    for bad in (
        {"pixels": pixels / 255},
        {"labels": labels[:-1]},
        {"labels": labels.astype(str)},
        {"classes": 0},
        {"spread": 0.0},
        {"steps": 0},
        {"features": 0},
    ):
        arguments = {"pixels": pixels, "labels": labels, "classes": 2, "budget": Budget(rho=1), **bad}
        with pytest.raises(BadParameter):
            merf_images.images(**arguments)


def test_a_generator_of_images_tells_the_classes_apart():
    pytest.importorskip("torch", reason="torch is not installed")
    pixels, labels = _pictures(2000)
    with seeded(12):
        found = merf_images.images(pixels, labels, classes=2, budget=Budget(rho=1), spread=2.0, features=200, steps=150)
        drawn, named = found.sample(200)
    assert found.loss == Allowance.of(Budget(rho=1)).loss
    left = drawn.reshape(-1, 3, 4)[:, :, :2].mean(axis=(1, 2)) > drawn.reshape(-1, 3, 4)[:, :, 2:].mean(axis=(1, 2))
    assert (left == (named == 0)).mean() > 0.9
    assert found.sample(0)[0].shape == (0, 12)


def test_images_with_sides_that_can_be_halved_are_drawn_by_convolutions_and_progress_counts_the_steps():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pixels, labels = _pictures(400)
    wide = np.kron(pixels, np.ones((1, 4, 2), np.uint8))  # 12 x 8
    told = []
    before = torch.random.get_rng_state()
    with seeded(13):
        found = merf_images.images(
            wide,
            labels,
            classes=2,
            budget=Budget(rho=1),
            features=50,
            steps=3,
            progress=lambda *step: told.append(step),
        )
        assert found.sample(5)[0].shape == (5, 96)
    assert any(isinstance(layer, torch.nn.Conv2d) for layer in found.network.layers)
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert torch.equal(before, torch.random.get_rng_state())  # the caller's own stream is as it was


def test_a_device_that_is_not_there_is_refused_before_anything_is_measured(seen):
    pytest.importorskip("torch", reason="torch is not installed")
    pixels, labels = _pictures()
    with pytest.raises(BadParameter, match="device"):
        merf_images.images(pixels, labels, classes=2, budget=Budget(rho=1), features=10, device="cuda:77")
    assert not seen


def test_one_label_of_another_kind_is_missing_and_refuses_nothing():
    pixels, labels = _pictures()
    for odd in (None, 0.5, 2**70, -1, float("nan"), "x"):
        _, named = merf_images._checked(pixels, [*labels[:-1].tolist(), odd], 2)
        assert named.tolist() == [*labels[:-1].tolist(), -1]
