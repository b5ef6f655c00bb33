"""Conformance: every folder of engines has the parts that others rely on, and both suites are run on it."""

import ast
import inspect
import subprocess
import sys
from dataclasses import is_dataclass
from pathlib import Path
from typing import get_type_hints

import pytest

import discreet as dp
from discreet import engines
from discreet.core.registry import capwords
from discreet.engines import EMBEDDED, registry
from discreet.engines.dialect import Dialect, dialect_of
from discreet.engines.engine import Engine
from discreet.engines.source import Home, Source, SourceKind, SourceOptions, _kinds, home_of, locate
from tests.engines.subjects import offered
from tests.neighbours.sources import Kind

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "engines.md"
ENGINES = [*registry]
OTHERS = [name for name in ENGINES if name != EMBEDDED]
STUB = {
    "__init__": '"""Stub: an engine of tests."""\n',
    "options": """
from dataclasses import dataclass
from discreet.engines.source import Source, SourceKind, SourceOptions

@dataclass(frozen=True, slots=True)
class Place(SourceOptions):
    town: str = "here"

KINDS = {"stub": SourceKind(Place, written="stub(path)")}

def stub(path):
    return Source("stub", path, Place())

def located(text):
    return stub(text.removeprefix("stub:")) if text.startswith("stub:") else None
""",
    "source": 'ENGINE = "stub"\nSHARES = frozenset()\n',
    "dialect": 'from discreet.engines.duckdb.dialect import DuckDB\n\nDIALECT = DuckDB("stub")\n',
}


def public(protocol):
    """Return the functions that a protocol asks for."""
    return {
        name: found
        for name, found in vars(protocol).items()
        if inspect.isfunction(found) and (not name.startswith("_") or name in ("__enter__", "__exit__"))
    }


def unseen(engine):
    """Say what has to be written so that the suites are run on an engine; nothing where it is there."""
    wanted = {"subject": f"a class {capwords(engine)} of the kind Subject", "neighbours": "KINDS of sources, by name"}
    return [
        f"write tests/engines/{engine}/{module}.py with {what}; that of duckdb is an example"
        for module, what in wanted.items()
        if offered(engine, module) is None
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_both_suites_are_run_on_every_engine(engine):
    assert not unseen(engine), "\n".join(unseen(engine))
    subject = getattr(offered(engine, "subject"), capwords(engine))
    assert subject.name == engine
    assert subject.endless
    kinds = offered(engine, "neighbours").KINDS
    assert any(kind.checked for kind in kinds.values())
    assert all(isinstance(kind, Kind) for kind in kinds.values())


@pytest.mark.parametrize("engine", ENGINES)
def test_the_source_of_an_engine_does_what_a_home_does(engine):
    home = registry.part(engine, "source")
    assert engine == home.ENGINE
    assert {*home.SHARES} <= {*ENGINES} - {engine}
    for name, wanted in public(Home).items():
        asked = [each for each in inspect.signature(wanted).parameters if each != "self"]
        assert [*inspect.signature(getattr(home, name)).parameters] == asked, name


@pytest.mark.parametrize("engine", ENGINES)
def test_what_a_home_opens_is_an_engine(engine):
    opened = get_type_hints(registry.part(engine, "source").opened)["return"]
    assert opened.__module__ == f"discreet.engines.{engine}.engine"
    assert opened.name == engine
    for name, wanted in public(Engine).items():
        assert [*inspect.signature(getattr(opened, name)).parameters] == [*inspect.signature(wanted).parameters], name
    assert isinstance(opened.version, property)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_dialect_of_an_engine_goes_by_its_name(engine):
    assert isinstance(dialect_of(engine), Dialect)
    assert dialect_of(engine).name == engine


@pytest.mark.parametrize("engine", ENGINES)
def test_every_kind_of_source_belongs_to_one_engine_and_is_written_by_a_function_of_its_options(engine):
    options = registry.part(engine, "options")
    assert options.KINDS
    for name, kind in options.KINDS.items():
        assert isinstance(kind, SourceKind)
        assert [other for other in ENGINES if name in registry.part(other, "options").KINDS] == [engine]
        assert not kind.written or callable(getattr(options, kind.written.partition("(")[0]))
        assert kind.options is None or (is_dataclass(kind.options) and issubclass(kind.options, SourceOptions))


@pytest.mark.parametrize("engine", OTHERS)
def test_the_word_for_an_engines_source_is_the_engines_own_name(engine):
    assert getattr(dp, engine) is getattr(registry.part(engine, "options"), engine)
    assert engine in dir(dp)


@pytest.mark.parametrize("engine", OTHERS)
def test_an_engine_leaves_the_words_of_others_alone(engine):
    located = registry.part(engine, "options").located
    others = [f"{other}:x" for other in OTHERS if other != engine]
    assert {located(text) for text in ("visits.csv", "visits/*.parquet", "visits", "", *others)} == {None}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_of_engines_shows_every_word(engine):
    written = [kind.written for kind in registry.part(engine, "options").KINDS.values() if kind.written]
    text = PAGE.read_text(encoding="utf-8")
    absent = [each for each in written if f"dp.{each.partition('(')[0]}(" not in text]
    assert not absent, f"write a row with dp.{absent[0]} into the table of docs/engines.md"


def test_the_kinds_of_all_engines_are_told_without_any_package_of_theirs():
    script = (
        "import sys; before = set(sys.modules); from discreet.engines.source import Source, locate;"
        "locate('a.csv'); locate('postgresql://h/d#t'); locate('spark:x'); Source('parquet', 'a');"
        "print(*{name.partition('.')[0] for name in set(sys.modules) - before} - sys.stdlib_module_names)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["discreet"]


def lists(tree):
    """Return the lines of collections that name more than one engine."""
    found = []
    for node in ast.walk(tree):
        held = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", ())
        if len({each.value for each in held if isinstance(each, ast.Constant)} & {*ENGINES}) > 1:
            found.append(node.lineno)
    return found


def test_no_list_of_engines_is_kept():
    files = (ROOT / "src").rglob("*.py")
    found = {str(file.relative_to(ROOT)): lists(ast.parse(file.read_text(encoding="utf-8"))) for file in files}
    assert {file: numbers for file, numbers in found.items() if numbers} == {}
    assert lists(ast.parse("x = 1\n_MODULES = {'postgres': 1, 'spark': 2}")) == [2]


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A folder of engines more, with an engine called stub."""
    folder = tmp_path / "stub"
    folder.mkdir()
    for name, text in STUB.items():
        (folder / f"{name}.py").write_text(text)
    monkeypatch.setattr(engines, "__path__", [*engines.__path__, str(tmp_path)])
    _kinds.cache_clear()
    yield "stub"
    _kinds.cache_clear()
    for name in [name for name in sys.modules if name.startswith("discreet.engines.stub")]:
        del sys.modules[name]
    vars(engines).pop("stub", None)


def test_a_folder_more_is_an_engine_more(planted):
    assert [*registry] == sorted([*ENGINES, planted])
    source = locate("stub:visits")
    assert source == dp.stub("visits") == Source.from_json(source.to_json())
    assert source.engine == home_of(source).ENGINE == dialect_of("stub").name == "stub"
    assert unseen(planted) == [
        "write tests/engines/stub/subject.py with a class Stub of the kind Subject; that of duckdb is an example",
        "write tests/engines/stub/neighbours.py with KINDS of sources, by name; that of duckdb is an example",
    ]
