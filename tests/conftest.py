"""What every test may ask for."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.resume import Resume, fingerprint
from tests.seconds import Clock

# A busy machine is no failure; how long an example takes is for the benches to say.
settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("house")

ROOT = Path(__file__).parents[1]

# Tests that share something slow to start go to one worker. The marks of pytest-xdist say the same of them, but are
# lost on their way to its scheduler with the pytest of today.
SHARED = re.compile(r"engines/spark/|test_spark|in_spark|test_moving|\[spark\b")


def pytest_addoption(parser):
    parser.addoption("--resume", metavar="FILE", help="leave out the tests that passed before, as FILE remembers")


def pytest_configure(config):
    config.pluginmanager.register(Clock(config))
    if config.getoption("--resume"):
        config.pluginmanager.register(Resume(Path(config.getoption("--resume")), fingerprint()))


def pytest_collection_modifyitems(items):
    """Refuse tests that are named by an address in memory: every worker would have other names."""
    if found := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"these tests have another name in every process: {', '.join(found)}")
    for item in items:
        if item.get_closest_marker("slow") or item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Deal tests out one by one, but those around Spark to one worker: a Java process takes long to warm up."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "spark" if SHARED.search(nodeid) else nodeid

    return Together(config, log)


@pytest.fixture(scope="session", autouse=True)
def apart(tmp_path_factory):
    """Folders of state and of data for the tests alone: none finds, or leaves, anchors and keys of this machine."""
    patch = pytest.MonkeyPatch()
    for name in ("STATE", "DATA"):
        patch.setenv(f"XDG_{name}_HOME", str(tmp_path_factory.mktemp(name.lower())))
    yield
    patch.undo()


@pytest.fixture(scope="session")
def data_folder():
    """The folder of real data, or a skip that says where it was sought."""
    folder = Path(os.environ.get("DISCREET_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip("no real data here: set DISCREET_DATA to its folder")
    return folder
