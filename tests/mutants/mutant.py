"""What a mutant is: one exact text of one file exchanged for another, and the tests that must notice."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"


class Rotten(AssertionError):
    """The table does not fit the source any more."""


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
    def name(self):
        """What tells it from others in a list of tests."""
        return f"{self.file.removesuffix('.py')}: {self.why}"

    def mutated(self, text):
        """Return the text of its file with the bug in it."""
        found = text.count(self.old)
        if found != 1:
            raise Rotten(f"{self.file}: the old text stands there {found} times, instead of once: {self.old!r}")
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
        self.mutated((SOURCE / self.file).read_text(encoding="utf-8"))
        if bool(self.tests) != (self.by == "tests" and not self.harmless):
            raise Rotten(f"{self.name}: name the tests that notice it, or mark it by='types', or argue it harmless")
        for test in self.tests:
            file, _, rest = test.partition("::")
            path = ROOT / "tests" / file
            if not path.is_file() or (rest and f"def {rest.partition('[')[0]}(" not in path.read_text("utf-8")):
                raise Rotten(f"{self.name}: no such test: {test}")
