"""The documents: every entry mentioned, every link resolved, every example run, nothing fetched from elsewhere."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discreet
from discreet.core.registry import Registry

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Labs are run with seeds, and judged, by their own tests.
LAB = re.compile(r"\d\d-")
EXAMPLES = [page for page in PAGES if not LAB.match(page.name) and "```python" in page.read_text(encoding="utf-8")]


def name(path):
    return str(path.relative_to(ROOT))


def registries():
    """Find every registry that is a public name of some module."""
    found = {}
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not module.name.endswith("__main__"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Registry):
                    found[value.package] = value
    return found


def test_every_registry_entry_is_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    found = registries()
    assert "discreet.cli" in found
    missing = [
        f"{registry.kind} {entry}"
        for registry in found.values()
        for entry in registry
        if not re.search(rf"`(discreet )?{entry.replace('_', '[-_]')}\b", text)
    ]
    assert missing == []


def has_tests(registry, entry):
    """Whether there is a test file of the entry's name, or, where entries are folders, a folder with test files."""
    folder = ROOT / "tests" / registry.package.removeprefix("discreet.").replace(".", "/")
    return any((folder / entry).glob("test_*.py")) if registry.folders else (folder / f"test_{entry}.py").exists()


def test_every_registry_entry_has_a_test_file():
    missing = [
        f"{registry.kind} {entry}"
        for registry in registries().values()
        for entry in registry
        if not has_tests(registry, entry)
    ]
    assert missing == []


def relative_links(page):
    links = re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
    return [link.partition("#")[0] for link in links if not re.match(r"[a-z]+:|#", link)]


def test_every_relative_link_leads_somewhere():
    found = [(page, link) for page in PAGES for link in relative_links(page)]
    assert len(found) > 100
    assert [f"{name(page)}: {link}" for page, link in found if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", EXAMPLES, ids=name)
def test_every_python_example_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    names = {"__name__": "example"}
    for block in blocks:
        if block.startswith(">>>"):
            example = doctest.DocTestParser().get_doctest(block, names, name(page), str(page), 0)
            assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, clear_globs=False).failed == 0
            names |= example.globs
        else:
            exec(compile(block, name(page), "exec"), names)
    assert blocks


def test_the_readme_begins_with_about_ten_lines_of_python():
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    assert 8 <= len(block.splitlines()) <= 12


def test_the_changelog_has_a_privacy_heading_in_every_release():
    releases = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1:]
    assert releases
    assert all("\n### Privacy\n" in release for release in releases)
    assert releases[0].startswith(discreet.__version__)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The built documentation."""
    folder = tmp_path_factory.mktemp("site")
    ran = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
    )
    # Not --quiet, under which mkdocs does not count warnings and --strict means nothing.
    assert (ran.returncode, "WARNING" in ran.stderr) == (0, False), ran.stderr
    return folder


def test_the_documentation_builds_without_a_warning_and_fetches_nothing(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 5
    for file in [*pages, *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        fetched = re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*(?:src|href)=[\"']?(?:https?:)?//[^\s>]*", text)
        fetched += re.findall(r"(?:url\([\"']?|@import\s+[\"'])(?:https?:)?//[^)\s]*", text)
        assert fetched == []


def test_pages_opened_from_a_folder_can_be_searched(site):
    assert (site / "search" / "search_index.js").read_text(encoding="utf-8").startswith("var __index = ")
    for page, up in (("index.html", ""), ("labs/index.html", "../")):
        assert f'<script src="{up}assets/iframe-worker.js">' in (site / page).read_text(encoding="utf-8")
    assert (site / "assets" / "iframe-worker.js").exists()


def test_the_reference_describes_every_public_name(site):
    text = (site / "reference.html").read_text(encoding="utf-8")
    packages = [
        discreet,
        *map(importlib.import_module, ("discreet.mechanisms", "discreet.publish", "discreet.local", "discreet.learn")),
    ]
    values = {
        id(value): name for package in packages for name in package.__all__ if callable(value := getattr(package, name))
    }
    assert [name for name in values.values() if not re.search(rf"<h3[^>]*><code>[\w.]*\b{name}</code>", text)] == []
    assert "tools/reference.py" not in text


def test_the_first_sentence_says_differential_privacy():
    firsts = [
        (ROOT / "README.md").read_text(encoding="utf-8").split("\n\n")[1],
        (ROOT / "docs" / "index.md").read_text(encoding="utf-8").split("\n\n")[1],
        discreet.__doc__,
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["description"],
    ]
    assert ["differential privacy" in re.split(r"\.\s", first)[0].lower() for first in firsts] == [True] * 4


def test_every_file_that_the_design_draws_exists():
    drawn = re.search(r"```text\n(.*?)```", (ROOT / "docs" / "design.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    paths = re.findall(r"\b[a-z_]+(?:/[a-z_]+)*(?:/|\.py)(?=\s)", drawn)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / "src" / "discreet" / path).exists()] == []
