"""Names and rooms: one class for each name, private names at home, folders of a size, modules named by nouns."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "discreet"
MODULES = sorted(SOURCE.rglob("*.py"))

# The theory's own nouns: an aggregate of a question, the mechanism that releases it, the loss it has and the local
# protocol that does the same bear one name in every text book.
NOUNS = {
    "Cdf",
    "Count",
    "Covariance",
    "Exponential",
    "Gaussian",
    "Histogram",
    "Laplace",
    "Mean",
    "Quantile",
    "RandomizedResponse",
    "Sum",
    "TopK",
    "Variance",
}
# Where a noun of the theory may be defined: once in each.
PLACES = ("account/losses/", "local/protocols/", "measures/", "mechanisms/", "plan/aggregates.py")

MOST = 25  # modules in a folder
# Folders that hold more, each with its reason.
LARGE: dict[str, str] = {
    "cli": "one file for each command, and the registry lists the folder",
    "measures": "one file for each aggregate, and the registry lists the folder",
    "mechanisms": "one file for each mechanism, and the registry lists the folder",
}

# Modules whose last word ends like a participle, each with what makes a noun of it.
ALLOWED = {
    "account/budgets/exceeded": "BudgetExceeded: a refusal is named for what is refused",
    "account/numeric/enumerated": "the few outcomes of a loss, listed one by one",
    "account/numeric/rounding": "the rounding of floats, a noun",
    "plan/functions/substring": "a part of a text, and SQL's word for it",
    "ask/priced": "PricedQuestion",
    "ask/registered": "Registered, the state of a table in a vault",
    "ask/remaining": "what remains of a budget, as users call it",
    "cli/attacks/averaging": "the attack's name in the literature",
    "cli/attacks/differencing": "the attack's name in the literature",
    "cli/attacks/fingerprinting": "the attack's name in the literature",
    "cli/attacks/tracing": "the attack's name in the literature",
    "cli/shared": "what commands share: a folder",
    "curator/spelling": "the spelling of a name, a noun",
    "lab/attacks/averaging": "the attack's name in the literature",
    "lab/attacks/differencing": "the attack's name in the literature",
    "lab/attacks/fingerprinting": "the attack's name in the literature",
    "lab/attacks/reconstruction/message_passing": "the name of the algorithm in the literature",
    "lab/attacks/tracing": "the attack's name in the literature",
    "lab/audits/finding": "a finding of an audit, a noun",
    "lab/audits/screening": "a screening of candidates, a noun",
    "ledger/running": "running releases: a folder",
    "ledger/standing": "the standing of an account, a noun",
    "local/poisoning": "the attack's name in the literature",
    "local/post_processing": "the theory's own noun",
    "noise/sampling": "the sampling of numbers, a noun of statistics",
    "plan/sql/grouping": "SQL's own noun: GROUPING SETS",
    "publish/coding": "a coding of columns as numbers, a noun",
    "testing": "helpers of tests, as numpy and pandas call them",
}


def short(path):
    return path.relative_to(SOURCE).as_posix().removesuffix(".py")


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def classes():
    """Find where each public class is defined, nested ones too."""
    found = defaultdict(list)
    for path in MODULES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(SOURCE).as_posix())
    return found


def test_no_public_class_name_is_used_twice_but_for_the_theorys_own_nouns():
    found = classes()
    assert len(found) > 400
    assert {name: homes for name, homes in found.items() if len(homes) > 1 and name not in NOUNS} == {}


def test_a_noun_of_the_theory_is_one_aggregate_one_mechanism_one_loss_and_one_protocol_at_most():
    found = classes()
    assert {noun for noun in NOUNS if len(found[noun]) < 2} == set()
    for noun in NOUNS:
        places = [place for home in found[noun] for place in PLACES if home.startswith(place)]
        assert len(places) == len(found[noun]) == len(set(places)), (noun, found[noun])


def imported(path):
    """Return the full names a module imports of the package; a name in a module counts as its last part."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield from (f"{'.' * node.level}{node.module or ''}.{name.name}" for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)


def foreign(home, names):
    """Return the private names that belong to a folder other than `home` and those around it."""
    found = []
    for name in names:
        parts = name.split(".")
        for at, part in enumerate(parts):
            if re.match("_(?!_)", part) and parts[0] == "discreet":
                # A private module belongs to its folder; a private name to the folder of its module.
                owner = parts[1:at] if (SOURCE.joinpath(*parts[1:at])).is_dir() else parts[1 : at - 1]
                if list(home[: len(owner)]) != owner:
                    found.append(name)
                break
    return found


def test_a_private_name_is_imported_in_its_own_package_alone():
    found = {short(path): foreign(path.relative_to(SOURCE).parts[:-1], imported(path)) for path in MODULES}
    assert {path: names for path, names in found.items() if names} == {}


def test_imports_are_absolute_so_that_owners_can_be_read_off():
    assert [short(path) for path in MODULES if any(name.startswith(".") for name in imported(path))] == []


@pytest.mark.parametrize(
    ("home", "name", "seen"),
    [
        ("ask", "discreet.lab.attacks._coins", True),
        ("ask", "discreet.lab.attacks._coins.coins", True),
        ("lab", "discreet.lab.attacks._coins.coins", True),
        ("lab/attacks", "discreet.lab.attacks._coins.coins", False),
        ("lab/attacks/census", "discreet.lab.attacks._coins", False),
        ("ask", "discreet.answers.html._STYLE", True),
        ("answers", "discreet.answers.html._STYLE", False),
        ("answers/plots", "discreet.answers.html._STYLE", False),
        ("ask", "discreet.answers.html.STYLE", False),
        ("ask", "discreet.__version__", False),
    ],
)
def test_the_scan_tells_whose_a_private_name_is(home, name, seen):
    assert foreign(tuple(home.split("/")), [name]) == [name] * seen


def folders():
    return [SOURCE, *sorted(path for path in SOURCE.rglob("*") if path.is_dir() and any(path.glob("*.py")))]


def test_no_folder_holds_more_modules_than_a_reader_can_take_in():
    sizes = {short(folder): sum(path.name != "__init__.py" for path in folder.glob("*.py")) for folder in folders()}
    assert {folder: size for folder, size in sizes.items() if size > MOST and folder not in LARGE} == {}
    assert {folder for folder in LARGE if sizes.get(folder, 0) <= MOST} == set()


def participles():
    """Find the modules and folders whose last word ends like a participle."""
    places = [path for path in [*MODULES, *folders()] if not path.name.startswith("__")]
    return {short(place) for place in places if re.search("[a-z](ing|ed)$", short(place))}


def test_a_module_is_named_by_a_noun():
    assert participles() - set(ALLOWED) == set()


def test_the_allowed_names_are_in_use_and_have_a_reason():
    assert set(ALLOWED) - participles() == set()
    assert all([*ALLOWED.values(), *LARGE.values()])
