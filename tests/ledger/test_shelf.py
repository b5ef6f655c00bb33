"""Published files of a vault: settled with the answer, replayed from the file, refused when lost or changed."""

import subprocess
import sys

import pytest

from discreet.core.errors import UnknownName
from discreet.ledger import LeaseLost, Ledger, QuestionFailed, Tampered, Unavailable
from discreet.ledger.artefacts.artefact import KIND, NAME, ArtefactPolicy
from discreet.ledger.artefacts.settlement import Filed
from tests.ledger.helpers import charge, kinds

EVERY_STORE = True
LONG = "41" * 10_000


def never(_draws):
    raise AssertionError("nothing is worked on")


def put(ledger, **changes):
    ledger.put(KIND, NAME, ArtefactPolicy(**changes).record())


def filed(ledger, content=b"a table", text="41"):
    """Work that publishes a file with its answer."""

    def work(_):
        with ledger.artefacts.draft("text/csv", ".csv") as draft:
            draft.file.write(content)
            return Filed(text, (draft,))

    return work


def the_file(ledger):
    (body,) = [entry.record() for entry in ledger.entries() if entry.kind == "settle"]
    return body["artefacts"][0]


def test_a_file_is_settled_as_name_size_and_hash_and_its_answer_is_replayed(ledger):
    assert ledger.run(charge(), filed(ledger))[0] == "41"
    file = the_file(ledger)
    found, entry = ledger.artefact(file["name"])
    assert (found.record(), entry.kind, found.size) == (file, "charge", 7)
    assert (ledger.artefacts.path / found.name).read_bytes() == b"a table"
    assert ledger.run(charge(), never)[0] == "41"
    checked = ledger.verify()
    assert (checked.files, checked.missing, checked.orphans) == (1, (), ())


def test_a_long_answer_is_a_file_and_a_replay_is_that_file(ledger):
    put(ledger, largest=15_000)
    assert ledger.run(charge(), lambda _: LONG)[0] == LONG
    file = the_file(ledger)
    assert file["sha256"] == [*ledger.entries()][-1].record()["answer"]
    assert ledger.run(charge(), never)[0] == LONG
    assert ledger.answered(charge().key)
    assert ledger.verify().files == 1


def test_a_lost_or_changed_file_is_refused_and_never_made_again(ledger):
    put(ledger, largest=15_000)
    ledger.run(charge(), lambda _: LONG)
    place = ledger.artefacts.path / the_file(ledger)["name"]
    before, entries = ledger.spent("people"), kinds(ledger)
    place.write_bytes(b"42" * 10_000)
    for asked in (lambda: ledger.run(charge(), never), lambda: ledger.answer(charge().key), ledger.verify):
        with pytest.raises(Tampered, match="not what was settled"):
            asked()
    place.unlink()
    with pytest.raises(Unavailable, match="not there"):
        ledger.run(charge(), never)
    assert ledger.verify().missing == (place.name,)
    assert (ledger.spent("people"), kinds(ledger)) == (before, entries)
    place.write_bytes(LONG.encode())
    assert ledger.run(charge(), never)[0] == LONG


def test_a_folder_that_the_policy_names_is_used(ledger, tmp_path):
    put(ledger, folder=str(tmp_path / "elsewhere"), largest=15_000)
    ledger.run(charge(), lambda _: LONG)
    assert [file.name for file in (tmp_path / "elsewhere").iterdir()] == [the_file(ledger)["name"]]
    assert ledger.run(charge(), never)[0] == LONG


def test_work_that_fails_leaves_no_file(ledger):
    def fails(draws):
        filed(ledger)(draws)
        with ledger.artefacts.draft() as draft:
            draft.file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(QuestionFailed):
        ledger.run(charge(), fails)
    assert ledger.verify().files == 0
    assert [*ledger.artefacts.path.iterdir()] == []


def test_the_file_of_a_late_answer_is_removed(ledger, clock):
    receipt = ledger.charge(charge())
    late = ledger.lease(receipt)
    clock.move(hours=2)
    ledger.lease(receipt)
    with pytest.raises(LeaseLost):
        ledger.settle(receipt, late, filed(ledger)(None))
    assert [*ledger.artefacts.path.iterdir()] == []


def test_a_full_disk_leaves_the_question_to_be_asked_again_at_no_new_charge(ledger, monkeypatch):
    put(ledger, largest=15_000)
    drawn = []

    def work(draws):
        with draws.at("x"):
            from discreet import noise

            drawn.append(noise.laplace(10**12))
        return LONG

    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.artefacts.draft.flushed", full)
        with pytest.raises(Unavailable, match="No space left"):
            ledger.run(charge(), work)
    before = ledger.spent("people")
    assert ledger.run(charge(), work)[0] == LONG
    assert ledger.spent("people") == before
    assert drawn[0] == drawn[1]
    assert ledger.verify().orphans == ()


def test_an_unknown_file_is_refused_and_an_orphan_is_none(ledger):
    with ledger.artefacts.draft() as draft:
        name = draft.finish().name
        draft.release()
    with pytest.raises(UnknownName):
        ledger.artefact(name)
    assert ledger.verify().orphans == (name,)
    assert ledger.remove_orphans() == (name,)


def test_a_file_that_is_settled_while_orphans_are_looked_for_stays(ledger):
    ledger.run(charge(), filed(ledger))
    assert ledger.remove_orphans() == ()
    assert ledger.verify().missing == ()


def test_a_frozen_vault_removes_nothing(ledger):
    ledger.frozen = "it ends too early"
    with pytest.raises(Unavailable, match="frozen"):
        ledger.remove_orphans()


MEMORY = """
import resource, sys
from discreet.ledger import Ledger
from discreet.ledger.artefacts.settlement import Filed
from tests.ledger.helpers import charge, epsilon
place, copy, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
piece = bytes(range(256)) * 4096
with Ledger.create(place) as ledger:
    ledger.add_account("people", epsilon(1))
    ledger.run(charge("small"), lambda _: "41")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def work(_):
        with ledger.artefacts.draft("application/octet-stream", ".bin") as draft:
            for _ in range(size):
                draft.file.write(piece)
            return Filed("41", (draft,))

    ledger.run(charge(), work)
    (file,) = [entry.record() for entry in ledger.entries() if entry.kind == "settle"][-1]["artefacts"]
    assert file["size"] == size << 20
    ledger.artefacts.copy(ledger.artefact(file["name"])[0], copy)
    assert ledger.verify().files == 1
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def grown(folder, megabytes):
    """By how many kilobytes the memory grows for a file of so many megabytes."""
    words = [sys.executable, "-c", MEMORY, str(folder / "big.discreet"), str(folder / "copy.bin"), str(megabytes)]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert (folder / "copy.bin").stat().st_size == megabytes << 20
    return int(ran.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in kilobytes")
@pytest.mark.parametrize("megabytes", [48, pytest.param(1024, marks=pytest.mark.soak)])
def test_a_large_file_is_settled_replayed_and_verified_in_constant_memory(store, tmp_path, path, megabytes):
    if store != "sqlite":
        pytest.skip("files lie beside the machine, whatever the store")
    assert grown(tmp_path, megabytes) < 24_000


def test_a_vault_opened_anew_replays_the_file(ledger, path):
    put(ledger, largest=15_000)
    ledger.run(charge(), lambda _: LONG)
    with Ledger.open(path) as again:
        assert again.run(charge(), never)[0] == LONG
