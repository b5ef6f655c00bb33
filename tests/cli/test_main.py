"""The command itself: lazy, with a version, help, JSON and refusals that never show a traceback."""

import json
import logging
import subprocess
import sys

import pytest

from discreet.cli import main as module
from discreet.cli.main import commands, main
from discreet.core.log import logger
from discreet.core.version import __version__


def run(capsys, *words):
    code = main(words)
    out, err = capsys.readouterr()
    return code, out, err


def fail(error):
    def command(*_, **__):
        raise error

    return command


def test_the_version_is_printed(capsys):
    assert run(capsys, "--version") == (0, f"discreet {__version__}\n", "")


def test_the_version_is_printed_as_json(capsys):
    code, out, _ = run(capsys, "--version", "--json")
    assert code == 0
    assert json.loads(out) == {"discreet": 1, "command": "", "result": {"version": __version__}}


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"]])
def test_the_help_lists_every_command_and_every_exit_code(capsys, words):
    code, out, _ = run(capsys, *words)
    assert code == 0
    for name in commands:
        assert f"  {name.replace('_', '-')}  " in out
    assert "the privacy budget does not cover the question" in " ".join(out.split())


def test_a_group_without_a_command_shows_its_help(capsys):
    code, out, err = run(capsys, "noise")
    assert (code, err) == (0, "")
    assert "laplace" in out


def test_the_help_imports_no_command():
    script = (
        "import sys; from discreet.cli.main import main; main(['--help']);"
        "sys.exit(any(name in sys.modules for name in ('discreet.cli.demo', 'discreet.noise', 'numpy', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def test_an_unknown_command_is_refused_with_the_nearest(capsys):
    code, out, err = run(capsys, "dmo")
    assert (code, out) == (2, "")
    assert "did you mean 'demo'?" in err


def test_an_unknown_option_is_refused_with_the_nearest(capsys):
    code, _, err = run(capsys, "audit", "--sampels", "3")
    assert code == 2
    assert "--samples" in err
    assert "discreet audit --help" in err


def test_a_refusal_for_people_has_three_lines_on_stderr(capsys):
    code, out, err = run(capsys, "noise", "laplace", "--scale", "0")
    assert (code, out) == (2, "")
    assert [line.split()[0] for line in err.splitlines()] == ["refused", "why", "fix"]


@pytest.mark.parametrize(
    ("words", "command", "kind"),
    [
        (["--json", "dmo"], "", "UnknownName"),
        (["noise", "--json", "laplcae"], "noise", "UnknownCommand"),
        (["noise", "laplace", "--json"], "noise laplace", "MissingParameter"),
        (["noise", "laplace", "--scale", "x", "--json"], "noise laplace", "BadParameter"),
    ],
)
def test_a_refusal_for_programs_is_one_envelope_on_stdout(capsys, words, command, kind):
    code, out, err = run(capsys, *words)
    assert (code, err) == (2, "")
    envelope = json.loads(out)
    assert envelope["discreet"] == 1
    assert envelope["command"] == command
    assert set(envelope["error"]) == {"kind", "what", "why", "fix", "value", "exit"}
    assert envelope["error"]["exit"] == code
    if kind != "UnknownCommand":  # click names this one differently from version to version
        assert envelope["error"]["kind"] == kind


@pytest.mark.parametrize("error", [ZeroDivisionError("secret 42"), RuntimeError("secret 42")])
def test_an_unexpected_error_shows_neither_traceback_nor_text(capsys, monkeypatch, error):
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    monkeypatch.setattr(module.discreet, "main", fail(error))
    code, out, err = run(capsys, "demo")
    assert (code, out) == (1, "")
    assert type(error).__name__ in err
    assert "Traceback" not in err
    assert "secret" not in err


def test_debugging_shows_where_it_happened(monkeypatch):
    monkeypatch.setenv("DISCREET_DEBUG", "1")
    monkeypatch.setattr(module.discreet, "main", fail(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["demo"])


def test_an_interrupt_has_its_own_code(capsys, monkeypatch):
    monkeypatch.delenv("DISCREET_DEBUG", raising=False)
    monkeypatch.setattr(module.discreet, "main", fail(KeyboardInterrupt()))
    code, _, err = run(capsys, "demo")
    assert code == 130
    assert "interrupted" in err


def test_every_command_takes_json_and_verbose():
    import click

    context = click.Context(module.discreet)
    waiting = [module.discreet.get_command(context, name) for name in module.discreet.list_commands(context)]
    seen = 0
    while waiting:
        command = waiting.pop()
        seen += 1
        options = {word for parameter in command.params for word in parameter.opts}
        assert {"--json", "--verbose"} <= options
        if isinstance(command, click.Group):
            waiting += command.commands.values()
    assert seen > len(list(commands))


def test_verbose_turns_the_logger_on(capsys, monkeypatch):
    monkeypatch.setattr(logger, "level", logging.NOTSET)
    monkeypatch.setattr(logging.root, "handlers", [])
    code, _, err = run(capsys, "--verbose", "noise", "uniform", "--n", "2")
    assert code == 0
    assert "command noise uniform" in err


def test_a_closed_pipe_is_no_failure():
    words = [sys.executable, "-m", "discreet", "noise", "uniform", "--n", "9", "--size", "50000"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(2)
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(30) == 0


def test_it_runs_as_a_module():
    ran = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, f"discreet {__version__}\n")
