"""Workers that are killed once they have drawn: whoever asks again gets their answer, in whatever process."""

import json
import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="children are forked and killed")


def ran(*words, seed="0"):
    command = [sys.executable, "-m", "tests.curator.killed", *map(str, words)]
    env = {**os.environ, "PYTHONHASHSEED": seed, "XDG_STATE_HOME": str(words[0] / "state")}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A vault in which every question was paid for and drawn, and none was settled; and what was drawn."""
    folder = tmp_path_factory.mktemp("killed")
    ran(folder, "begin")
    return folder, {file.name: json.loads(file.read_text()) for file in (folder / "drawn").iterdir()}


@pytest.mark.parametrize(("threads", "seed", "cache"), [(1, "7", "cold"), (2, "4711", "warm")])
def test_asking_again_gives_the_answer_of_the_worker_that_died(begun, tmp_path, threads, seed, cache):
    folder, drawn = begun
    for file in [*folder.glob("vault.discreet*"), folder / "state"]:
        shutil.copy(file, tmp_path / file.name) if file.is_file() else shutil.copytree(file, tmp_path / file.name)
    shutil.copy(folder / "token", tmp_path)
    told = json.loads(ran(tmp_path, "again", threads, cache, seed=seed))
    assert len(told) == 14
    assert told == drawn
