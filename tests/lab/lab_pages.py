"""A small page of a lab, and a way to put pages in place of the real ones."""

import sys
from pathlib import Path

PAGE = """# 7. A small lab

*Lectures: Hardt, Yu. About 5 minutes.*

An introduction
over two lines.

## Theorem

One is one; see [the others](../index.md).

## Code

```python
one = 1
```

## Picture

```python
from discreet.lab.picture import Bars

picture = Bars("One", ["one"], [one], "value")
```

![One](pictures/07-small.svg)

## Number

**Bar.** It is
one.

```python
number = one
passes = number == 1
```

## Erratum

It was written as two.

```python
assert one != 2
```

## Exercise

What is one and one?

??? note "Solution"

    Two:

    ```python
    assert one + one == 2
    ```

    That is all.
"""


def put(folder, monkeypatch, text=PAGE, name="07-small.md"):
    """Make a folder with one page the place where labs are looked for."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("# Not a lab\n", encoding="utf-8")
    monkeypatch.setattr(sys.modules["discreet.lab.pages.labs"], "_HOMES", (Path(folder),))
