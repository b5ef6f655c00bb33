"""Texts from elsewhere: shown, never obeyed."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.printable import json_printable, markup, printable, spreadsheet_cell

HOSTILE = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202egnp.exe \u200b\r\n\x7f\U000e0041"


@given(st.text())
def test_nothing_that_steers_is_left(text):
    shown = printable(text)
    assert not any(unicodedata.category(each) in ("Cc", "Cs") for each in shown)
    assert not {*"\u202a\u202e\u2066\u2069\u200b\u200e\u2028\ufeff"} & {*shown}


def test_escapes_say_what_was_there():
    assert printable("a\x1b[31m\u202eb\nc") == "a\\x1b[31m\\u202eb\\nc"
    assert printable("a\nb", lines=True) == "a\nb"
    assert printable("Zürich 東京 🙂") == "Zürich 東京 🙂"


def test_markup_is_shown_too():
    assert markup("<b>\x1b</b>") == "&lt;b&gt;\\x1b&lt;/b&gt;"


@given(st.text())
def test_json_means_the_same(text):
    written = json_printable(json.dumps({"key": text}, ensure_ascii=False))
    assert json.loads(written) == {"key": text}
    assert json_printable(written) == written


@pytest.mark.parametrize("text", ["=1+1", "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM", "\t=1", "\r=1", "-"])
def test_a_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text):
    assert spreadsheet_cell(text) == "'" + text


@pytest.mark.parametrize("sign", ["\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_sign_of_full_width_gets_an_apostrophe_too(sign):
    for text in (sign, f"{sign}1", f"{sign}SUM(A1)"):
        assert spreadsheet_cell(text) == "'" + text


def test_letters_of_the_tag_block_which_nobody_sees_are_written_out():
    for code in range(0xE0000, 0xE0080):
        assert printable(f"a{chr(code)}b") == f"a\\U{code:08x}b"
        assert chr(code) not in markup(chr(code))
        assert chr(code) not in json_printable(json.dumps(chr(code), ensure_ascii=False))


@pytest.mark.parametrize("value", ["plain", "a=b", "", "-5", "+41", "-1.5e3", -5, 1.5, None, True])
def test_other_cells_stay(value):
    assert spreadsheet_cell(value) is value
