"""Files that commands write: none is written over without --force; vaults, sources, stores and anchors never."""

import ast
import errno
import os
from pathlib import Path

import click
import duckdb
import pytest

import discreet.cli as cli
from discreet.cli.main import commands
from discreet.cli.shared.exits import Exit
from discreet.cli.shared.files import NEW_FILE, NEW_FILES
from discreet.cli.shared.folder import dress

SOURCES = sorted(Path(cli.__file__).parent.rglob("*.py"))
TEXT = "SELECT COUNT(*) AS n FROM visits"
# What names a file to be written, wherever it is an option or an argument.
WORDS = {"save", "plot", "out", "sample", "report"}
ELSEWHERE = {"write_bytes", "touch", "symlink_to", "hardlink_to", "rename", "mkstemp", "NamedTemporaryFile"}


@pytest.fixture
def token(vault, result, monkeypatch):
    monkeypatch.setenv("DISCREET_TOKEN", result("grant", "alice", "visits")["token"])


def ask(run, *words):
    return run("ask", TEXT, "--epsilon", "1/10", *words)


def test_an_answer_that_is_there_is_written_over_by_force_alone(token, run, folder):
    (folder / "a.json").write_text("mine")
    code, out, err = ask(run, "--save", "a.json")
    assert (code, out) == (Exit.REFUSED, "")
    assert "--force" in err
    assert (folder / "a.json").read_text() == "mine"
    assert ask(run, "--save", "a.json", "--force")[0] == Exit.DONE
    assert (folder / "a.json").read_text() != "mine"


@pytest.mark.parametrize("option", ["--save", "--plot"])
@pytest.mark.parametrize(
    "name", ["vault.discreet", "vault.discreet.anchor", "vault.discreet-wal", "visits.csv", "./x/../visits.csv"]
)
def test_the_vault_and_its_sources_are_never_written_over(token, run, folder, name, option):
    (folder / "x").mkdir()
    before = {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}
    code, out, _ = ask(run, option, name, "--force")
    assert (code in (Exit.REFUSED, Exit.USAGE), out) == (True, "")  # and nothing was paid or shown
    assert before.keys() <= {each.name for each in folder.iterdir()}
    assert (folder / "visits.csv").read_bytes() == before["visits.csv"]
    assert (folder / "vault.discreet").read_bytes()[:16] == b"SQLite format 3\0"
    assert (folder / "vault.discreet.anchor").read_bytes() == before["vault.discreet.anchor"]


@pytest.mark.parametrize("name", ["real/p1.parquet", "real/new.parquet", "link/p1.parquet"])
def test_the_files_of_a_pattern_are_never_written_over_nor_added_to(run, result, folder, monkeypatch, name):
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    duckdb.sql(f"COPY (SELECT range AS x FROM range(9)) TO '{folder}/real/p1.parquet'")
    assert run("init", "v.discreet")[0] == Exit.DONE
    words = ("register", "t", "real/**/*.parquet", "--vault", "v.discreet", "--unit", "row", "--column", "x=0..9")
    assert run(*words, "--epsilon", "9")[0] == Exit.DONE
    monkeypatch.setenv("DISCREET_TOKEN", result("grant", "alice", "t", "--vault", "v.discreet")["token"])
    before = (folder / "real" / "p1.parquet").read_bytes()
    asked = ("ask", "SELECT COUNT(*) AS n FROM t", "--epsilon", "1", "--vault", "v.discreet", "--save", name, "--force")
    code, out, _ = run(*asked)
    assert (code in (Exit.REFUSED, Exit.USAGE), out) == (True, "")
    assert (folder / "real" / "p1.parquet").read_bytes() == before
    assert len([*(folder / "real").iterdir()]) == 1


def test_what_lies_in_the_folder_of_a_vault_or_beside_it_is_never_written_over_nor_added_to(token, run, folder):
    rows = folder / "vault.discreet.data"
    (rows / "more").mkdir(parents=True)
    (rows / "kept.parquet").write_text("rows")
    (folder / "link").symlink_to(rows)
    names = ["kept.parquet", "new.json", "more/new.json"]
    places = [f"{each}/{name}" for each in ("vault.discreet.data", "link") for name in names]
    for name in (*places, "vault.discreet.draws", "vault.discreet.draws.new"):
        for more in ((), ("--force",)):
            code, out, err = ask(run, "--save", name, *more)
            assert (code, out) == (Exit.REFUSED, "")
            assert "it is a vault or a store, or belongs to one" in err
    assert (rows / "kept.parquet").read_text() == "rows"
    assert sorted(each.name for each in rows.iterdir()) == ["kept.parquet", "more"]


def test_the_keys_of_this_machine_are_never_written_over(token, run, folder, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    (folder / "state" / "discreet").mkdir(parents=True)
    assert ask(run, "--save", "state/discreet/new.json", "--force")[0] == Exit.REFUSED
    assert ask(run, "--save", "state/new.json")[0] == Exit.DONE


@pytest.mark.parametrize("option", ["--save", "--plot"])
def test_a_name_that_is_empty_is_refused(token, run, option):
    code, out, err = ask(run, option, "")
    assert (code, out) == (Exit.USAGE, "")
    assert "the file cannot be written" in err


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_paid(token, run, result, monkeypatch):
    before = result("budget")
    opened = os.open

    def full(file, flags, *more, **named):
        if flags & os.O_CREAT and Path(file).suffix == "":
            raise PermissionError(errno.EACCES, "no")
        return opened(file, flags, *more, **named)

    with monkeypatch.context() as changed:
        changed.setattr("discreet.core.file.os.open", full)
        code, out, err = ask(run, "--save", "new.json")
    assert (code, out) == (Exit.USAGE, "")
    assert "the file cannot be written" in err
    assert result("budget") == before


def test_a_link_to_a_source_is_not_followed(token, run, folder):
    (folder / "link.json").symlink_to(folder / "visits.csv")
    before = (folder / "visits.csv").read_bytes()
    for more in ((), ("--force",)):
        assert ask(run, "--save", "link.json", *more)[0] == Exit.REFUSED
    assert (folder / "visits.csv").read_bytes() == before


def test_a_folder_that_a_table_is_read_from_gets_no_new_file(vault, run, result, folder, monkeypatch):
    import duckdb

    (folder / "parts").mkdir()
    duckdb.sql("COPY (SELECT 1 AS a) TO 'parts/one.parquet' (FORMAT parquet)")
    assert run("register", "parts", "parts", "--unit", "row", "--column", "a=0..9", "--epsilon", "1")[0] == Exit.DONE
    monkeypatch.setenv("DISCREET_TOKEN", result("grant", "bob", "parts")["token"])
    code, _, err = run("ask", "SELECT COUNT(*) AS n FROM parts", "--epsilon", "1/10", "--save", "parts/two.json")
    assert code == Exit.REFUSED
    assert "are read from there" in err


def test_a_collection_is_never_written_over_by_its_export(folder, run):
    assert run("collect", "init", "survey", "unary:k=5,epsilon=2")[0] == Exit.DONE
    for name in ("collector.sqlite", "collector.sqlite-wal", "collection.json", "collection.key"):
        assert run("collect", "export", "survey", f"survey/{name}", "--force")[0] == Exit.REFUSED
    assert run("collect", "status", "survey")[0] == Exit.DONE
    assert run("collect", "export", "survey", "all.parquet")[0] == Exit.DONE
    assert run("collect", "export", "survey", "all.parquet")[0] == Exit.REFUSED
    assert run("collect", "export", "survey", "all.parquet", "--force")[0] == Exit.DONE
    (folder / "rows.parquet").write_bytes(b"a table of someone's")
    assert run("collect", "export", "survey", "rows.parquet", "--force")[0] == Exit.REFUSED
    assert (folder / "rows.parquet").read_bytes() == b"a table of someone's"


def test_a_demonstration_writes_over_nothing_of_others_and_follows_no_link(folder, run):
    (folder / "demo").mkdir()
    (folder / "demo" / "play.py").write_text("mine")
    assert run("demo")[0] != Exit.DONE
    assert (folder / "demo" / "play.py").read_text() == "mine"
    assert not (folder / "demo" / "vault.discreet").exists()
    (folder / "other").mkdir()
    (folder / "victim").write_text("mine")
    (folder / "other" / "token").symlink_to(folder / "victim")
    assert run("demo", "--out", "other")[0] != Exit.DONE
    assert (folder / "victim").read_text() == "mine"


def test_notebooks_that_are_there_are_kept(folder, run):
    assert run("labs", "export", "books", "--only", "1")[0] == Exit.DONE
    (file,) = (folder / "books").iterdir()
    file.write_text("mine")
    assert run("labs", "export", "books", "--only", "1")[0] == Exit.REFUSED
    assert file.read_text() == "mine"
    assert run("labs", "export", "books", "--only", "1", "--force")[0] == Exit.DONE


def every(command, path=()):
    """Yield all commands with their words."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from every(command.get_command(context, name), (*path, name))


def test_every_option_that_names_a_file_to_be_written_goes_through_the_one_door():
    found = set()
    for name in commands:
        command = commands[name]
        dress(command)
        for path, each in every(command, (name,)):
            outputs = [param for param in each.params if param.name in WORDS]
            assert all(param.type in (NEW_FILE, NEW_FILES) for param in outputs), path
            if outputs:
                assert any("--force" in param.opts for param in each.params), path
                found.add(path)
    assert {("ask",), ("synthesize",), ("demo",), ("attack", "all"), ("account", "plot"), ("audit",)} <= found


WRITING = ("w", "wb", "a", "ab", "x", "xb", "r+", "w+")


def writes(call):
    """Return whether a call writes a file otherwise than through the one door."""
    owned = isinstance(call.func, ast.Attribute)
    called = call.func.attr if owned else getattr(call.func, "id", "")
    words = [each.value for each in ast.walk(call) if isinstance(each, ast.Constant)]
    if ast.unparse(call.func) == "os.open":
        return "os.devnull" not in ast.unparse(call)
    if called in ("savefig", "copyfile"):  # into a place that was yielded by the door
        return ast.unparse(call.args[-1]) not in ("out", "fresh")
    if called == "open":
        return any(word in WRITING for word in words)
    return called in ELSEWHERE or (called == "write_text" and owned)


def written(source):
    """Return the calls of a source that write a file by themselves."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [ast.unparse(call) for call in calls if writes(call)]


def test_no_command_opens_a_file_for_writing_by_itself():
    found = {str(file): written(file.read_text(encoding="utf-8")) for file in SOURCES}
    assert len(found) > 40
    assert {file: calls for file, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "call",
    [
        "open(place, 'w')",
        "Path(place).open(mode='ab')",
        "os.open(place, flags)",
        "os.open(place, 'w')",
        "place.write_text(words)",
        "place.write_bytes(words)",
        "figure.savefig(place)",
        "shutil.copyfile(one, two)",
        "tempfile.mkstemp()",
    ],
)
def test_the_scan_finds_calls_that_write(call):
    assert written(call) == [call]
