"""The public surface: these names, found lazily, and nothing heavy behind `import discreet`."""

import importlib
import json
import subprocess
import sys

import pytest

import discreet

SURFACE = [
    "Approx",
    "BadParameter",
    "Budget",
    "BudgetExceeded",
    "Column",
    "Curator",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "Laplace",
    "PrivacyLoss",
    "Pure",
    "RandomizedResponse",
    "Refusal",
    "Renyi",
    "Table",
    "Unit",
    "Zcdp",
    "account",
    "between",
    "connect",
    "count",
    "date",
    "flag",
    "lab",
    "mean",
    "mechanisms",
    "median",
    "noise",
    "one_of",
    "parallel",
    "people",
    "person",
    "quantile",
    "row",
    "sum",
    "text",
    "when",
]


def python(script):
    """Run a script in a new interpreter and return the JSON it prints."""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout)


def test_the_public_names_are_these():
    assert discreet.__all__ == SURFACE


def test_there_are_at_most_forty_public_names():
    assert len(discreet.__all__) <= 40


@pytest.mark.parametrize("name", SURFACE)
def test_each_public_name_can_be_reached_and_is_documented(name):
    assert getattr(discreet, name).__doc__
    assert name in dir(discreet)


def test_answers_can_be_annotated_with():
    from discreet.answers.answer import Answer

    assert discreet.Answer is Answer
    assert "Answer" in dir(discreet)


def test_a_star_import_brings_exactly_the_public_names():
    script = "from discreet import *; import json; print(json.dumps([n for n in dir() if n[0] != '_' and n != 'json']))"
    assert python(script) == SURFACE


def test_a_misspelt_name_is_answered_with_the_nearest():
    with pytest.raises(AttributeError, match="did you mean 'between'"):
        discreet.betwen  # noqa: B018


def test_importing_discreet_loads_the_standard_library_and_itself_alone():
    # What site-packages' .pth files load before the first line is not our doing.
    script = (
        "import sys, json; before = set(sys.modules); import discreet;"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    assert set(python(script)) - sys.stdlib_module_names == {"discreet"}


def test_using_units_and_schemas_loads_no_third_party_module():
    script = (
        "import sys, json; before = set(sys.modules); import discreet as dp;"
        "dp.Table('t', dp.person('id', max_rows=2), {'a': dp.between(0, 1, step=0.1)}).to_json();"
        "print(json.dumps(sorted({name.partition('.')[0] for name in set(sys.modules) - before})))"
    )
    assert set(python(script)) - sys.stdlib_module_names == {"discreet"}


ANSWER = """
import sys, json, discreet as dp
with dp.Curator("v.discreet") as curator:
    rows = {"p": list(range(60)), "w": ["A", "B", None] * 20, "x": [n % 50 for n in range(60)]}
    curator.register("t", rows, unit=dp.person("p", max_rows=1), budget=dp.Budget(epsilon=9),
        columns={"w": dp.one_of("A", "B"), "x": dp.between(0, 49)})
    token = curator.grant("a", "t")
code = f'''
import sys, json, discreet as dp
t = dp.connect("v.discreet", {token!r}).table("t")
str(t.group_by("w").agg(n=dp.count(), m=dp.mean("x")).release(epsilon=1))
print(json.dumps([
    [name for name in ("numpy", "scipy", "discreet.curator.remote") if name in sys.modules],
    [name for name, module in sys.modules.items() if name.startswith("discreet.") and name != "discreet.core.value"
        and getattr(module, "dataclass", None) is __import__("dataclasses").dataclass],
]))
'''
import subprocess
print(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
"""


def test_a_first_answer_loads_no_arrays_no_client_and_makes_no_dataclass_at_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert python(ANSWER) == [[], []]


def test_the_version_is_semantic_and_the_same_everywhere():
    assert all(part.isdigit() for part in discreet.__version__.split("."))
    assert len(discreet.__version__.split(".")) == 3
    assert importlib.import_module("discreet.core.version").__version__ == discreet.__version__


def test_the_package_says_that_it_is_typed():
    from importlib.resources import files

    assert files("discreet").joinpath("py.typed").is_file()
