"""Quality: what a report says follows from paid measurements; the truth is for the custodian, and marked."""

import json
import math

import numpy as np
import pytest

from discreet import publish
from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter
from discreet.core.schema import between, one_of
from discreet.publish import quality
from discreet.publish.allowance import Allowance
from discreet.publish.domain import Domain
from discreet.publish.expected_error import expected
from discreet.publish.method import MarginalWorkload
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made


@pytest.fixture(scope="module")
def table():
    return dependent_table(made(1))


def synthetic_of(table, method="mst", **budget):
    domain, columns = table
    with seeded(2):
        return publish.synthesize(columns, domain, budget=Budget(**(budget or {"rho": 0.1})), method=method, workload=2)


def test_a_report_has_a_line_for_everything_that_was_measured(table):
    synthetic = synthetic_of(table)
    found = synthetic.report()
    assert {line.columns for line in found.lines} == {
        synthetic.domain.named(each.clique) for each in synthetic.measured
    }
    for line in found.lines:
        told, noise = synthetic.marginal(line.columns), line.noise * math.sqrt(2 / math.pi)
        assert line.cells == told.size
        assert line.expected == pytest.approx(noise * line.cells / synthetic.model.total)
    assert not found.exact


def test_the_distance_is_that_from_what_was_measured(table):
    synthetic = synthetic_of(table, "independent", epsilon=1)
    for line, each in zip(synthetic.report().lines, synthetic.measured, strict=True):
        apart = abs(synthetic.marginal(line.columns) - each.values).sum() / synthetic.model.total
        assert line.apart == pytest.approx(apart)
        assert line.expected == pytest.approx(each.scale * math.sqrt(0.5) * line.cells / synthetic.model.total)


def test_what_was_never_measured_is_listed(table):
    synthetic = synthetic_of(table, "independent")
    assert len(synthetic.report().never) == 6
    pairs = {line.columns for line in synthetic_of(table).report().lines if len(line.columns) == 2}
    assert pairs.isdisjoint(synthetic_of(table).report().never)
    assert "never measured: 6" in str(synthetic.report())


def test_repeated_measurements_of_one_marginal_are_put_together(table):
    synthetic = synthetic_of(table, "aim", rho=1)
    cliques = [each.clique for each in synthetic.measured]
    lines = {line.columns: line for line in synthetic.report().lines}
    assert len(lines) == len({*cliques})
    often = max(cliques, key=cliques.count)
    scales = [each.scale for each in synthetic.measured if each.clique == often]
    assert lines[synthetic.domain.named(often)].noise == pytest.approx(sum(scale**-2 for scale in scales) ** -0.5)


def test_a_report_needs_no_data_and_says_the_same_for_a_file(table, tmp_path):
    synthetic = synthetic_of(table)
    synthetic.save(tmp_path / "synthetic.json")
    assert publish.load(tmp_path / "synthetic.json").report() == synthetic.report()


def test_the_page_needs_nothing_from_elsewhere_and_escapes_names(tmp_path):
    odd = "<b>'&\""
    synthetic = publish.synthesize({odd: np.arange(50) % 2}, {odd: 2}, budget=Budget(epsilon=1))
    synthetic.report().save(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert odd not in page
    assert "&lt;b&gt;" in page
    assert "<svg" in page
    assert not any(word in page for word in ("http", "<script", "src=", "@import"))


def test_json_is_versioned(table, tmp_path):
    synthetic_of(table).report().save(tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text())
    assert found["discreet"] == 1
    assert found["quality"]["exact"] is False
    assert {"columns", "cells", "apart", "noise", "expected"} == {*found["quality"]["marginals"][0]}
    with pytest.raises(BadParameter, match="path"):
        synthetic_of(table).report().save(tmp_path / "report.pdf")


def test_the_truth_is_marked_as_such(table):
    _, columns = table
    synthetic = synthetic_of(table)
    found = quality.against(synthetic, columns)
    assert found.exact
    assert "never to be published" in str(found)
    assert "class='exact'" in found.to_html()
    assert len(found.lines) == 6
    exact = np.histogram2d(columns["first"], columns["second"], bins=[3, 3])[0]
    line = next(line for line in found.lines if line.columns == ("first", "second"))
    assert line.apart == pytest.approx(abs(synthetic.marginal(["first", "second"]) - exact).sum() / 4000)
    assert quality.against(synthetic, columns, 1).mean < found.mean


def test_the_truth_is_told_of_declared_values_too():
    data = {"ward": ["A", "B", None, "A"] * 100, "age": [1, 50, 200, None] * 100}
    columns = {"ward": one_of("A", "B"), "age": between(0, 99)}
    with seeded(1):
        synthetic = publish.synthesize(data, columns, budget=Budget(rho=50), workload=2)
    assert quality.against(synthetic, data).mean < 0.05


@pytest.mark.parametrize("budget", [Budget(rho=0.001), Budget(epsilon=0.1), Budget(epsilon=1, delta=1e-6)])
def test_expectations_are_those_of_the_noise_that_is_drawn(budget):
    """The sum of 4000 absolute values of noise lies within five standard errors: false alarms of 6e-7."""
    domain = Domain.of({"wide": 4000})
    (line,) = expected(domain, Allowance.of(budget), MarginalWorkload.of(domain, 1), 1000).singles
    with seeded(3):
        synthetic = publish.synthesize({"wide": []}, domain, budget=budget, method="independent")
    noise = abs(synthetic.measured[0].values)
    assert abs(noise.sum() - line.total) < 5 * noise.std() * math.sqrt(4000)
    assert line.share == pytest.approx(line.total / 1000)


def test_a_budget_that_is_too_small_to_be_useful_is_told_in_advance():
    domain = Domain.of({"a": 50, "b": 20})
    workload = MarginalWorkload.of(domain, 2)
    small = expected(domain, Allowance.of(Budget(epsilon=0.01)), workload, 1000)
    assert "too little to be useful" in str(small)
    assert not any(
        "too little" in word for word in expected(domain, Allowance.of(Budget(epsilon=5)), workload, 1000).words
    )
    times = int(str(small).split("about ")[1].split(" times")[0].replace(",", ""))
    enough = expected(domain, Allowance.of(Budget(epsilon=0.01 * times)), workload, 1000)
    assert np.median([line.share for line in enough.singles]) == pytest.approx(0.1, rel=0.05)
    assert "declare how many rows" in str(expected(domain, Allowance.of(Budget(epsilon=1)), workload, None))
    assert json.dumps(small.record())


def test_synthetic_data_whose_method_measured_no_marginal_says_so(table):
    found = synthetic_of(table, "merf", epsilon=5, delta=1e-9).report()
    assert found.lines == ()
    assert "no marginal was measured" in str(found)
    assert len(found.never) == 4 + 6
    assert found.to_html().count("<tr>") == 1
