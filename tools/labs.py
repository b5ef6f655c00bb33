"""Draws the pictures of the labs and lists them in docs/labs/index.md: `tools/labs.py [NUMBER]...`."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.lab.pages.labs import Lab, lab, labs
from discreet.lab.picture import save
from discreet.testing import seeded

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "labs"
INDEX = FOLDER / "index.md"
BEGIN, END = "<!-- the list: made by tools/labs.py -->\n", "<!-- end of the list -->\n"


def draw(each: Lab) -> None:
    """Run a lab with its own seed, so that the picture in the page is the same every time."""
    with seeded(each.number):
        ran = each.run()
    save(ran.picture, FOLDER / "pictures" / f"{each.name}.svg")
    print(f"{each.name}: {ran.number:g} {'passes' if ran.passes else 'FAILS'} ({ran.seconds:.2f} s) {ran.failure}")


def index(found: tuple[Lab, ...]) -> str:
    """Return the list of labs as a table of Markdown."""
    lines = ["| | lab | lectures | minutes |", "|---|---|---|---|"]
    lines += [f"| {a.number} | [{a.title}]({a.name}.md) | {', '.join(a.lectures)} | {a.minutes} |" for a in found]
    return "\n" + "\n".join(lines) + "\n\n"


def main(words: list[str]) -> None:
    """Draw the labs named on the command line, or all, and write the list again."""
    found = labs()
    for each in [lab(word) for word in words] or found:
        draw(each)
    before, _, rest = INDEX.read_text(encoding="utf-8").partition(BEGIN)
    INDEX.write_text(before + BEGIN + index(found) + END + rest.partition(END)[2], encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
