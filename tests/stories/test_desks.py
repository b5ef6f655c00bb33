"""Stories run through both desks, or say why they do not."""

import re
from pathlib import Path

from tests.stories.desks import ALONE

FOLDER = Path(__file__).parent


def served(path):
    """Whether a story, or the world it is set in, asks a server as well."""
    texts = [each.read_text(encoding="utf-8") for each in (path, path.with_name("world.py")) if each.exists()]
    return any(re.search(r"with (remote|command)\(|\.enter_context\(remote\(", text) for text in texts)


def test_every_story_runs_through_both_desks_or_is_listed_with_why_it_does_not():
    stories = {path.stem: path for path in FOLDER.rglob("test_*.py") if path != Path(__file__)}
    assert len(stories) > len(ALONE)
    assert {name for name, path in stories.items() if not served(path)} == set(ALONE)
