"""The API reference: written from docstrings into docs/reference.md when mkdocs builds the site (a hook)."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Collection, Iterator
from types import ModuleType
from typing import Any

MARK = "<!-- the reference: written by tools/reference.py when the site is built -->"
# Packages in the order of the page. A name is described where it first appears.
PACKAGES = ("discreet", "mechanisms", "account", "noise", "local", "learn", "publish", "lab", "ledger")
# What people get from calls rather than by name.
RETURNED = {
    "discreet": (
        "discreet.curator.session.Session",
        "discreet.ask.query.Query",
        "discreet.ask.report.Report",
        "discreet.ask.preview.Preview",
        "discreet.answers.answer.Answer",
        "discreet.plan.expressions.Expression",
    ),
}


def on_page_markdown(markdown: str, *, page: Any, **_: object) -> str:  # noqa: ANN401  (mkdocs has no types)
    """Put the reference into its page: mkdocs calls this for every page."""
    return markdown.replace(MARK, reference()) if page.file.src_uri == "reference.md" else markdown


def reference() -> str:
    """Return the reference as Markdown."""
    found: dict[int, tuple[str, str, Any]] = {}
    for package in PACKAGES:
        for path, value in _names(package):
            if not isinstance(value, ModuleType):
                found.setdefault(id(value), (package, path, value))
    described = frozenset(found)
    lines: list[str] = []
    for package in PACKAGES:
        lines += _heading(package)
        for home, path, value in found.values():
            lines += _entry(path, value, described) if home == package else ()
    return "\n".join(lines)


def _names(package: str) -> Iterator[tuple[str, Any]]:
    """Yield a package's public names with what they are, then what its calls return."""
    module = _module(package)
    yield from ((f"{module.__name__}.{name}", getattr(module, name)) for name in module.__all__)
    for path in RETURNED.get(package, ()):
        home, _, word = path.rpartition(".")
        yield word, getattr(importlib.import_module(home), word)


def _module(package: str) -> ModuleType:
    return importlib.import_module(package if package == "discreet" else f"discreet.{package}")


def _heading(package: str) -> tuple[str, ...]:
    module = _module(package)
    return f"## `{module.__name__}`", "", _prose(inspect.getdoc(module) or ""), ""


def _entry(path: str, found: Any, described: Collection[int]) -> Iterator[str]:  # noqa: ANN401
    kind = "class" if inspect.isclass(found) else "def"
    words = f"{kind} {path.rpartition('.')[2]}{_signature(found)}"
    yield from (f"### `{path}`", "", "```text", words, "```", "", _prose(inspect.getdoc(found) or ""), "")
    if inspect.isclass(found):
        yield from (line for name, member in _members(found, described) for line in _member(name, member))


def _members(found: type, described: Collection[int]) -> Iterator[tuple[str, Any]]:
    """Yield the documented members of a class and of its bases, but for bases that the page describes by themselves."""
    within = [each for each in found.__mro__ if each.__module__.startswith("discreet.")]
    bases = [each for each in within if each is found or id(each) not in described]
    names = dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_"))
    for name in names:
        member = inspect.getattr_static(found, name)
        member = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if (inspect.isfunction(member) or isinstance(member, property)) and member.__doc__:
            yield name, member


def _member(name: str, member: Any) -> Iterator[str]:  # noqa: ANN401
    shown = f"`{name}`" if isinstance(member, property) else f"`{name}{_signature(member)}`"
    first, *rest = _prose(inspect.getdoc(member) or "").split("\n\n")
    yield from (f"- {shown}: {' '.join(first.split())}", "")
    for paragraph in rest:
        yield from ("\n".join(f"    {line}" for line in paragraph.splitlines()), "")


def _signature(found: Any) -> str:  # noqa: ANN401
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return ""
    kept = [each for each in signature.parameters.values() if each.name not in ("self", "cls")]
    return _plain(str(signature.replace(parameters=kept))).removesuffix(" -> None")


def _plain(text: str) -> str:
    """Return a signature without the quotes of postponed annotations, and without addresses in memory."""
    text = re.sub(r"<factory>|<[^<>]* at 0x[0-9a-f]+>", "...", text)
    return re.sub(r"(: |-> )(['\"])(.*?)\2", r"\1\3", text)


def _prose(text: str) -> str:
    """Return a docstring as Markdown: what is not between backticks stands as it was written."""
    parts = re.split(r"(``[^`]*``|`[^`]*`)", text)
    plain = (re.sub(r"([\\*_<>\[\]|])", r"\\\1", part) for part in parts[::2])
    return "".join(piece for pair in zip(plain, [*parts[1::2], ""], strict=True) for piece in pair).replace(
        "Guarantee:", "**Guarantee:**"
    )
