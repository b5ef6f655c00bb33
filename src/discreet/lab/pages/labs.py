"""Labs: the lectures as pages that run, each with a theorem, its code, a picture and a number that passes or fails."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from traceback import extract_tb
from typing import Any

from discreet.core.errors import BadParameter, Refusal
from discreet.core.file import check_place, write_file
from discreet.lab.pages.page import PageSection, blocks, sections, summarised
from discreet.lab.picture import Picture

SECTIONS = ("Theorem", "Code", "Picture", "Number", "Erratum", "Exercise")

_HERE = Path(__file__).parents[1]
# Where the pages lie: beside this file in an installed package, among the documents in a checkout.
_HOMES = (_HERE / "labs_pages", _HERE.parents[2] / "docs" / "labs")
_NAME = re.compile(r"\d\d-[a-z0-9-]+")
_HEAD = re.compile(r"\A# (\d+)\. (.+)\n\n\*Lectures?: (.+)\. About (\d+) minutes\.\*\n\n(.+?)\n\n## ", re.DOTALL)
_BAR = re.compile(r"\*\*Bar\.\*\* (.+?)\n\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ran:
    """What a lab came to: its number, whether it passes the bar, its picture, and how long it took.

    `failure` is the assertion that did not hold, where one did not; a lab passes only without it.
    """

    number: float
    passes: bool
    picture: Picture = field(repr=False)
    seconds: float
    failure: str = ""

    def record(self) -> dict[str, Any]:
        """Return the number and the verdict as plain JSON values."""
        return {"number": self.number, "passes": self.passes, "seconds": self.seconds, "failure": self.failure}


@dataclass(frozen=True, slots=True)
class Lab:
    """One lab: a page of Markdown whose blocks of Python run from top to bottom, in one namespace."""

    number: int
    name: str
    title: str
    lectures: tuple[str, ...]
    minutes: int
    introduction: str
    code: str = field(repr=False)  # what the lab is about, at most 15 lines of it
    bar: str = field(repr=False)  # what the number has to reach, in words
    sections: tuple[PageSection, ...] = field(repr=False)
    text: str = field(repr=False)

    def run(self) -> Ran:
        """Run the page, solution included, with fresh noise, and return its number, verdict and picture."""
        names: dict[str, Any] = {"__name__": "lab"}
        began, failure = time.perf_counter(), ""
        for where, block in self._blocks():
            failure = _run(block, names, where)
            if failure:
                break
        seconds = time.perf_counter() - began
        if failure and "passes" not in names:
            raise _broken(self.name, failure)  # there is no number to speak of
        number, passes, picture = _result(self.name, names)
        return Ran(number, passes and not failure, picture, seconds, failure)

    def page(self, *, solution: bool = True) -> str:
        """Return the page as plain Markdown, with or without the solution of its exercise."""
        return summarised(self.text, self.sections, solution=solution)

    def notebook(self) -> dict[str, Any]:
        """Return the lab as a Jupyter notebook (format 4.5), as plain JSON values."""
        from discreet.lab.pages.notebook import notebook

        return notebook(self.name, self.text, self.sections)

    def record(self) -> dict[str, Any]:
        """Return what a list of labs says of this one, as plain JSON values."""
        return {
            "number": self.number,
            "name": self.name,
            "title": self.title,
            "lectures": list(self.lectures),
            "minutes": self.minutes,
            "bar": self.bar,
        }

    def _blocks(self) -> Iterator[tuple[str, str]]:
        """Yield the blocks of Python with words for where they stand, solutions last."""
        for section in self.sections:
            yield from ((f"{self.name}, {section.title}", block) for block in blocks(section.text))
        for section in self.sections:
            yield from ((f"{self.name}, Solution", block) for block in blocks(section.solution))


def labs() -> tuple[Lab, ...]:
    """Return all labs, in order; none of them is run."""
    return tuple(_read(file) for file in sorted(pages().glob("*.md")) if _NAME.fullmatch(file.stem))


def lab(which: int | str) -> Lab:
    """Return one lab, by its number or its name, such as 2 or "randomized-response"."""
    found = labs()
    wanted = str(which).strip()
    number = int(wanted) if wanted.isascii() and wanted.isdigit() else None
    for each in found:
        if each.number == number or wanted in (each.name, each.name[3:]):
            return each
    why = f"there are labs {found[0].number} to {found[-1].number}"
    raise BadParameter("lab", which, why=why, fix="list them with `discreet labs`")


def export(
    folder: str | Path,
    chosen: tuple[Lab, ...] | None = None,
    say: Callable[[str], None] = lambda _: None,
    *,
    force: bool = False,
) -> list[Path]:
    """Write labs as Jupyter notebooks into a folder, which is made if need be, and return the files.

    Files that are there are written over by force only.
    """
    from discreet.lab.pages.notebook import written

    place = Path(folder)
    if place.exists() and not place.is_dir():
        fix = "name a folder, which is made if need be"
        raise BadParameter("folder", str(place), why="there is a file of that name", fix=fix)
    place.mkdir(parents=True, exist_ok=True)
    files = {place / f"{each.name}.ipynb": each for each in (labs() if chosen is None else chosen)}
    for file in files:
        check_place(file, force=force)
    for file, each in files.items():
        say(each.title)
        write_file(file, written(each.notebook()), force=force)
    return list(files)


def pages() -> Path:
    """Return the folder that the pages lie in."""
    for home in _HOMES:
        if home.is_dir():
            return home
    fix = "install Discreet again, from its wheel or in a whole checkout"
    raise Refusal("the labs", why="their pages are not in this installation", fix=fix)


def _read(file: Path) -> Lab:
    """Read a page, and refuse one that does not have the shape of a lab."""
    text = file.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise _broken(file.stem, "it begins with a title, its lectures and minutes, and an introduction")
    number, title, lectures, minutes, introduction = head.groups()
    if int(number) != int(file.stem[:2]):
        raise _broken(file.stem, "its title has another number than its file")
    found = {section.title: section for section in sections(text)}
    if [*found] not in (list(SECTIONS), [title for title in SECTIONS if title != "Erratum"]):
        raise _broken(file.stem, f"its sections are {', '.join(SECTIONS)}, in this order")
    for single in ("Code", "Picture", "Number"):
        if len(blocks(found[single].text)) != 1:
            raise _broken(file.stem, f"its section {single} has one block of Python")
    bar = _BAR.match(found["Number"].text)
    if bar is None:
        raise _broken(file.stem, "its section Number begins with **Bar.** and what has to hold")
    return Lab(
        number=int(number),
        name=file.stem,
        title=title,
        lectures=tuple(lectures.split(", ")),
        minutes=int(minutes),
        introduction=" ".join(introduction.split()),
        code=blocks(found["Code"].text)[0],
        bar=" ".join(bar[1].split()),
        sections=tuple(found.values()),
        text=text,
    )


def _run(block: str, names: dict[str, Any], where: str) -> str:
    """Run one block in the page's namespace; return the assertion that failed, or nothing."""
    try:
        # The pages are part of the package, like its modules: nothing a user typed is run here.
        exec(compile(block, where, "exec"), names)  # noqa: S102
    except AssertionError as error:
        line = next(frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == where)
        return f"{where}: {block.splitlines()[(line or 1) - 1].strip()}"
    return ""


def _result(name: str, names: dict[str, Any]) -> tuple[float, bool, Picture]:
    """Return the number, the verdict and the picture that a page has set; those of NumPy become Python's own."""
    found: list[Any] = []
    for wanted, kind in (("number", int | float), ("passes", bool), ("picture", Picture)):
        value: Any = names.get(wanted)
        plain = value.item() if getattr(value, "ndim", None) == 0 else value
        if not isinstance(plain, kind):
            raise _broken(name, f"its blocks set number (a number), passes (a bool) and picture; {wanted} is none")
        found.append(plain)
    return found[0], found[1], found[2]


def _broken(name: str, why: str) -> Refusal:
    fix = "fix the page; docs/labs/index.md describes the format"
    return Refusal(f"lab {name}", why=why, fix=fix, value=name)
