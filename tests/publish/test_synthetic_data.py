"""Synthetic data: its answers are close to the truth, error bars cover, conditions and files keep it."""

import base64
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import between, date, publish
from discreet.account.budgets.budget import Budget
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.publish.allowance import Allowance, Spending
from discreet.publish.method import METHODS, method_of
from discreet.testing import seeded
from tests.publish.worlds import dependent_table, made

BUILT = tuple(name for name in METHODS if name in ("aim", "independent", "mst", "mwem", "tables"))


@pytest.fixture(scope="module")
def table():
    return dependent_table(made(1))


@pytest.mark.parametrize("method", BUILT)
@pytest.mark.parametrize("budget", [Budget(epsilon=5), Budget(epsilon=5, delta=1e-9), Budget(rho=1)])
def test_synthetic_data_has_nearly_the_tables_marginals(table, method, budget):
    domain, columns = table
    with seeded(3):
        synthetic = publish.synthesize(columns, domain, budget=budget, method=method, workload=2)
    singles = [synthetic.marginal(name) for name in domain.names]
    for name, found in zip(domain.names, singles, strict=True):
        exact = np.bincount(columns[name], minlength=len(found))
        assert abs(found - exact).sum() / 4000 < 0.05
    if method != "independent":
        exact = np.histogram2d(columns["first"], columns["second"], bins=[3, 3])[0]
        assert abs(synthetic.marginal(["first", "second"]) - exact).sum() / 4000 < 0.1


@pytest.mark.parametrize("method", BUILT)
def test_a_method_spends_no_more_than_its_allowance(table, method, monkeypatch):
    domain, columns = table
    purses = []
    init = Spending.__init__

    def remember(self, *arguments, **named):
        init(self, *arguments, **named)
        purses.append(self)

    monkeypatch.setattr(Spending, "__init__", remember)
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=Fraction(1, 100)), method=method, workload=2)
    assert purses
    assert sum(purse.spent for purse in purses) <= Fraction(1, 100)
    assert synthetic.loss == Allowance.of(Budget(rho=Fraction(1, 100))).loss


def test_bars_cover_the_truth_of_what_was_measured(table):
    """Of 600 answers with bars at 95%, at least 95% less four standard errors cover."""
    domain, columns = table
    covered = many = 0
    for seed in range(30):
        with seeded(seed):
            synthetic = publish.synthesize(
                columns, domain, budget=Budget(rho=Fraction(1, 200)), method="aim", workload=2
            )
        for first in range(3):
            for second in range(3):
                found = synthetic.answer({"first": first, "second": second})
                if found.error is None:
                    continue
                many += 1
                exact = ((columns["first"] == first) & (columns["second"] == second)).sum()
                covered += found.low <= exact <= found.high
    assert many > 100
    assert covered / many >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / many)


def test_an_answer_that_nothing_measured_bears_on_has_no_bar(table):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(epsilon=1), method="independent")
    assert synthetic.answer({"first": 0}).error is not None
    assert synthetic.answer({"first": 0, "second": 0}).error is None


def test_a_condition_keeps_what_it_says_and_the_rest_in_proportion(table):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="mst")
    given = synthetic.condition(second=[0, 2], third=1)
    drawn = given.codes(500)
    assert set(drawn["second"]) <= {0, 2}
    assert set(drawn["third"]) == {1}
    both = synthetic.marginal(["first", "second", "third"])[:, [0, 2], 1]
    np.testing.assert_allclose(given.marginal("first"), both.sum(axis=1), rtol=1e-6)
    assert given.model.total == pytest.approx(both.sum())


def test_a_saved_synthetic_data_is_the_same_when_loaded(table, tmp_path):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(epsilon=1, delta=1e-9), method="aim", workload=2)
    synthetic.save(tmp_path / "synthetic.json")
    again = publish.load(tmp_path / "synthetic.json")
    assert (again.loss, again.method, again.domain) == (synthetic.loss, synthetic.method, synthetic.domain)
    for names in (["first"], ["first", "third"], ["second", "third", "fourth"]):
        np.testing.assert_array_equal(again.marginal(names), synthetic.marginal(names))
    assert str(again.answer({"first": 0})) == str(synthetic.answer({"first": 0}))


@pytest.mark.parametrize("text", ["", "{}", '{"discreet": 1, "synthetic_data": {}}', "\0", "[1]"])
def test_a_file_that_is_no_synthetic_data_is_refused(text, tmp_path):
    path = tmp_path / "synthetic.json"
    path.write_text(text)
    with pytest.raises(BadParameter):
        publish.load(path)


def test_a_synthetic_of_an_empty_table_is_synthetic_data(table):
    domain, columns = table
    empty = {name: values[:0] for name, values in columns.items()}
    for method in BUILT:
        synthetic = publish.synthesize(empty, domain, budget=Budget(epsilon=1), method=method, workload=2)
        assert all(len(column) == 10 for column in synthetic.codes(10).values())


def test_misspelt_words_are_refused_with_the_nearest(table):
    domain, columns = table
    with pytest.raises(UnknownName, match="mst"):
        publish.synthesize(columns, domain, budget=Budget(epsilon=1), method="msst")
    with pytest.raises(UnknownName, match="first"):
        publish.synthesize(columns, domain, budget=Budget(epsilon=1), workload=[["frist"]])
    with pytest.raises(UnknownName):
        publish.synthesize({"other": [0]}, domain, budget=Budget(epsilon=1))


def test_a_domain_too_large_for_one_histogram_is_refused_before_anything_is_paid():
    domain = publish.Domain.of({f"a{number}": 10 for number in range(10)})
    with pytest.raises(Refusal, match="1e"):
        publish.synthesize(
            {f"a{number}": [0] for number in range(10)}, domain, budget=Budget(epsilon=1), method="tables"
        )


def test_every_method_has_a_module_that_builds():
    for name in BUILT:
        assert callable(method_of(name).build)


def test_auto_looks_at_no_row(table):
    domain, columns = table
    empty = {name: values[:0] for name, values in columns.items()}
    for budget in (Budget(epsilon=Fraction(1, 10)), Budget(epsilon=10, delta=1e-9)):
        names = {publish.synthesize(each, domain, budget=budget, workload=2).method for each in (columns, empty)}
        assert len(names) == 1


def test_codes_are_named_as_a_number_a_list_a_range_a_set_or_numpys_own(table):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    both = synthetic.answer({"first": [0, 1]}).value
    assert both == synthetic.answer({"first": range(2)}).value == synthetic.answer({"first": {0, 1}}).value
    assert both == synthetic.answer({"first": np.array([1, 0])}).value
    assert synthetic.answer({"first": np.int64(1)}).value == synthetic.answer({"first": 1}).value


@pytest.mark.parametrize(
    ("bad", "what"),
    [
        ({"domain": {"first": 3, "none": 2}}, "none"),
        ({"domain": {"first": 3, "second": between(0, 2)}}, "first"),
        ({"domain": [("first", 3)]}, "domain"),
        ({"domain": {"first": 0}}, "first"),
        ({"budget": 1.0}, "budget"),
        ({"method": 3}, "method"),
        ({"workload": True}, "workload"),
        ({"workload": 1.5}, "workload"),
        ({"workload": "first"}, "workload"),
        ({"workload": ["first"]}, "workload"),
        ({"workload": [[]]}, "workload"),
        ({"workload": [3]}, "workload"),
        ({"workload": b"ab"}, "workload"),
        ({"workload": [["first", "frist"]]}, "frist"),
        ({"workload": [["first"]] * 20_001}, "workload"),
        ({"zeros": [{"first": 1.5}]}, "zeros"),
        ({"zeros": [{"first": [7]}]}, "zeros"),
    ],
)
def test_bad_input_is_refused_with_the_fix_and_never_by_a_traceback(table, bad, what):
    domain, columns = table
    with pytest.raises(Refusal, match=what) as refused:
        publish.synthesize(columns, **{"domain": domain, "budget": Budget(rho=1), **bad})
    assert refused.value.fix


def test_a_marginal_of_very_many_columns_is_refused_before_its_parts_are_listed():
    names = [f"c{place}" for place in range(40)]
    with pytest.raises(BadParameter, match="1 to 12 columns"):
        publish.synthesize(
            {name: [0] for name in names}, dict.fromkeys(names, 2), budget=Budget(rho=1), workload=[names]
        )


def test_text_that_is_no_date_is_refused_as_such():
    synthetic = publish.synthesize({"day": []}, {"day": date("2024-01-01", "2024-12-31")}, budget=Budget(rho=1))
    with pytest.raises(BadParameter, match="it is not a date"):
        synthetic.answer({"day": "tomorrow"})
    with pytest.raises(BadParameter, match="bounds"):
        synthetic.answer({"day": "2023-01-01"})


def test_zeros_and_questions_name_codes_as_numpy_does_and_no_range_is_written_out(table):
    domain, columns = table
    name = domain.names[0]
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="mst", zeros=[{name: np.int64(1)}])
    assert not (synthetic.codes(500)[name] == 1).any()
    for ask in (lambda: synthetic.answer({name: range(10**12)}), lambda: publish_zero(table, range(10**12))):
        with pytest.raises(BadParameter):
            ask()


def publish_zero(table, codes):
    domain, columns = table
    return publish.synthesize(columns, domain, budget=Budget(rho=1), zeros=[{domain.names[0]: codes}])


@pytest.mark.parametrize("method", ["auto", "aim", "mst", "mwem", "merf", "tables"])
def test_marginals_that_no_memory_holds_are_refused_before_a_row_is_read(method):
    with pytest.raises(Refusal):
        publish.synthesize({"a": [0], "b": [1]}, {"a": 1 << 16, "b": 1 << 16}, budget=Budget(rho=1), method=method)


def test_a_file_that_cannot_be_written_is_refused(table, tmp_path):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    for write in (synthetic.save, synthetic.report().save):
        with pytest.raises(BadParameter, match="folder"):
            write(tmp_path / "none" / "file.json")


def test_more_rows_than_memory_holds_are_refused(table):
    domain, columns = table
    synthetic = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    with pytest.raises(BadParameter, match="say how many"):
        replace(synthetic, model=replace(synthetic.model, total=1e15)).sample()


def _changed(kind, *values):
    return base64.b64encode(np.array(values, kind).tobytes()).decode()


HOSTILE = {
    "total that is none": lambda synthetic: synthetic.update(total=float("nan")),
    "total without end": lambda synthetic: synthetic.update(total=1e999),
    "total below nothing": lambda synthetic: synthetic.update(total=-1.0),
    "share that is none": lambda synthetic: synthetic["tables"].__setitem__(0, _changed("<f8", *[np.nan] * 6)),
    "share below nothing": lambda synthetic: synthetic["tables"].__setitem__(0, _changed("<f8", *[-1.0] * 6)),
    "shares of nothing": lambda synthetic: synthetic["tables"].__setitem__(0, _changed("<f8", *[0.0] * 6)),
    "group without a code": lambda synthetic: synthetic["groups"].__setitem__(0, _changed("<i4", 0, 2)),
    "group below nothing": lambda synthetic: synthetic["groups"].__setitem__(0, _changed("<i4", -1, 1)),
    "noise of no size": lambda synthetic: synthetic["measured"][0].__setitem__(2, 0.0),
    "measurement that is none": lambda synthetic: synthetic["measured"][0].__setitem__(1, _changed("<f8", np.nan, 1.0)),
    "attribute from behind": lambda synthetic: synthetic["measured"][0].__setitem__(0, [-2]),
    "parent of its own": lambda synthetic: synthetic.update(parents=[0]),
    "parents too few": lambda synthetic: synthetic.update(parents=[]),
    "separator of a root": lambda synthetic: synthetic.update(separators=[[0]]),
    "no clique": lambda synthetic: synthetic.update(cliques=[], tables=[], parents=[], separators=[]),
    "clique of halves": lambda synthetic: synthetic.update(cliques=[[0.5, 1]]),
    "hidden attribute that is nowhere": lambda synthetic: synthetic.update(hidden=[10**9]),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_was_tampered_with_is_refused_when_it_is_read(what):
    columns = {"a": [0, 1] * 300, "b": [0, 1, 2] * 200}  # so many that no codes are merged
    with seeded(6):
        synthetic = publish.synthesize(columns, {"a": 2, "b": 3}, budget=Budget(rho=9), method="mst")
    assert [table.shape for table in synthetic.model.tables] == [(2, 3)]
    record = json.loads(synthetic.to_json())
    HOSTILE[what](record["synthetic_data"])
    with pytest.raises(BadParameter, match="do not fit together"):
        publish.SyntheticData.from_json(json.dumps(record))


def test_a_file_nested_beyond_reason_is_refused():
    with pytest.raises(BadParameter):
        publish.SyntheticData.from_json("[" * 200_000)
