"""Registries: a folder is the list of what it holds."""

import sys

import pytest

from discreet.core.errors import UnknownName
from discreet.core.registry import Registry, capwords


@pytest.fixture
def folder(tmp_path, monkeypatch):
    package = tmp_path / "orchard"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "sweet_apple.py").write_text('"""Sweet apple: a fruit.\n\nMore."""\n\n\nclass SweetApple:\n    pass\n')
    (package / "pear.py").write_text("class Pear:\n    pass\n")
    (package / "_ladder.py").write_text("")
    (package / "gate.py").write_text("raise RuntimeError('not an entry')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("fruit", "orchard", apart=frozenset({"gate"}))
    for name in [name for name in sys.modules if name.startswith("orchard")]:
        del sys.modules[name]


def test_it_lists_files_without_importing_them(folder):
    assert list(folder) == ["pear", "sweet_apple"]
    assert "orchard.pear" not in sys.modules


def test_machinery_is_not_listed(folder):
    assert "_ladder" not in folder
    assert "gate" not in folder


def test_of_folders_only_packages_are_entries_and_their_parts_are_imported_when_asked_for(folder, tmp_path):
    for name in ("cellar", "_shed"):
        (tmp_path / "orchard" / name).mkdir()
        (tmp_path / "orchard" / name / "__init__.py").write_text("")
        (tmp_path / "orchard" / name / "barrel.py").write_text("CIDER = 7\n")
    folders = Registry("room", "orchard", folders=True)
    assert list(folders) == ["cellar"]
    assert "orchard.cellar" not in sys.modules
    for _ in range(2):
        assert folders.part("cellar", "barrel").CIDER == 7
    for name in ("pear", "_shed", "celar"):
        with pytest.raises(UnknownName):
            folders.part(name, "barrel")


def test_an_entry_is_the_object_its_name_promises(folder):
    assert folder["sweet_apple"].__name__ == capwords("sweet_apple") == "SweetApple"


def test_a_summary_is_read_without_importing(folder):
    assert folder.summary("sweet_apple") == "Sweet apple: a fruit."
    assert folder.summary("pear") == ""
    assert "orchard.sweet_apple" not in sys.modules


def test_an_unknown_name_is_refused_with_the_nearest(folder):
    with pytest.raises(UnknownName) as refused:
        folder["paer"]
    assert refused.value.near == ("pear",)
    with pytest.raises(UnknownName):
        folder.summary("gate")
