"""A vault in PostgreSQL, from the custodian's first line to an answer: the same words as for a file."""

import stat

import pytest

import discreet as dp
from discreet.core.unit import person
from discreet.curator.connect import connect
from discreet.curator.curator import Curator
from discreet.engines.source import SourceMissing
from discreet.ledger import NotAVault
from tests.curator.questions import COLUMNS, PLENTY, ROWS
from tests.ledger.stores import POSTGRES, homes, new_url

pytestmark = POSTGRES


@pytest.fixture
def url(tmp_path, monkeypatch):
    for name, value in homes(tmp_path).items():
        monkeypatch.setenv(name, value)
    return new_url()


@pytest.fixture
def curator(url):
    with Curator(url) as made:
        yield made


def register(curator, **unit):
    return curator.register("visits", ROWS, unit=person("id", max_rows=3, **unit), columns=COLUMNS, budget=PLENTY)


def asked(session):
    return session.table("visits").group_by("ward").agg(n=dp.count()).release(epsilon=1)


def test_the_same_lines_work_with_a_url(curator, url):
    register(curator)
    token = curator.grant("alice", "visits")
    with connect(url, token) as session:
        first, again = asked(session), asked(session)
        assert first.receipt["sequence"] == again.receipt["sequence"]
        assert again.receipt["replayed"]
    assert curator.verify().entries == curator.ledger.head[0]
    with Curator(url, create=False) as other:
        assert other.tables() == ["visits"]


def test_copies_lie_in_a_private_folder_of_this_machine(curator):
    register(curator, bound="table")
    folder = curator.ledger.folder
    assert folder.name == curator.ledger.vault_id
    asked(curator.session(curator.grant("alice", "visits")))
    assert sorted(file.name.partition(".")[2] for file in folder.iterdir()) == ["kept.parquet", "parquet"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o600}


def test_a_copy_stays_on_the_machine_that_registered_it(curator, url, tmp_path, monkeypatch):
    register(curator)
    spent = curator.ledger.spent("visits")
    for name, value in homes(tmp_path / "elsewhere").items():
        monkeypatch.setenv(name, value)
    with Curator(url) as other, pytest.raises(SourceMissing, match="of the machine that registered it"):
        asked(other.session(other.grant("alice", "visits")))
    assert curator.ledger.spent("visits") == spent


def test_a_vault_that_is_not_there_is_refused_and_no_password_is_shown(url):
    secret = url.replace("postgres@", "postgres:hunter2@")
    with pytest.raises(NotAVault, match="there is none") as refused:
        Curator(secret, create=False)
    assert "hunter2" not in str(refused.value) + repr(refused.value.value)
    with Curator(secret) as curator:
        assert "hunter2" not in repr(curator) + str(curator.path)
        assert curator.path == url


def test_the_anchor_may_be_kept_elsewhere(url, tmp_path):
    with Curator(url, anchor=tmp_path / "mine") as curator:
        assert curator.verify().anchor == 1
    assert (tmp_path / "mine").exists()
