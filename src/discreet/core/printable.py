"""Texts from elsewhere, made safe to show: no character of them steers a terminal, a page or a spreadsheet."""

from __future__ import annotations

import re
from html import escape

# What a terminal obeys (C0 except for the line's end, DEL, C1), and what reorders or hides text: marks and overrides of
# direction, characters of no width, separators of lines, and halves of pairs.
_STEERING = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
    "|[\U000e0000-\U000e007f]"
)
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?%?")
_RUN = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def printable(text: str, *, lines: bool = False) -> str:
    r"""Write characters that steer a terminal or reorder text as escapes, such as \x1b; ends of lines too, unless kept.

    Guarantee: what is returned holds no control character, no mark of direction and no character of no width.
    """
    shown = _STEERING.sub(_escape, text)
    return shown if lines else shown.replace("\n", "\\n")


def markup(text: str) -> str:
    """Return a text for HTML: markup in it is shown, and so is what steers."""
    return escape(printable(text, lines=True))


def json_printable(text: str) -> str:
    """Write such characters in a JSON text as its own escapes, which mean the same."""
    return _STEERING.sub(lambda found: "".join(f"\\u{each:04x}" for each in _halves(found[0])), text)


def spreadsheet_cell(value: object) -> object:
    """Return a cell of a CSV file: a text that a spreadsheet would run as a formula gets an apostrophe in front.

    Numbers stay numbers, and so do texts that are one, such as -5.
    """
    if isinstance(value, str) and value.startswith(_RUN) and not _NUMBER.fullmatch(value):
        return "'" + value
    return value


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _halves(letter: str) -> list[int]:
    code = ord(letter)
    if code < 0x10000:
        return [code]
    return [0xD800 + (code - 0x10000 >> 10), 0xDC00 + (code - 0x10000 & 0x3FF)]
