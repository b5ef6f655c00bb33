"""Settlements: what work returns to be settled: a text, files with it, or a text that is itself a file."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.artefacts.draft import ArtefactDraft, unwritten
from discreet.ledger.artefacts.folder import ArtefactFolder

_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Filed:
    """An answer with files: its text, drafts that were written for it, and whether the text is a file of its own."""

    text: str
    drafts: tuple[ArtefactDraft, ...] = ()
    alone: bool = False


Answered = str | Filed


@dataclass(frozen=True, slots=True)
class Settlement:
    """What is to be settled: the text, None where it is a file; the SHA-256 of the text; and all files."""

    text: str | None
    digest: str
    artefacts: tuple[Artefact, ...] = ()
    drafts: tuple[ArtefactDraft, ...] = ()

    def release(self) -> None:
        """Let go of the files: they are settled, or it is not known whether they are."""
        for draft in self.drafts:
            draft.release()

    def discard(self) -> None:
        """Remove the files: they are not settled."""
        for draft in self.drafts:
            draft.discard()


def check_answer(answer: object) -> Filed:
    """Return an answer as it is stored; what cannot be stored is refused while the debit waits for something better."""
    filed = Filed(answer) if isinstance(answer, str) else answer
    if not isinstance(filed, Filed) or not isinstance(filed.text, str):
        why, fix = "an answer is stored as text", "return the answer's JSON"
        raise BadParameter("answer", type(answer).__name__, why=why, fix=fix)
    try:
        filed.text.encode()
    except UnicodeEncodeError:
        why, fix = "it is no valid text", "write characters outside Unicode as escapes"
        raise BadParameter("answer", "<text>", why=why, fix=fix) from None
    return filed


def written(answer: Answered, folder: Callable[[], tuple[ArtefactFolder, int]]) -> Settlement:
    """Write what belongs into files, flushed and named, and return what is to be settled.

    `folder` says where files lie, and how many bytes an answer may have that does not become one.
    """
    filed = check_answer(answer)
    content, drafts = filed.text.encode(), [*filed.drafts]
    digest = sha256(content).hexdigest()
    # Where that is, and what it may have, is asked only of answers that may be long.
    place, largest = folder() if filed.alone or len(content) > _SHORT else (None, len(content))
    is_file = place is not None and (filed.alone or len(content) > largest)
    try:
        if is_file:
            assert place is not None
            with place.draft(_JSON, ".json") as draft:
                drafts.append(draft)
                draft.file.write(content)
        artefacts = tuple(draft.finish() for draft in drafts)
    except BaseException as error:
        for draft in drafts:
            draft.discard()
        if isinstance(error, OSError) and place is not None:
            raise unwritten(place.path, error) from None
        raise
    return Settlement(None if is_file else filed.text, digest, artefacts, tuple(drafts))


# Answers up to this length are never files, whatever the policy says: to look would cost more than it saves.
_SHORT = 10_000
