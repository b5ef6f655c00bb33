"""discreet mcp: a session as tools for agents, over the Model Context Protocol on standard input and output."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.question_options import session_of
from discreet.cli.shared.vault_options import vault_option

_EXAMPLE = """\b
discreet grant agent visits --epsilon 0.5
discreet mcp --vault vault.discreet --token TOKEN
"""


@click.command(epilog=_EXAMPLE)
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Whose tables and budget the agent has.")
@vault_option
def command(vault: Path, token: str | None) -> None:
    """Let an agent list and describe tables, preview for free, and ask within the budget of its own grant.

    Give each agent a grant of its own: its cap is in the ledger, and holds whatever the agent is told. There is no tool
    for fresh noise. Configure this command as a server in the agent's program.
    """
    from discreet.serve.agents import agent_server

    with session_of(vault, token) as session:
        agent_server(session).run("stdio")
