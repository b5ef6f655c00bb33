"""The lab: attacks and audits of everything that promises privacy."""

from discreet.lab.audit import audit as audit
from discreet.lab.audit import examine as examine
from discreet.lab.finding import ClaimViolated as ClaimViolated
from discreet.lab.finding import Finding as Finding
from discreet.lab.trials import trials as trials

__all__ = ["ClaimViolated", "Finding", "audit", "examine", "trials"]
