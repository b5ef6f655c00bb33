"""An artefact: a published file, known by its name, its size and the SHA-256 of what is in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.value import dataclass

KIND, NAME = "artefacts", "vault"

# The names that a ledger gives: letters that every file system takes, and no way out of the folder.
_NAME = re.compile(r"[0-9a-f]{32}(\.[0-9a-z]{1,12}){0,2}")
_ENDING = re.compile(r"(\.[0-9a-z]{1,12}){0,2}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_MEDIA = re.compile(r"[a-z]+/[0-9a-z.+-]{1,100}")
_FIELDS = ("name", "size", "sha256", "media")


@dataclass(frozen=True, slots=True)
class Artefact:
    """A file that was settled with an answer: a name in the vault's folder, and what has to be found there.

    Guarantee: the hash is that of what is published, and the name is random, so that neither tells more than the file.
    """

    name: str
    size: int
    sha256: str
    media: str

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_record(cls, record: object) -> Artefact:
        """Read what `record` returned."""
        found = cls(**records.fields("artefact", record, _FIELDS))
        if not found.is_sound:
            why = "it has a name, a size, a hash or a type that no vault gives to a file"
            raise BadParameter("artefact", str(found.name), why=why, fix="pass what the vault told, unchanged")
        return found

    @property
    def is_sound(self) -> bool:
        """Whether its fields are such as a ledger writes; a name that is not may lead out of the folder."""
        return is_name(self.name) and type(self.size) is int and self.size >= 0 and _fits(self.sha256, self.media)


def is_name(name: object) -> bool:
    """Whether a ledger gives such names to files."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def check_ending(ending: str, media: str) -> None:
    """Refuse an ending or a type of content that a file of a vault cannot have."""
    if not isinstance(ending, str) or _ENDING.fullmatch(ending) is None:
        why = "a file's ending is made of small letters and digits"
        raise BadParameter("ending", ending, why=why, fix='write ".parquet"')
    if not isinstance(media, str) or _MEDIA.fullmatch(media) is None:
        raise BadParameter("media", media, why="it is no type of content", fix='write "application/json"')


def _fits(digest: object, media: object) -> bool:
    texts = isinstance(digest, str) and isinstance(media, str)
    return texts and bool(_DIGEST.fullmatch(str(digest)) and _MEDIA.fullmatch(str(media)))


@dataclass(frozen=True, slots=True)
class ArtefactPolicy:
    """Where a vault keeps published files, and how long an answer may be that stays in the ledger.

    `folder` is a whole path; without it the files lie beside the vault, or in the user's data folder for a vault in
    PostgreSQL. Answers of more than `largest` bytes are files.
    """

    folder: str | None = None
    largest: int = 1_000_000

    FIELDS: ClassVar[tuple[str, ...]] = ("folder", "largest")

    def __post_init__(self) -> None:
        if self.folder is not None and (not isinstance(self.folder, str) or not Path(self.folder).is_absolute()):
            why = "every process has to find the same folder, wherever it runs"
            raise BadParameter("folder", self.folder, why=why, fix="give a whole path, such as /srv/visits.files")
        if type(self.largest) is not int or self.largest < 0:
            why = "it is a number of bytes"
            raise BadParameter("largest", self.largest, why=why, fix="use a number such as 1_000_000")

    def record(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return {name: getattr(self, name) for name in self.FIELDS}

    @classmethod
    def from_record(cls, record: object) -> ArtefactPolicy:
        """Read what `record` returned."""
        return cls(**records.fields(KIND, record, cls.FIELDS))

    def with_changes(self, changes: Mapping[str, Any]) -> ArtefactPolicy:
        """Return the policy with what is given changed; None leaves a field as it is, "" is the usual folder."""
        folder, largest = changes.get("folder"), changes.get("largest")
        kept = self.folder if folder is None else str(folder) or None
        return ArtefactPolicy(kept, self.largest if largest is None else largest)
