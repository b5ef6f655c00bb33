"""discreet serve: a vault on the network, for people and programs with tokens."""

from __future__ import annotations

from pathlib import Path

import click

from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import vault_option

_EXAMPLE = """\b
discreet serve --vault vault.discreet
discreet serve --host 0.0.0.0 --tls-certificate server.crt --tls-key server.key --workers 4
discreet ask "SELECT COUNT(*) FROM visits" --epsilon 0.1 --vault http://127.0.0.1:8080
"""


@click.command(epilog=_EXAMPLE)
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True, help="The port; 0 picks one.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes that share the vault.")
@click.option("--tls-certificate", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="A PEM file.")
@click.option("--tls-key", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="The key of it.")
@click.option("--behind-proxy", is_flag=True, help="A proxy with TLS is in front: listen in the clear off loopback.")
@click.option("--rate", type=float, default=50.0, show_default=True, help="Requests a second, for each token.")
@click.option("--burst", type=int, default=100, show_default=True, help="Requests at once before --rate holds.")
@click.option(
    "--concurrent", type=int, default=8, show_default=True, help="Requests worked on at once, for each token."
)
@click.option("--engines", type=int, default=4, show_default=True, help="Questions worked on at once, in each process.")
@click.option(
    "--memory",
    type=int,
    default=4096,
    show_default=True,
    help="Megabytes for the engines of all processes together; what needs more is written to disk meanwhile.",
)
@click.option(
    "--root",
    "roots",
    type=click.Path(exists=True, file_okay=False),
    multiple=True,
    help="A folder from which custodians may register files over HTTP. Repeatable.",
)
@click.option("--log", type=click.Path(dir_okay=False), help="Write a line for each request, without its values.")
@click.option("--openid", type=click.Path(exists=True, dir_okay=False), help="Issuer, audience and groups, as TOML.")
@click.option("--anchor", type=click.Path(), help="Where the signed head of a vault in PostgreSQL is kept.")
@vault_option
@click.pass_obj
def command(
    output: Output,
    vault: Path | str,
    host: str,
    port: int,
    workers: int,
    tls_certificate: Path | None,
    tls_key: Path | None,
    behind_proxy: bool,
    rate: float,
    burst: int,
    concurrent: int,
    engines: int,
    memory: int,
    roots: tuple[str, ...],
    log: str | None,
    openid: str | None,
    anchor: str | None,
) -> None:
    """Serve a vault over HTTP until interrupted: the API of docs/serve.md, which sessions and this command speak too.

    It listens on this machine alone unless told otherwise, and elsewhere only with TLS, or behind a proxy that has it.
    """
    from discreet.serve.api.server import Transport, run
    from discreet.serve.api.settings import ServeSettings, check_place
    from discreet.serve.collector import listen

    transport = Transport(tls_certificate, tls_key)
    check_place(host, tls=transport.is_tls, behind_proxy=behind_proxy)
    place = str(vault) if isinstance(vault, str) else str(vault.resolve())
    settings = ServeSettings(
        place, anchor, rate, burst, concurrent, engines, workers, memory, roots=roots, log=log, openid=openid
    )
    with listen(host, port) as listener:
        scheme = "https" if transport.is_tls else "http"
        url = f"{scheme}://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        lines = [f"Serving {vault} on {url}; Ctrl-C ends it.", f"Analysts connect with their tokens: --vault {url}"]
        result = {"url": url, "vault": str(vault), "workers": workers}
        run(settings, listener, transport, ready=lambda: output.plain(result, lines))
