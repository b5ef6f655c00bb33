"""discreet serve, and commands that name a server in the place of a vault."""

import discreet as dp
from discreet.cli.main import main
from discreet.curator.curator import Curator
from tests.serve.api.served import ROWS, TERMS, command
from tests.serve.api.test_server import connected


def test_the_command_line_asks_a_server_as_it_asks_a_vault(tmp_path, capsys):
    with Curator(tmp_path / "vault.discreet") as curator:
        curator.register("visits", ROWS, budget=dp.Budget(epsilon=3), **TERMS)
        token = curator.grant("alice", "visits")
    question = ["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", "--epsilon", "0.5", "--token", token, "--json"]
    with command(tmp_path / "vault.discreet") as (url, _):
        connected(url, token).close()
        assert main(["ask", *question, "--vault", url]) == 0
        over_http = capsys.readouterr().out
        assert main(["preview", *question, "--vault", url]) == 0
        capsys.readouterr()
        assert main(["lint", "--vault", url]) == 2
        assert "where the vault lies" in capsys.readouterr().err
    assert main(["ask", *question, "--vault", str(tmp_path / "vault.discreet")]) == 0
    assert capsys.readouterr().out.replace('"replayed": true', '"replayed": false') == over_http


def test_it_listens_on_this_machine_alone_unless_connections_are_safe(tmp_path, capsys):
    Curator(tmp_path / "vault.discreet").close()
    words = ["serve", "--vault", str(tmp_path / "vault.discreet"), "--host", "0.0.0.0", "--port", "0"]
    assert main(words) == 2
    assert "--behind-proxy" in " ".join(capsys.readouterr().err.split())
