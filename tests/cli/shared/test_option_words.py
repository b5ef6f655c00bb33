"""Words: what a refusal says on the command line and in a policy, where Python would say it with arguments."""

import ast
import re
from pathlib import Path

import pytest

import discreet.cli.main
from discreet.cli.shared.option_words import in_words, options_of, respell
from discreet.core.errors import BadParameter, Refusal
from discreet.plan.sql.refusals import SqlRefused

SOURCE = Path(discreet.cli.main.__file__).parents[1]
REGISTER = options_of(discreet.cli.main.discreet, "register")
ASK = options_of(discreet.cli.main.discreet, "ask")
# Where the fixes are written that whoever registers or asks on the command line may meet.
MET = (
    *(
        "core/unit.py",
        "account/budgets/budget.py",
        "engines/duckdb/csv_dialect.py",
        "engines/duckdb/files.py",
        "account/budgets/price.py",
    ),
    *("curator/accounts.py", "curator/declare.py", "ask/sql.py", "curator/budgets.py", "ledger/standing.py"),
    *(f"plan/sql/{file.name}" for file in (SOURCE / "plan" / "sql").glob("*.py")),
)
PYTHON = re.compile(
    r"(?<![\w-])(?!k=)[a-z_]+=(?![= ])(?!\.\.)|\b(Budget|person|row|csv|refresh|declare|group_by|public)\("
)
# No text leads there: what they take is made by the command line itself.
PYTHON_ALONE = ("make it with session.public(", "person(identifier, ...)")


def test_options_are_those_of_the_command():
    assert (REGISTER["max_rows"], REGISTER["columns"], REGISTER["column"]) == ("--max-rows", "--column", "--column")
    assert (REGISTER["source"], ASK["question"], ASK["keys"]) == ("SOURCE", "QUESTION", "--key")
    assert options_of(discreet.cli.main.discreet, "") == options_of(discreet.cli.main.discreet, "no such") | {
        name: f"--{name}" for name in ("version", "json", "verbose")
    }


@pytest.mark.parametrize(
    ("python", "line", "policy"),
    [
        ("use group='old patients'", "use --group 'old patients'", 'use group = "old patients"'),
        ("with one group=", "with one --group", "with one group = ..."),
        ("use at most max_rows=3", "use at most --max-rows 3", "use at most max_rows = 3"),
        ("budget=Budget(epsilon=1)", "--epsilon 1", "budget = { epsilon = 1 }"),
        (
            "Budget(epsilon=1, delta=1e-6) or Budget(rho=0.1)",
            "--epsilon 1 --delta 1e-6 or --rho 0.1",
            "budget = { epsilon = 1, delta = 1e-6 } or budget = { rho = 0.1 }",
        ),
        ("use unit=row()", "use --unit row", 'use unit = "row"'),
        (
            "use unit=person('id no', max_rows=20)",
            "use --unit 'person:id no' --max-rows 20",
            'use unit = { person = "id no", max_rows = 20 }',
        ),
        (
            "declare the unit with relation='replace'",
            "declare the unit with --relation replace",
            'declare the unit with relation = "replace"',
        ),
    ],
)
def test_an_argument_is_an_option_on_the_line_and_a_key_in_a_policy(python, line, policy):
    assert in_words(python, REGISTER) == line
    assert in_words(python, REGISTER, policy=True) == policy


@pytest.mark.parametrize(
    ("python", "line"),
    [
        ("pass keys={'city': [...]}, or a delta (delta=1e-9)", "pass --key city=A,B, or a delta (--delta 1e-9)"),
        ("write keys={'city': ['Bern', 'Basel']}", "write --key city=Bern,Basel"),
        ("declare the keys: group_by(..., keys=)", "declare the keys: --key COLUMN=A,B"),
        ("or give keys=", "or give --key COLUMN=A,B"),
        ("use an integer from 1 to 3, or 'auto'", "use an integer from 1 to 3, or auto"),
        ("leave max_rows out", "leave --max-rows out"),
        ("leave it out", "leave it out"),
        ("write it like unary:k=100,epsilon=1", "write it like unary:k=100,epsilon=1"),
        (
            "write OPTIONS(epsilon = 1), or pass epsilon= instead",
            "write OPTIONS(epsilon = 1), or pass --epsilon instead",
        ),
        ("write WHERE epsilon >= 3", "write WHERE epsilon >= 3"),
        ("name them all: for_error(n=..., cost=...)", "name them all: for_error(n=..., cost=...)"),
    ],
)
def test_a_question_is_spoken_of_in_the_options_of_ask(python, line):
    assert in_words(python, ASK) == line


@pytest.mark.parametrize(
    ("name", "value", "what"),
    [
        ("max_rows", 50, "--max-rows 50"),
        ("unit", None, "--unit is missing"),
        ("group", "old patients", "--group 'old patients'"),
        ("source", "v.xlsx", "SOURCE v.xlsx"),
        ("budget", None, "the budget is missing"),
        ("epsilon, rho", (1, 2), "--epsilon 1 --rho 2"),
        ("epsilon, rho", (None, None), "--epsilon or --rho is missing"),
        ("scale", 3, "scale=3"),
    ],
)
def test_what_was_given_is_shown_as_it_was_typed(name, value, what):
    refusal = BadParameter(name, value, why="w", fix="f")
    respell(refusal, REGISTER)
    assert (refusal.what, refusal.why, refusal.fix, refusal.value) == (what, "w", "f", value)


def test_a_place_in_a_policy_stays_and_is_answered_in_its_words():
    refusal = BadParameter("group", "z", why="w", fix="leave it out, or use group='v'")
    refusal.what = f"discreet.toml:7: {refusal.what}"
    respell(refusal, REGISTER)
    assert (refusal.what, refusal.fix) == ("discreet.toml:7: group='z'", 'leave it out, or use group = "v"')


def test_the_text_of_a_question_is_never_respelled():
    refusal = SqlRefused("SELECT COUNT(*) FROM v WHERE epsilon=3", (29, 38), why="w", fix="pass epsilon=1")
    before = refusal.what
    respell(refusal, ASK)
    assert (refusal.what, refusal.fix) == (before, "pass --epsilon 1")


def test_a_refusal_that_names_an_argument_is_respelled_too():
    refusal = Refusal("group='z'", why="w", fix="leave the group out")
    respell(refusal, REGISTER)
    assert refusal.what == "--group z"


def _fixes(tree):
    """Yield the texts that stand for a fix, with x in the place of what is filled in."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "fix":
            yield node.value
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).lower().lstrip("_") == "fix":
            yield node.value
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ("why, fix", "(why, fix)"):
            yield from node.value.elts[1:] if isinstance(node.value, ast.Tuple) else ()


def _texts(node):
    match node:
        case ast.Constant(str() as text):
            yield text
        case ast.JoinedStr(values):
            yield "".join(each.value if isinstance(each, ast.Constant) else _filled(each) for each in values)
        case ast.IfExp(body=one, orelse=other):
            yield from (*_texts(one), *_texts(other))


def _filled(node):
    return "'x'" if node.conversion == ord("r") else "7"


def test_no_fix_that_the_command_line_prints_speaks_python():
    options, seen = {**REGISTER, **ASK}, 0
    for file in MET:
        for node in _fixes(ast.parse((SOURCE / file).read_text(encoding="utf-8"))):
            for text in _texts(node):
                if not any(part in text for part in PYTHON_ALONE):
                    found, seen = in_words(text, options), seen + 1
                    assert not PYTHON.search(found.replace("--key city=", "")), (file, text, found)
    assert seen > 60
