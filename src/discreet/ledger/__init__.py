"""The ledger: accounts, charges, leases and answers in one durable, hash-chained vault."""

from __future__ import annotations

from discreet.core.lazy import lazy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.ledger.charge import Charge as Charge
    from discreet.ledger.charge import Receipt as Receipt
    from discreet.ledger.document import Document as Document
    from discreet.ledger.entry import Entry as Entry
    from discreet.ledger.grant import Grant as Grant
    from discreet.ledger.integrity.verify import Verified as Verified
    from discreet.ledger.lease import Lease as Lease
    from discreet.ledger.ledger import Ledger as Ledger
    from discreet.ledger.refusals import AccessRefused as AccessRefused
    from discreet.ledger.refusals import Conflict as Conflict
    from discreet.ledger.refusals import Frozen as Frozen
    from discreet.ledger.refusals import LeaseLost as LeaseLost
    from discreet.ledger.refusals import LimitExceeded as LimitExceeded
    from discreet.ledger.refusals import NotAVault as NotAVault
    from discreet.ledger.refusals import QuestionFailed as QuestionFailed
    from discreet.ledger.refusals import Tampered as Tampered
    from discreet.ledger.refusals import Unavailable as Unavailable
    from discreet.ledger.standing import Standing as Standing

_HOMES = {
    "AccessRefused": "discreet.ledger.refusals",
    "Charge": "discreet.ledger.charge",
    "Conflict": "discreet.ledger.refusals",
    "Document": "discreet.ledger.document",
    "Entry": "discreet.ledger.entry",
    "Frozen": "discreet.ledger.refusals",
    "Grant": "discreet.ledger.grant",
    "Lease": "discreet.ledger.lease",
    "LeaseLost": "discreet.ledger.refusals",
    "Ledger": "discreet.ledger.ledger",
    "LimitExceeded": "discreet.ledger.refusals",
    "NotAVault": "discreet.ledger.refusals",
    "QuestionFailed": "discreet.ledger.refusals",
    "Receipt": "discreet.ledger.charge",
    "Standing": "discreet.ledger.standing",
    "Tampered": "discreet.ledger.refusals",
    "Unavailable": "discreet.ledger.refusals",
    "Verified": "discreet.ledger.integrity.verify",
}

__all__ = sorted(_HOMES)
__getattr__, __dir__ = lazy(__name__, _HOMES)
