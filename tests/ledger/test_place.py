"""Places: paths and URLs told apart, passwords never shown, and where a machine keeps what lies beside a vault."""

import sys
from pathlib import Path
from traceback import format_exception

import pytest

from discreet.core.errors import BadParameter, MissingExtra
from discreet.ledger import Ledger, Tampered
from discreet.ledger.place import FilePlace, ServerPlace, is_url, place_of, psycopg

SHOWN = [
    "postgresql://ann:hunter2@example.org/db",
    "postgres://ann:hunter2@example.org:5433/db?schema=wards&sslmode=require",
    "postgresql://ann@example.org/db?password=hunter2",
    "postgresql://ann@example.org/db?p%61ssword=hunter2",
    "postgresql://ann@example.org/db?sslpassword=hunter2&sslmode=verify-full",
    "postgresql://ann:hunter2%40x%2Fy@example.org,other.org/db",
    "postgresql:///db?user=ann&password=hunter2&host=/run/sockets&options=-c%20x%3Dhunter2",
]
REFUSED = [
    "postgresql://ann:hunter2@example.org/db?no_such_word=1",
    "postgresql://ann:hunter2@example.org:port/db/more?%zz",
    "postgresql://ann:hunter2@example.org/db?schema=",
    "postgresql://ann:hunter2@example.org/db?schema=public",
]


@pytest.mark.parametrize("url", SHOWN)
def test_a_password_is_not_shown_wherever_it_stands(url):
    place = place_of(url)
    assert "hunter2" not in str(place) + repr(place)
    assert "ann@example.org" in str(place) or "host=/run/sockets" in str(place)


@pytest.mark.parametrize("url", REFUSED)
def test_a_url_that_is_refused_is_not_repeated(url):
    with pytest.raises(BadParameter) as refused:
        place_of(url)
    said = "".join(format_exception(refused.value)) + repr(refused.value.value)
    assert "vault='postgresql://...'" in said
    assert "hunter2" not in said


def test_an_unreachable_server_is_refused_without_its_password(tmp_path):
    url = f"postgresql://ann:hunter2@/db?host={tmp_path}"
    with pytest.raises(Exception, match="no connection can be made") as refused:
        Ledger.open(url)
    assert "hunter2" not in str(refused.value) + repr(refused.value.value)
    assert refused.value.__suppress_context__


def test_what_is_shown_opens_the_same_place():
    url = "postgresql://ann%40x@example.org:5433/my%2Fdb?sslmode=require&schema=wards"
    place = place_of(url)
    assert isinstance(place, ServerPlace)
    assert place.schema == "wards"
    again = place_of(str(place))
    assert (again.schema, psycopg().conninfo.conninfo_to_dict(again.url)) == (
        "wards",
        psycopg().conninfo.conninfo_to_dict(place.url),
    )
    assert place_of("postgresql:///db").schema == "discreet"


def test_paths_and_urls_are_told_apart():
    assert place_of("vault.discreet") == FilePlace(Path("vault.discreet").absolute())
    assert [is_url(text) for text in ("postgres://h/d", "POSTGRESQL://h/d", "postgresql.discreet", Path("a"))] == [
        True,
        True,
        False,
        False,
    ]
    with pytest.raises(BadParameter, match="pass the URL as a text"):
        place_of(Path("postgresql://ann@example.org/db"))


def test_anchors_and_copies_lie_in_the_users_folders(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", "relative/paths/are/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "ann"))
    place, vault = place_of("postgresql:///db"), "0" * 32
    assert place.anchor(vault) == tmp_path / "discreet" / f"{vault}.anchor"
    assert place.folder(vault) == Path.home() / ".local" / "share" / "discreet" / vault
    with pytest.raises(Tampered, match="no ledger makes one like it"):
        place.folder("../../elsewhere")


def test_without_its_driver_the_line_that_installs_it_is_said(monkeypatch):
    psycopg.cache_clear()
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r"pip install 'discreet\[postgres\]'"):
        Ledger.open("postgresql:///db")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_vault_opened_by_a_link_finds_what_lies_beside_the_file_itself(tmp_path):
    folder = tmp_path / "real"
    folder.mkdir()
    link = tmp_path / "link.discreet"
    with Ledger.create(folder / "vault.discreet") as ledger:
        ledger.put("note", "one", {})
        head = ledger.head
    link.symlink_to(folder / "vault.discreet")
    assert place_of(link) == place_of(folder / "vault.discreet")
    with Ledger.open(link) as again:
        assert again.head == head
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("link")] == ["link.discreet"]
