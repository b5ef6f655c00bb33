"""discreet certificate: a signed statement of what a release was and what it cost, and its check by anyone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.shared.files import NEW_FILE, write_text
from discreet.cli.shared.output import Output
from discreet.cli.shared.vault_options import PLACE, opened, vault_option
from discreet.core.errors import BadParameter

if TYPE_CHECKING:
    from discreet.ledger.integrity.certificate import Certificate

_EXAMPLE = """\b
discreet certificate make 17 --out release-17.certificate.json
discreet certificate check release-17.certificate.json --key 8f3a...
"""


@click.group(epilog=_EXAMPLE)
def command() -> None:
    """Signed certificates of releases: make one, check one."""


@command.command()
@click.argument("entry", type=int, required=False)
@click.option("--answer", type=click.Path(path_type=Path, exists=True), help="The answer, as ask --save wrote it.")
@click.option("--token", envvar="DISCREET_TOKEN", show_envvar=True, help="Ask as the analyst who has this answer.")
@click.option("--out", type=NEW_FILE, help="Where to write it; by default it is printed.")
@vault_option
@click.pass_obj
def make(
    output: Output, entry: int | None, answer: Path | None, token: str | None, out: Path | None, vault: Path | str
) -> None:
    """Certify the release that ENTRY of the ledger, the number in its receipt, was charged for.

    The certificate says what was computed, for whom, and what it cost by several accountants; nothing in it is computed
    from a record. The same release has the same certificate, byte for byte.
    """
    if (entry is None) == (answer is None):
        why, fix = "a certificate is about one release", "give the number of its entry, or --answer FILE"
        raise BadParameter("entry", entry, why=why, fix=fix)
    with opened(vault) as curator:
        if answer is not None:
            receipt = _receipt(answer)
            number = int(receipt["sequence"])
            made = curator.certificate(number) if token is None else curator.session(token).certificate(receipt)
        elif token is not None:
            why, fix = "an analyst shows the receipt of an answer", "give --answer FILE, or leave --token out"
            raise BadParameter("entry", entry, why=why, fix=fix)
        else:
            assert entry is not None
            made = curator.certificate(entry)
    text = made.to_json()
    if out is not None:
        write_text(out, text)
    lines = [f"The certificate is in {out}.", *_lines(made)] if out is not None else [text.rstrip("\n")]
    output.plain({"certificate": dict(made.claims), "signature": made.signature, "out": out and str(out)}, lines)


@command.command()
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--key", "keys", multiple=True, metavar="HEX", help="A public key of the vault, from its custodian.")
@click.option("--vault", type=PLACE, help="Or the vault itself: its key, its identifier and its chain are compared.")
@click.pass_obj
def check(output: Output, file: Path, keys: tuple[str, ...], vault: Path | str | None) -> None:
    """Check that FILE is a certificate, signed by the vault's key, and unchanged in every byte.

    It needs no network and, with --key, no vault. A certificate that was changed, or is another vault's, ends the
    command with exit code 5.
    """
    from discreet.ledger.integrity.certificate import checked, public_key_of

    text = _text(file)
    if not keys and vault is None:
        why = "anyone can sign a certificate with a key of their own"
        fix = "give --key with the public key that the custodian published, as discreet verify prints it"
        raise BadParameter("key", None, why=why, fix=fix)
    found = None
    if keys:
        found = checked(text, [public_key_of(each) for each in keys])
    if vault is not None:
        with opened(vault) as curator:
            found = curator.ledger.check_certificate(text)
    assert found is not None
    chained = vault is not None
    said = "It is signed by that key, unchanged" + (", and its entries are on the vault's chain." if chained else ".")
    output.plain({"certificate": dict(found.claims), "signed": True, "chain": chained}, [said, *_lines(found)])


def _lines(certificate: Certificate) -> Iterator[str]:
    """Say what a certificate claims, a line each."""
    claims: Any = certificate.claims
    yield f"  what: {claims['question']['words']}"
    yield f"  protects: {claims['protects'] or 'see the question'}"
    for account, paid in claims["accounts"].items():
        for each in paid["figures"]:
            by = ", ".join(f"{name} {_figure(figure)}" for name, figure in each["accountants"].items())
            delta = float(Fraction(each["delta"]))
            yield f"  {account}: epsilon {_figure(each['epsilon'])} at delta {delta:g} ({by}), {paid['relation']}"
    for each in claims["invariants"]:
        yield f"  published exactly: {each}"
    for each in claims["assumptions"]:
        yield f"  assumes, {each['name']}: {each['words']}"
    yield f"  entry {claims['entry']['sequence']} of {claims['entry']['at']}, Discreet {claims['code'] or 'unknown'}"
    yield f"  vault {claims['vault']}, public key:"
    yield claims["public_key"]


def _figure(epsilon: float | None) -> str:
    return "none" if epsilon is None else f"{epsilon:.6g}"


def _receipt(answer: Path) -> dict[str, Any]:
    from discreet.answers.answer import Answer

    receipt = Answer.from_json(_text(answer)).receipt
    if receipt is None:
        why, fix = "the answer has no receipt", "use a file that discreet ask --save wrote"
        raise BadParameter("answer", str(answer), why=why, fix=fix)
    return dict(receipt)


def _text(file: Path) -> str:
    """Read a file as it is: ends of lines are part of what was signed."""
    try:
        return file.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        why, fix = "it cannot be read as UTF-8 text", "give the file as it was written"
        raise BadParameter("file", str(file), why=why, fix=fix) from None
