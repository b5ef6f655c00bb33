"""discreet completion: print the script that teaches a shell to complete `discreet`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from discreet.cli.shared.output import Output

_INSTALL = {
    "bash": 'eval "$(discreet completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(discreet completion zsh)"  # in ~/.zshrc',
    "fish": "discreet completion fish > ~/.config/fish/completions/discreet.fish",
}


@click.command(epilog="\b\n" + "\n".join(_INSTALL.values()))
@click.argument("shell", type=click.Choice(list(_INSTALL)))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL."""
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "discreet", "_DISCREET_COMPLETE").source()
    context.ensure_object(Output).plain({"shell": shell, "script": script, "install": _INSTALL[shell]}, [script])
