"""What tests of commands about vaults share: a folder with a vault and a table, and a way to run commands."""

import json

import pytest

from discreet.cli.main import main
from tests.cli.vaults import PRICE, ROWS, TERMS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with visits.csv in it, and nothing in the environment that would point elsewhere."""
    monkeypatch.chdir(tmp_path)
    for name in ("DISCREET_VAULT", "DISCREET_TOKEN", "DISCREET_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "visits.csv").write_text(ROWS)
    return tmp_path


@pytest.fixture
def run(capsys):
    """Run a command and return its exit code, what it printed, and what it printed for errors."""

    def command(*words):
        code = main(words)
        out, err = capsys.readouterr()
        return code, out, err

    return command


@pytest.fixture
def result(run):
    """Run a command with --json and return its result, or its error."""

    def command(*words):
        code, out, _ = run(*words, "--json")
        envelope = json.loads(out)
        assert ("result" in envelope) or code == envelope["error"]["exit"]
        return envelope.get("result", envelope.get("error"))

    return command


@pytest.fixture
def vault(folder, run):
    """A vault with the table visits."""
    assert run("init")[0] == 0
    assert run("register", "visits", "visits.csv", *TERMS, *PRICE)[0] == 0
    return folder / "vault.discreet"
