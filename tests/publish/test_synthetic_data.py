"""Twins: what they tell is near the truth, bars hold, conditions and files keep it."""

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
def test_a_twin_has_nearly_the_tables_marginals(table, method, budget):
    domain, columns = table
    with seeded(3):
        twin = publish.synthesize(columns, domain, budget=budget, method=method, workload=2)
    singles = [twin.marginal(name) for name in domain.names]
    for name, found in zip(domain.names, singles, strict=True):
        exact = np.bincount(columns[name], minlength=len(found))
        assert abs(found - exact).sum() / 4000 < 0.05
    if method != "independent":
        exact = np.histogram2d(columns["first"], columns["second"], bins=[3, 3])[0]
        assert abs(twin.marginal(["first", "second"]) - exact).sum() / 4000 < 0.1


@pytest.mark.parametrize("method", BUILT)
def test_a_method_spends_no_more_than_its_allowance(table, method, monkeypatch):
    domain, columns = table
    purses = []
    init = Spending.__init__

    def remember(self, *arguments, **named):
        init(self, *arguments, **named)
        purses.append(self)

    monkeypatch.setattr(Spending, "__init__", remember)
    twin = publish.synthesize(columns, domain, budget=Budget(rho=Fraction(1, 100)), method=method, workload=2)
    assert purses
    assert sum(purse.spent for purse in purses) <= Fraction(1, 100)
    assert twin.loss == Allowance.of(Budget(rho=Fraction(1, 100))).loss


def test_bars_cover_the_truth_of_what_was_measured(table):
    """Of 600 answers with bars at 95%, at least 95% less four standard errors cover."""
    domain, columns = table
    covered = many = 0
    for seed in range(30):
        with seeded(seed):
            twin = publish.synthesize(columns, domain, budget=Budget(rho=Fraction(1, 200)), method="aim", workload=2)
        for first in range(3):
            for second in range(3):
                found = twin.answer({"first": first, "second": second})
                if found.error is None:
                    continue
                many += 1
                exact = ((columns["first"] == first) & (columns["second"] == second)).sum()
                covered += found.low <= exact <= found.high
    assert many > 100
    assert covered / many >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / many)


def test_an_answer_that_nothing_measured_bears_on_has_no_bar(table):
    domain, columns = table
    twin = publish.synthesize(columns, domain, budget=Budget(epsilon=1), method="independent")
    assert twin.answer({"first": 0}).error is not None
    assert twin.answer({"first": 0, "second": 0}).error is None


def test_a_condition_keeps_what_it_says_and_the_rest_in_proportion(table):
    domain, columns = table
    twin = publish.synthesize(columns, domain, budget=Budget(rho=1), method="mst")
    given = twin.condition(second=[0, 2], third=1)
    drawn = given.codes(500)
    assert set(drawn["second"]) <= {0, 2}
    assert set(drawn["third"]) == {1}
    both = twin.marginal(["first", "second", "third"])[:, [0, 2], 1]
    np.testing.assert_allclose(given.marginal("first"), both.sum(axis=1), rtol=1e-6)
    assert given.model.total == pytest.approx(both.sum())


def test_a_saved_twin_is_the_same_when_loaded(table, tmp_path):
    domain, columns = table
    twin = publish.synthesize(columns, domain, budget=Budget(epsilon=1, delta=1e-9), method="aim", workload=2)
    twin.save(tmp_path / "twin.json")
    again = publish.load(tmp_path / "twin.json")
    assert (again.loss, again.method, again.domain) == (twin.loss, twin.method, twin.domain)
    for names in (["first"], ["first", "third"], ["second", "third", "fourth"]):
        np.testing.assert_array_equal(again.marginal(names), twin.marginal(names))
    assert str(again.answer({"first": 0})) == str(twin.answer({"first": 0}))


@pytest.mark.parametrize("text", ["", "{}", '{"discreet": 1, "synthetic_data": {}}', "\0", "[1]"])
def test_a_file_that_is_no_twin_is_refused(text, tmp_path):
    path = tmp_path / "twin.json"
    path.write_text(text)
    with pytest.raises(BadParameter):
        publish.load(path)


def test_a_twin_of_an_empty_table_is_a_twin(table):
    domain, columns = table
    empty = {name: values[:0] for name, values in columns.items()}
    for method in BUILT:
        twin = publish.synthesize(empty, domain, budget=Budget(epsilon=1), method=method, workload=2)
        assert all(len(column) == 10 for column in twin.codes(10).values())


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
    twin = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    both = twin.answer({"first": [0, 1]}).value
    assert both == twin.answer({"first": range(2)}).value == twin.answer({"first": {0, 1}}).value
    assert both == twin.answer({"first": np.array([1, 0])}).value
    assert twin.answer({"first": np.int64(1)}).value == twin.answer({"first": 1}).value


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
    twin = publish.synthesize({"day": []}, {"day": date("2024-01-01", "2024-12-31")}, budget=Budget(rho=1))
    with pytest.raises(BadParameter, match="it is not a date"):
        twin.answer({"day": "tomorrow"})
    with pytest.raises(BadParameter, match="bounds"):
        twin.answer({"day": "2023-01-01"})


def test_zeros_and_questions_name_codes_as_numpy_does_and_no_range_is_written_out(table):
    domain, columns = table
    name = domain.names[0]
    twin = publish.synthesize(columns, domain, budget=Budget(rho=1), method="mst", zeros=[{name: np.int64(1)}])
    assert not (twin.codes(500)[name] == 1).any()
    for ask in (lambda: twin.answer({name: range(10**12)}), lambda: publish_zero(table, range(10**12))):
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
    twin = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    for write in (twin.save, twin.report().save):
        with pytest.raises(BadParameter, match="folder"):
            write(tmp_path / "none" / "file.json")


def test_more_rows_than_memory_holds_are_refused(table):
    domain, columns = table
    twin = publish.synthesize(columns, domain, budget=Budget(rho=1), method="independent")
    with pytest.raises(BadParameter, match="say how many"):
        replace(twin, model=replace(twin.model, total=1e15)).sample()


def _changed(kind, *values):
    return base64.b64encode(np.array(values, kind).tobytes()).decode()


HOSTILE = {
    "total that is none": lambda twin: twin.update(total=float("nan")),
    "total without end": lambda twin: twin.update(total=1e999),
    "total below nothing": lambda twin: twin.update(total=-1.0),
    "share that is none": lambda twin: twin["tables"].__setitem__(0, _changed("<f8", *[np.nan] * 6)),
    "share below nothing": lambda twin: twin["tables"].__setitem__(0, _changed("<f8", *[-1.0] * 6)),
    "shares of nothing": lambda twin: twin["tables"].__setitem__(0, _changed("<f8", *[0.0] * 6)),
    "group without a code": lambda twin: twin["groups"].__setitem__(0, _changed("<i4", 0, 2)),
    "group below nothing": lambda twin: twin["groups"].__setitem__(0, _changed("<i4", -1, 1)),
    "noise of no size": lambda twin: twin["measured"][0].__setitem__(2, 0.0),
    "measurement that is none": lambda twin: twin["measured"][0].__setitem__(1, _changed("<f8", np.nan, 1.0)),
    "attribute from behind": lambda twin: twin["measured"][0].__setitem__(0, [-2]),
    "parent of its own": lambda twin: twin.update(parents=[0]),
    "parents too few": lambda twin: twin.update(parents=[]),
    "separator of a root": lambda twin: twin.update(separators=[[0]]),
    "no clique": lambda twin: twin.update(cliques=[], tables=[], parents=[], separators=[]),
    "clique of halves": lambda twin: twin.update(cliques=[[0.5, 1]]),
    "hidden attribute that is nowhere": lambda twin: twin.update(hidden=[10**9]),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_was_tampered_with_is_refused_when_it_is_read(what):
    columns = {"a": [0, 1] * 300, "b": [0, 1, 2] * 200}  # so many that no codes are merged
    with seeded(6):
        twin = publish.synthesize(columns, {"a": 2, "b": 3}, budget=Budget(rho=9), method="mst")
    assert [table.shape for table in twin.model.tables] == [(2, 3)]
    record = json.loads(twin.to_json())
    HOSTILE[what](record["synthetic_data"])
    with pytest.raises(BadParameter, match="do not fit together"):
        publish.SyntheticData.from_json(json.dumps(record))


def test_a_file_nested_beyond_reason_is_refused():
    with pytest.raises(BadParameter):
        publish.SyntheticData.from_json("[" * 200_000)
