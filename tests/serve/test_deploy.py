"""The files for containers: what they run is what the command takes, and the anchor lies on a volume of its own."""

import json
import re
from pathlib import Path

import click

from discreet.cli.main import discreet
from discreet.cli.serve import command

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def words(text, instruction):
    return json.loads(re.search(rf"^{instruction} (\[.*\])$", text, re.MULTILINE)[1])


def parsed(line, tmp_path):
    """Read a command line as the program does, with folders that exist."""
    given = [str(tmp_path) if word.startswith("/data") else word for word in line]
    return command.make_context("serve", given, resilient_parsing=False).params


def test_the_container_starts_the_server_as_the_command_takes_it(tmp_path):
    text = (DEPLOY / "Dockerfile").read_text()
    entry = words(text, "ENTRYPOINT")
    assert entry[:2] == ["discreet", "serve"]
    found = parsed(entry[2:], tmp_path)
    assert (found["host"], found["port"], found["behind_proxy"]) == ("0.0.0.0", 8080, True)
    assert "EXPOSE 8080" in text
    assert "USER discreet" in text


def test_vault_and_anchor_have_volumes_of_their_own():
    text = (DEPLOY / "Dockerfile").read_text()
    assert words(text, "VOLUME") == ["/vault", "/anchor"]
    assert "XDG_STATE_HOME=/anchor" in text


def test_the_composition_names_options_and_words_that_there_are(tmp_path):
    text = (DEPLOY / "compose.yml").read_text()
    options = json.loads(re.search(r"command: (\[.*\])", text)[1])
    found = parsed(options, tmp_path)
    assert (found["workers"], found["anchor"]) == (2, "/anchor/head.json")
    assert '"anchor:/anchor"' in text
    assert "init" in discreet.list_commands(click.Context(discreet))
    assert re.search(r"extras?|\[serve,postgres\]", (DEPLOY / "Dockerfile").read_text())
