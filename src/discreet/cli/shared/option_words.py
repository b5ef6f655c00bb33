"""Words: what the Python verbs call a thing, as a shell or a policy says it; the one place where that is written."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from fractions import Fraction

import click

from discreet.core.errors import BadParameter, Refusal, show

Spelling = str | Callable[[re.Match[str]], str]
Rule = tuple[str, Spelling, Spelling]


def _budget(found: re.Match[str]) -> str:
    return " ".join(f"--{name} {amount}" for name, amount in _amounts(found["amounts"]))


def _budget_key(found: re.Match[str]) -> str:
    return f"budget = {{ {', '.join(f'{name} = {amount}' for name, amount in _amounts(found['amounts']))} }}"


def _amounts(text: str) -> list[tuple[str, str]]:
    return [(name, amount) for name, _, amount in (each.partition("=") for each in text.split(", "))]


def _keys(found: re.Match[str]) -> str:
    listed = ",".join(re.findall(r"'([^']*)'", found["keys"])) or "A,B"
    return f"--key {shlex.quote(found['name'])}={shlex.quote(listed)}"


# What Python writes, what a command line does, and what a policy does; calls before the arguments inside them.
_RULES: tuple[Rule, ...] = (
    (
        r"(?:unit=)?person\('(?P<id>[^']*)', max_rows=(?P<most>\d+)\)",
        lambda found: f"--unit {shlex.quote('person:' + found['id'])} --max-rows {found['most']}",
        lambda found: f"unit = {{ person = {json.dumps(found['id'])}, max_rows = {found['most']} }}",
    ),
    (r", or person\(via=link\([^)]*\), \.\.\.\)", "", ""),
    (
        r"(?:unit=person\()?via=link\([^)]*\)(?:, max_rows=\d+\))?",
        "a link, which is declared in Python",
        "a link, which is declared in Python",
    ),
    (r"(?:unit=)?person\(\.\.\.\)", "--unit person:ID", 'unit = { person = "id", max_rows = 20 }'),
    (r"(?:unit=)?\brow\(\)", "--unit row", 'unit = "row"'),
    (r"(?:budget=)?Budget\((?P<amounts>[^)]*)\)", _budget, _budget_key),
    (
        r"use refresh\('(?P<name>[^']*)', source\) for new rows, declare\('[^']*', \.\.\.\) for new bounds",
        lambda found: (
            f"run discreet refresh {shlex.quote(found['name'])} FILE for new rows; describe the table in discreet.toml"
            f" and run discreet register {shlex.quote(found['name'])} for new bounds"
        ),
        "run discreet refresh for new rows",
    ),
    (
        r"say what it is: csv\(path, delimiter=\.\.\.\) or parquet\(path\)",
        "give it one of these endings, or say that it is CSV: --delimiter ,",
        'give it one of these endings, or say that it is CSV: source = { path = "...", delimiter = "," }',
    ),
    (
        r", or give them: csv\(path, header=False, names=\(\.\.\.\)\)",
        "",
        ', or give them: source = { path = "...", header = false, names = ["..."] }',
    ),
    (
        r"name the columns yourself: csv\(path, names=\(\.\.\.\)\)",
        "write each name within one line",
        'name the columns yourself: source = { path = "...", names = ["..."] }',
    ),
    (
        r"name each column once: csv\(path, names=\(\.\.\.\)\)",
        "name each column once in its first line",
        'name each column once: source = { path = "...", names = ["..."] }',
    ),
    (r"keys=\{'(?P<name>[^']*)': \[(?P<keys>[^\]]*)\]\}", _keys, _keys),
    (r"group_by\(\.\.\., keys=\)|keys=(?:\[\.\.\.\])?", "--key COLUMN=A,B", "--key COLUMN=A,B"),
    (r", or join with session\.sql\(\.\.\., public=\[\.\.\.\]\)", "", ""),
    (r"one_of\('A', 'B'\)", "NAME=A,B", '["A", "B"]'),
    (r"add a step, for example step=0\.01", "add a step: 0..1:0.01", 'add a step: "0..1:0.01"'),
    (r"leave nullable=False out", "leave the ! behind it out", "leave the ! behind it out"),
    (r"existing='end'", "--end-caps", "discreet grant --end-caps"),
    (r"existing='(?P<flag>replace|add)'", r"--\g<flag>", r"discreet grant --\g<flag>"),
    (r"'auto'", "auto", "auto"),
)
_ARGUMENT = re.compile(r"(?<![\w:,.='\"{])(?<!\w\()(?P<name>[a-z_]+)=(?P<value>'[^']*'|[\w.+-]*\w)?(?![=(\w])")
_LEFT_OUT = re.compile(r"(?<=leave )[a-z_]+(?= out)")
# Options of another command than the one that was called: of `discreet register`.
_ELSEWHERE = {"group": "--group", "people": "--people", "unit": "--unit"}
# What no single option says.
_TOGETHER = {"budget": "the budget", "names": "the column name"}
_IN_POLICY = re.compile(r"[^\s:]+\.toml:\d+: ")


def respell(refusal: Refusal, options: Mapping[str, str]) -> None:
    """Put a refusal into the words of the command line, or of the policy that it stands in; its value stays."""
    policy = bool(_IN_POLICY.match(refusal.what))
    refusal.fix = in_words(refusal.fix, options, policy=policy)
    if isinstance(refusal, BadParameter) and refusal.what == f"{refusal.name}={show(refusal.value)}":
        refusal.what = _given_by(refusal, {**_TOGETHER, **options})
    elif re.match(r"\w+=", refusal.what):
        refusal.what = in_words(refusal.what, options, policy=policy)


def in_words(text: str, options: Mapping[str, str], *, policy: bool = False) -> str:
    """Return a sentence about Python's arguments in the words of a command with these options, or of a policy."""
    for pattern, line, key in _RULES:
        text = re.sub(pattern, key if policy else line, text)

    def argument(found: re.Match[str]) -> str:
        name, value = found["name"], found["value"]
        plain = None if value is None else value.strip("'")
        if policy:
            return f"{name} = {json.dumps(plain) if value and value[0] == chr(39) else plain or '...'}"
        option = options.get(name) or _ELSEWHERE.get(name)
        if option is None:
            return found[0]
        return option if plain in (None, "True") else f"{option} {shlex.quote(str(plain))}"

    text = _ARGUMENT.sub(argument, text)
    return text if policy else _LEFT_OUT.sub(lambda found: options.get(found[0], found[0]), text)


def options_of(command: click.Command, path: str) -> dict[str, str]:
    """Return how the parameters of a command, found by its path of words, are written: --max-rows, or SOURCE."""
    for word in path.split():
        below = command.get_command(click.Context(command), word) if isinstance(command, click.Group) else None
        if below is None:
            return {}
        command = below
    found = dict[str, str]()
    for each in command.params:
        word = each.opts[0].upper() if isinstance(each, click.Argument) else each.opts[0]
        found |= {str(each.name): word, word.lstrip("-").lower().replace("-", "_"): word}
    return found


def _given_by(refusal: BadParameter, options: Mapping[str, str]) -> str:
    """Write what was given for one parameter, or for several that exclude each other."""
    names, value = refusal.name.split(", "), refusal.value
    if not all(name in options for name in names):
        return refusal.what
    if len(names) == 1 or not isinstance(value, tuple):
        return _given(options[names[0]], value)
    given = [_given(options[name], each) for name, each in zip(names, value, strict=False) if each is not None]
    return " ".join(given) or f"{' or '.join(options[name] for name in names)} is missing"


def _given(option: str, value: object) -> str:
    """Write an option with its value, as it was typed."""
    if value is None or value == ():
        return f"{option} is missing"
    if isinstance(value, bool | list | tuple | dict):  # several were given, or none was typed
        return f"{option} {show(value)}"
    text = str(value) if isinstance(value, str | int | Fraction) else show(value)
    return f"{option} {shlex.quote(text if len(text) <= 80 else text[:60] + '...' + text[-17:])}"
