"""Names, sizes and hashes of published files, and what a policy may say of them."""

import pytest

from discreet.core.errors import BadParameter
from discreet.ledger.artefacts.artefact import Artefact, ArtefactPolicy, check_ending

GOOD = Artefact("a" * 32 + ".json", 2, "0" * 64, "application/json")


def test_a_file_survives_the_round_trip_as_json_values():
    assert Artefact.from_record(GOOD.record()) == GOOD


@pytest.mark.parametrize(
    "changed",
    [
        {"name": "../../etc/passwd"},
        {"name": "a" * 32 + "/../x"},
        {"name": "a" * 32 + ".json\n"},
        {"name": "." + "a" * 32},
        {"name": "A" * 32},
        {"name": "a" * 31},
        {"name": ""},
        {"size": -1},
        {"size": True},
        {"sha256": "0" * 63},
        {"media": "text"},
        {"media": "text/plain; charset=utf-8"},
    ],
)
def test_a_name_that_leads_out_of_the_folder_or_is_no_vaults_is_refused(changed):
    with pytest.raises(BadParameter, match="no vault gives"):
        Artefact.from_record(GOOD.record() | changed)


@pytest.mark.parametrize("ending", ["json", ".JSON", "/x", ".a/../b", ".a.b.c", ". "])
def test_an_ending_is_small_letters_and_digits(ending):
    with pytest.raises(BadParameter, match="small letters"):
        check_ending(ending, "text/plain")
    check_ending(".tar.gz", "text/plain")


def test_a_policy_names_a_whole_path_and_a_number_of_bytes():
    with pytest.raises(BadParameter, match="same folder"):
        ArtefactPolicy(folder="files")
    for largest in (-1, "1", True):
        with pytest.raises(BadParameter, match="number of bytes"):
            ArtefactPolicy(largest=largest)


def test_a_policy_changes_what_is_named(tmp_path):
    policy = ArtefactPolicy().with_changes({"folder": tmp_path, "largest": 5})
    assert policy == ArtefactPolicy(str(tmp_path), 5)
    assert policy.with_changes({"folder": ""}) == ArtefactPolicy(None, 5)
    assert ArtefactPolicy.from_record(policy.record()) == policy
