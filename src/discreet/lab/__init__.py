"""The lab: attacks and audits of everything that promises privacy."""

from discreet.core.lazy import lazy
from discreet.lab.audits.audit import audit as audit
from discreet.lab.audits.audit import examine as examine
from discreet.lab.audits.finding import ClaimViolated as ClaimViolated
from discreet.lab.audits.finding import Finding as Finding
from discreet.lab.audits.trials import trials as trials
from discreet.lab.pages.labs import Lab as Lab
from discreet.lab.pages.labs import Ran as Ran
from discreet.lab.pages.labs import labs as labs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from discreet.lab.attacks.averaging import averaging as averaging
    from discreet.lab.attacks.census import census as census
    from discreet.lab.attacks.differencing import differencing as differencing
    from discreet.lab.attacks.fingerprinting import fingerprinting as fingerprinting
    from discreet.lab.attacks.hardness import hardness as hardness
    from discreet.lab.attacks.intersection import intersection as intersection
    from discreet.lab.attacks.linkage import linkage as linkage
    from discreet.lab.attacks.reconstruction import reconstruction as reconstruction
    from discreet.lab.attacks.tracing import tracing as tracing
    from discreet.lab.attacks.traitor import traitor as traitor
    from discreet.lab.attacks.unhash import unhash as unhash
    from discreet.lab.audits.question import audit_question as audit_question
    from discreet.lab.audits.sql import audit_sql as audit_sql
    from discreet.lab.outcome import Outcome as Outcome
    from discreet.lab.table_copy import TableCopy as TableCopy
    from discreet.lab.targets import named as named

# What an audit does not need, imported when it is first touched.
_LATER = {
    **{
        name: f"discreet.lab.attacks.{name}"
        for name in (
            "averaging",
            "census",
            "differencing",
            "fingerprinting",
            "hardness",
            "intersection",
            "linkage",
            "reconstruction",
            "tracing",
            "traitor",
            "unhash",
        )
    },
    "TableCopy": "discreet.lab.table_copy",
    "Outcome": "discreet.lab.outcome",
    "audit_question": "discreet.lab.audits.question",
    "audit_sql": "discreet.lab.audits.sql",
    "named": "discreet.lab.targets",
}

__all__ = sorted(["ClaimViolated", "Finding", "Lab", "Ran", "audit", "examine", "labs", "trials", *_LATER])
__getattr__, _ = lazy(__name__, _LATER)


def __dir__() -> list[str]:
    return list(__all__)
