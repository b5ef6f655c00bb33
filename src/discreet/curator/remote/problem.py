"""Problems: refusals as RFC 9457 documents, which a server sends and a remote session raises again as they were."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.account.budgets.cost import Uncountable
from discreet.account.budgets.exceeded import BudgetExceeded
from discreet.account.losses.loss import Unsupported
from discreet.core.errors import BadParameter, MissingExtra, Refusal, UnknownName, show
from discreet.core.value import dataclass
from discreet.engines.source import SourceChanged, SourceMissing
from discreet.ledger.oversight.approval import ApprovalNeeded
from discreet.ledger.refusals import (
    AccessRefused,
    Conflict,
    Frozen,
    LeaseLost,
    LimitExceeded,
    NotAVault,
    QuestionFailed,
    Tampered,
    Unavailable,
)
from discreet.ledger.running.part import RunBehind, RunEnded
from discreet.plan.refusals import IllTyped, TooWide
from discreet.plan.sql.refusals import SqlRefused
from discreet.plan.stability import UnboundedSensitivity

MEDIA = "application/problem+json"


class TooMany(Refusal):
    """A request beyond what a token may ask at once; `seconds` says when to try again."""

    def __init__(self, what: str, *, why: str, fix: str, seconds: float = 1.0) -> None:
        super().__init__(what, why=why, fix=fix, value=seconds)
        self.seconds = seconds


class Unreachable(Refusal, ConnectionError):
    """A server that gives no answer, or one that is no answer of Discreet."""

    def __str__(self) -> str:
        return Refusal.__str__(self)  # OSError would print an errno


@dataclass(frozen=True, slots=True)
class Kind:
    """How refusals of a class are sent: their word, their title, and the status of HTTP."""

    word: str
    title: str
    status: int
    of: type[Refusal]


# The first that fits is taken, so that a class stands before those it derives from.
KINDS = (
    Kind("budget", "The privacy budget does not cover this question", 403, BudgetExceeded),
    Kind("rate", "Too many requests", 429, TooMany),
    Kind("failed", "The question was charged and failed", 409, QuestionFailed),
    Kind("lease", "The question is being answered elsewhere", 409, LeaseLost),
    Kind("behind", "Others went on with the running release", 409, RunBehind),
    Kind("ended", "The running release has ended", 409, RunEnded),
    Kind("conflict", "This contradicts what the vault holds", 409, Conflict),
    Kind("access", "No access", 403, AccessRefused),
    Kind("approval", "The question waits for the custodian, or was denied", 403, ApprovalNeeded),
    Kind("frozen", "The vault is frozen", 503, Frozen),
    Kind("unavailable", "The vault is not available", 503, Unavailable),
    Kind("tampered", "The vault is not what its ledger wrote", 503, Tampered),
    Kind("vault", "There is no vault", 503, NotAVault),
    Kind("extra", "A package is missing on the server", 503, MissingExtra),
    Kind("name", "Unknown name", 422, UnknownName),
    Kind("parameter", "A value is not valid", 422, BadParameter),
    Kind("type", "An operation on values of another kind", 422, IllTyped),
    Kind("wide", "Values might not fit", 422, TooWide),
    Kind("unbounded", "One unit could change too much", 422, UnboundedSensitivity),
    Kind("sql", "SQL that is not answered", 422, SqlRefused),
    Kind("source-changed", "The source of a table changed", 422, SourceChanged),
    Kind("source-missing", "The source of a table is missing", 422, SourceMissing),
    Kind("unsupported", "No theorem answers this", 422, Unsupported),
    Kind("uncountable", "The loss has no cost in this currency", 422, Uncountable),
    Kind("refusal", "Refused", 422, Refusal),
)
_BY_WORD = {kind.word: kind for kind in KINDS}
_AMOUNTS = ("currency", "requested", "remaining", "difference", "budget", "theorem", "fits")


def kind_of(refusal: Refusal) -> Kind:
    """Return how a refusal is sent."""
    return next(kind for kind in KINDS if isinstance(refusal, kind.of))


def problem(refusal: Refusal, status: int | None = None) -> dict[str, Any]:
    """Return a refusal as a problem document: what, why and fix, and for budgets what was asked, is left and would fit.

    Guarantee: it repeats what the refusal says, which depends on no record.
    """
    kind = kind_of(refusal)
    found: dict[str, Any] = {
        "type": f"urn:discreet:problem:{kind.word}",
        "title": kind.title,
        "status": kind.status if status is None else status,
        "detail": str(refusal),
        "what": refusal.what,
        "why": refusal.why,
        "fix": refusal.fix,
    }
    if isinstance(refusal, BudgetExceeded):
        found |= {name: _plain(getattr(refusal, name)) for name in _AMOUNTS}
    if isinstance(refusal, LimitExceeded):
        found |= {"limit": refusal.limit, "account": refusal.account, "offer": dict(refusal.offer)}
    if isinstance(refusal, TooMany):
        found["seconds"] = refusal.seconds
    span = getattr(refusal, "span", None)
    if isinstance(span, tuple) and all(isinstance(each, int) for each in span):
        found["span"] = [*span]
    return found


def refusal_of(record: object, status: int) -> Refusal:
    """Return the refusal that a problem document was made of, as far as it can be known."""
    if not isinstance(record, Mapping) or not all(isinstance(record.get(each), str) for each in ("what", "why", "fix")):
        why = f"the server answered with status {status}, and no answer of Discreet"
        return Unreachable("the server", why=why, fix="check the address, and the proxy in front of it", value=status)
    what, why, fix = (str(record[each]) for each in ("what", "why", "fix"))
    kind = _BY_WORD.get(str(record.get("type", "")).rpartition(":")[2])
    made = _made(kind, record)
    made.args, made.what, made.why, made.fix, made.value = (what,), what, why, fix, getattr(made, "value", None)
    return made


def _made(kind: Kind | None, record: Mapping[str, Any]) -> Refusal:
    """Return a refusal of the class, still without its words."""
    words = {"why": "", "fix": ""}
    match kind.word if kind is not None else "":
        case "budget":
            return _exceeded(record)
        case "rate":
            seconds = record.get("seconds")
            return TooMany("", **words, seconds=float(seconds) if isinstance(seconds, int | float) else 1.0)
        case "failed":
            return QuestionFailed()
        case "name":
            return UnknownName("name", "", ())
        case "parameter":
            return BadParameter("", None, **words)
        case "extra":
            return MissingExtra("", "", "")
        case "sql":
            refused, span = SqlRefused("", (0, 0), **words), record.get("span")
            if isinstance(span, list) and len(span) == 2 and all(type(each) is int for each in span):
                refused.span = (span[0], span[1])
            return refused
        case "":
            return Refusal("", **words)
    assert kind is not None
    return kind.of("", **words)


def _exceeded(record: Mapping[str, Any]) -> BudgetExceeded:
    amounts = [_exact(record.get(name)) for name in ("requested", "remaining", "budget")]
    currency, theorem, fits = (str(record.get(name, "")) for name in ("currency", "theorem", "fits"))
    found = BudgetExceeded(currency, amounts[0], amounts[1], budget=amounts[2], theorem=theorem, fits=fits)
    if "limit" not in record:
        return found
    limited = LimitExceeded(found, limit=str(record["limit"]), account=str(record.get("account", "")))
    offer = record.get("offer")
    limited.offer = {str(name): str(each) for name, each in offer.items()} if isinstance(offer, Mapping) else {}
    return limited


def _plain(value: object) -> str:
    return str(value) if isinstance(value, str | Fraction) else show(value)


def _exact(value: object) -> Fraction:
    try:
        return Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        return Fraction(0)
