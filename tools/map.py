"""Draws the packages and who imports whom into docs/architecture.svg: `make map`."""

from __future__ import annotations

import ast
import textwrap
import tomllib
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

import grimp

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "architecture.svg"
PACKAGE = "discreet"
TESTING = "testing"

# A wide box for each package, in rows; to the right one lane for each importer, from which arrows lead back.
MARGIN, TOP, BOX, ROW, GAP, LANE = 28, 92, 480, 78, 16, 26
COLOURS = ("#2563eb", "#c2410c", "#15803d", "#7c3aed", "#be185d", "#0e7490", "#a16207", "#4d7c0f", "#b91c1c")

LEGEND = "Arrows lead from a package to those it needs, which lie below it; testing stands aside."
STYLE = """
  text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #0f172a }
  .page { fill: #ffffff } .box { fill: #f1f5f9; stroke: #cbd5e1 } .aside { stroke-dasharray: 5 4 }
  .title { font-size: 20px; font-weight: 600 } .name { font-size: 16px; font-weight: 600 }
  .note { font-size: 12.5px; fill: #475569 } .lane { fill: none; stroke-width: 1.8 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f1f5f9 } .note { fill: #a3b1c6 } .page { fill: #0f172a } .box { fill: #1e293b; stroke: #475569 }
    .lanes { filter: brightness(1.55) saturate(0.85) }
  }
"""


@dataclass(frozen=True, slots=True)
class Package:
    """One box: a package, its first docstring line, and the packages it imports."""

    name: str
    summary: str
    imports: tuple[str, ...]


def layers() -> list[str]:
    """Return the packages from top to bottom, as the import contract in pyproject.toml stacks them."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    stack = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [name.strip(" ()") for layer in stack for name in layer.split("|")]


def packages() -> list[Package]:
    """Return the packages that exist, from top to bottom, testing last."""
    graph = grimp.build_graph(PACKAGE, exclude_type_checking_imports=False, cache_dir=None)
    present = graph.find_children(PACKAGE)
    names = [name for name in [*layers(), TESTING] if f"{PACKAGE}.{name}" in present]
    return [Package(name, _summary(name), _imports(graph, name, names)) for name in names]


def draw(found: list[Package]) -> str:
    """Return the picture as SVG text."""
    rows = {package.name: TOP + number * (ROW + GAP) for number, package in enumerate(found)}
    importers = [package for package in found if package.imports]
    # The lowest importer has the lane nearest to the boxes, so that long lanes go round short ones.
    width = MARGIN + BOX + LANE * (len(importers) + 1) + MARGIN
    height = TOP + len(found) * (ROW + GAP) - GAP + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        "<title>The packages of Discreet and their imports</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="14"/>',
        f'<text class="title" x="{MARGIN}" y="44">Discreet: who imports whom</text>',
        f'<text class="note" x="{MARGIN}" y="66">{LEGEND}</text>',
        *(_box(package, rows[package.name]) for package in found),
        '<g class="lanes">',
        *(_lane(package, number, found, rows) for number, package in enumerate(reversed(importers))),
        "</g>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _summary(name: str) -> str:
    folder = ROOT / "src" / PACKAGE / name
    file = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0].replace("`", "")


def _imports(graph: grimp.ImportGraph, name: str, names: list[str]) -> tuple[str, ...]:
    def imported(other: str) -> bool:
        return graph.direct_import_exists(importer=f"{PACKAGE}.{name}", imported=f"{PACKAGE}.{other}", as_packages=True)

    return tuple(other for other in names if other != name and imported(other))


def _box(package: Package, y: int) -> str:
    lines = textwrap.wrap(package.summary, width=68)[:2]
    kind = "box aside" if package.name == TESTING else "box"
    first = y + (28 if len(lines) > 1 else 34)
    notes = [
        f'<text class="note" x="{MARGIN + 18}" y="{first + 20 + 16 * number}">{escape(line)}</text>'
        for number, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<rect class="{kind}" x="{MARGIN}" y="{y}" width="{BOX}" height="{ROW}" rx="10"/>',
            f'<text class="name" x="{MARGIN + 18}" y="{first}">{package.name}</text>',
            *notes,
        ]
    )


def _lane(package: Package, number: int, found: list[Package], rows: dict[str, int]) -> str:
    """Draw an importer's lane: out of its box, along the lane, and by an arrow into each package it imports."""
    colour = COLOURS[number % len(COLOURS)]
    edge, x = MARGIN + BOX, MARGIN + BOX + LANE * (number + 1)
    down = package.name != TESTING
    start = rows[package.name] + (ROW - 10 if down else 10)
    stops = sorted((_entry(package.name, name, found, rows) for name in package.imports), reverse=not down)
    corner, last = 8 if down else -8, stops[-1]
    around = f"M{edge} {start}H{x - 8}Q{x} {start} {x} {start + corner}V{last - corner}Q{x} {last} {x - 8} {last}"
    branches = "".join(f"M{x} {stop}H{edge + 8}" for stop in stops[:-1])
    return "\n".join(
        [
            f'<circle cx="{edge}" cy="{start}" r="4" fill="{colour}"/>',
            f'<path class="lane" stroke="{colour}" d="{around}H{edge + 8}{branches}"/>',
            *(f'<path fill="{colour}" d="M{edge + 1} {stop}l9 -4.5v9z"/>' for stop in stops),
        ]
    )


def _entry(importer: str, name: str, found: list[Package], rows: dict[str, int]) -> int:
    """Return the height at which an importer enters a box: each its own, in the order of the lanes, testing last."""
    importers = [package.name for package in found if name in package.imports]
    room = ROW - 34
    share = (importers.index(importer) + 0.5) / len(importers)
    return rows[name] + 8 + round(room * share)


if __name__ == "__main__":
    PICTURE.write_text(draw(packages()), encoding="utf-8")
    print(f"drew {PICTURE.relative_to(ROOT)}")
