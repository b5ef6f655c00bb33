"""Names of analysts: visible in every character, and identified by more than case, blanks or what nobody sees.

Letters of two scripts are not mixed in a name: the Cyrillic a in a Latin name shows as the Latin one. A whole name in
another script may still look like one; whoever grants it reads it.
"""

from __future__ import annotations

import unicodedata

from discreet.core.errors import BadParameter

# Characters that show nothing though Unicode calls them letters, marks or symbols: its Default_Ignorable_Code_Point
# beyond the categories below, and the empty pattern of Braille.
_INVISIBLE = (
    *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
    *range(0x180B, 0x1810),
    *range(0xFE00, 0xFE10),
    *range(0xE0000, 0xE1000),
)
_UNSEEN = frozenset(map(chr, _INVISIBLE))
# Controls, formats, halves of characters, private and unassigned ones.
_OTHER = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_LETTERS = frozenset({"Lu", "Ll", "Lt", "Lo"})
# By the first word of a letter's name in Unicode. Those of East Asia are written together, and with Latin ones.
_EAST = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "YI", "VERTICAL"})


def folded(name: str) -> str:
    """Return what is left of a name without case, kinds of blanks, and what nobody sees."""
    seen = "".join(each for each in unicodedata.normalize("NFKC", name) if not _is_unseen(each))
    return " ".join(unicodedata.normalize("NFKC", seen.casefold()).split())


def check_visible(analyst: str) -> None:
    """Refuse a name with a character that nobody sees, or one that depends on nothing: it would pass for another's."""
    if any(map(_is_unseen, analyst)):
        why = "it has a character that nobody sees, so that it would pass for another name"
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="type the name with visible characters only")
    if unicodedata.category(analyst[0]).startswith("M"):
        why = "it begins with a mark that belongs to the letter before it"
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="begin the name with a letter or a digit")


def check_script(analyst: str) -> None:
    """Refuse a name that mixes letters of scripts which look alike: it would pass for another's."""
    letters = [each for each in unicodedata.normalize("NFKC", analyst) if unicodedata.category(each) in _LETTERS]
    scripts = {unicodedata.name(each, "").partition(" ")[0] for each in letters}
    if len(scripts - _EAST) > 1 or (scripts & _EAST and scripts - _EAST - {"LATIN"}):
        found = " and ".join(sorted(script.capitalize() for script in scripts))
        why = (
            f"it mixes letters of different scripts, {found}, which look alike, so that it would pass for another name"
        )
        raise BadParameter("analyst", ascii(analyst)[1:-1], why=why, fix="type the name in one script")


def _is_unseen(character: str) -> bool:
    return character in _UNSEEN or unicodedata.category(character) in _OTHER
