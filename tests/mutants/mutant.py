"""What a mutant is: one exact text of one file exchanged for another, and the tests that must notice.

Code moves. A text that stands in another file than the mutant says, once in all the source, is found there; and so is a
test that has moved to another file.
"""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"


TESTS = ROOT / "tests"


class Rotten(AssertionError):
    """The table does not fit the source any more."""


@cache
def texts(folder):
    """Return the text of every Python file below a folder, by its path from there."""
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}


def found(file, said, known, what):
    """Return the file that a thing stands in: the one that was said, or the only other one."""
    if file in known and said(known[file]):
        return file
    others = [name for name, text in known.items() if said(text)]
    if len(others) != 1:
        where = f"in {len(others)} other files: {', '.join(others[:4])}" if others else "nowhere"
        raise Rotten(f"{file}: {what} does not stand there, but {where}")
    return others[0]


@dataclass(frozen=True, slots=True)
class SourceMutant:
    """A planted bug.

    `file` lies below src/discreet, `old` stands there exactly once, `tests` are files or node ids below tests, `why`
    says in one line what would be lost. With `by="types"` the type checker notices, and no test is named. A mutant
    that changes no promise has the argument for it in `harmless`, and no tests.
    """

    file: str
    old: str
    new: str
    why: str
    tests: tuple[str, ...] = ()
    by: Literal["tests", "types"] = "tests"
    harmless: str = ""

    @property
    def package(self):
        """The package that the bug lies in."""
        return self.file.partition("/")[0]

    @property
    def place(self):
        """The file that the old text stands in today, below src/discreet."""
        return found(self.file, lambda text: self.old in text, texts(SOURCE), f"the old text {self.old!r}")

    @property
    def nodes(self):
        """The tests, by the files that they stand in today, below tests."""
        return tuple(map(node, self.tests))

    @property
    def name(self):
        """What tells it from others in a list of tests."""
        return f"{self.file.removesuffix('.py')}: {self.why}"

    def mutated(self, text):
        """Return the text of its file with the bug in it."""
        times = text.count(self.old)
        if times != 1:
            raise Rotten(f"{self.file}: the old text stands there {times} times, instead of once: {self.old!r}")
        changed = text.replace(self.old, self.new)
        try:
            unlike = ast.dump(ast.parse(changed)) != ast.dump(ast.parse(text))
        except SyntaxError as error:
            raise Rotten(f"{self.file}: the new text is no Python: {self.new!r}") from error
        if not unlike:
            raise Rotten(f"{self.file}: the new text means what the old one means: {self.new!r}")
        return changed

    def check(self):
        """Raise where it no longer applies to the source, or names tests that are not there."""
        self.mutated(texts(SOURCE)[self.place])
        if bool(self.tests) != (self.by == "tests" and not self.harmless):
            raise Rotten(f"{self.name}: name the tests that notice it, or mark it by='types', or argue it harmless")
        assert len(self.nodes) == len(self.tests)


def node(test):
    """Return a test, or a file of tests, as it is called today."""
    file, _, rest = test.partition("::")
    if rest:
        head = f"def {rest.split('::')[-1].partition('[')[0]}("
        return found(file, lambda text: head in text, texts(TESTS), f"the test {rest}") + f"::{rest}"
    if file not in texts(TESTS):
        others = [name for name in texts(TESTS) if name.rpartition("/")[2] == file.rpartition("/")[2]]
        if len(others) != 1:
            raise Rotten(f"no such file of tests: {file}")
        return others[0]
    return file
