"""discreet mcp: what it needs before a word of the protocol is spoken."""

from discreet.cli.main import main


def test_it_needs_a_token_and_a_vault(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    assert main(["mcp", "--vault", str(tmp_path / "vault.discreet")]) == 2
    assert main(["mcp", "--vault", str(tmp_path / "no.discreet"), "--token", "x"]) == 5
    assert capsys.readouterr().out == ""
