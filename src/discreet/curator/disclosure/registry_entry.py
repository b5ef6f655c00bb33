"""Registry entries: an account's promise in the form of the OpenDP deployments registry, as YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.budget import Budget
from discreet.account.numeric.rounding import up
from discreet.ask.registered import unit_words
from discreet.ask.remaining import counted
from discreet.core.errors import BadParameter, UnknownName
from discreet.core.value import dataclass
from discreet.core.version import __version__
from discreet.curator.disclosure.ledger_facts import LedgerFacts

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ledger.ledger import Ledger
    from discreet.ledger.standing import Standing

# What no ledger knows, with the place it has in an entry.
TOLD = ("name", "curator", "intended_use", "region", "sector", "description", "author")
LEFT_OPEN = "to be filled in by the curator"
_SECTORS = ("Technology", "Healthcare", "Education", "Government")


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """An entry of the registry, and the names of the fields that its curator has still to fill in."""

    record: Mapping[str, Any]
    open: tuple[str, ...]

    def to_yaml(self) -> str:
        """Write the entry; texts are quoted as JSON quotes them, so that no text is read as anything else."""
        return "\n".join(_yaml(self.record)) + "\n"


def registry_entry(ledger: Ledger, account: str | None, told: Mapping[str, str]) -> RegistryEntry:
    """Fill in an entry from the ledger and the declarations; `told` is what its curator says.

    Guarantee: the figures are those of the whole account: its budget, which bounds all of its releases together.
    """
    for name in told:
        if name not in TOLD:
            raise UnknownName("field", name, TOLD)
    if told.get("sector") and told["sector"] not in _SECTORS:
        why, fix = "the registry knows no such sector", f"use one of {', '.join(_SECTORS)}, or leave it out"
        raise BadParameter("sector", told["sector"], why=why, fix=fix)
    facts = LedgerFacts.of(ledger)
    accounts = {each.account: each for each in ledger.standing() if each.scope == "account"}
    if account is None:
        if len(accounts) != 1:
            why, fix = "an entry is about one account, whose releases one budget bounds", "name the account"
            raise BadParameter("account", sorted(accounts), why=why, fix=fix)
        (account,) = accounts
    if account not in accounts:
        raise UnknownName("account", account, accounts)
    tables = [each for each in facts.tables if each.account == account]
    said = {name: told.get(name) or LEFT_OPEN for name in TOLD}
    if not told.get("name"):
        said["name"] = account
    record = {
        "status": "Draft",
        "registry_authors": [said["author"]],
        "tier": 3,
        "deployment": _deployment(ledger, accounts[account], tables, facts, said, told.get("sector")),
    }
    return RegistryEntry(record, tuple(name for name in TOLD if name != "sector" and said[name] == LEFT_OPEN))


def _deployment(
    ledger: Ledger,
    standing: Standing,
    tables: list[Registered],
    facts: LedgerFacts,
    said: Mapping[str, str],
    sector: str | None,
) -> dict[str, Any]:
    from discreet.ledger.cap import budget_of_filter

    budget, account = budget_of_filter(standing.filter), standing.account
    releases = facts.released.get(account, 0)
    found: dict[str, Any] = {
        "name": said["name"],
        "data_curator": said["curator"],
        "intended_use": said["intended_use"],
        "data_product_type": "Summary statistics",
        "data_product_region": said["region"],
        "description": said["description"],
        "publication_date": facts.first.get(account, "nothing was released yet"),
        **({"data_product_sector": sector} if sector else {}),
        "dp_flavor": {
            "name": _flavor(budget),
            "data_domain": "; ".join(_domain(each) for each in tables) or LEFT_OPEN,
            "unprotected_quantities": _unprotected(tables),
        },
        "privacy_loss": {
            "privacy_unit": "Row" if tables and all(each.table.unit.is_row for each in tables) else "Person",
            "privacy_unit_description": "; ".join(f"{each.name}: {unit_words(each.table.unit)}" for each in tables),
            "privacy_parameters": _parameters(budget),
            "privacy_parameters_description": "The budget of all releases together, for life, however they depend on "
            f"each other; {standing.filter.figures.theorem}. {counted(standing.filter)}".rstrip(),
        },
        "model": {
            "model_name": "Central",
            "actors": "People whose rows are in the tables. A trusted curator, who holds rows and vault. Analysts and "
            "readers of what is published, who are not trusted, and may collude.",
            "release_type": "One release" if releases == 1 else "Many releases",
            "release_type_description": f"{releases} releases so far; the budget is for life, and once it is spent "
            "nothing more is released.",
            "data_source_type": "Dynamic" if any(each.version > 1 for each in tables) else "Static",
            "access_type": "Interactive",
            "access_type_description": "Analysts share the budget of the account, so collusion gains them nothing; "
            "caps of single analysts only restrict further.",
        },
        "accounting": {
            "post_processing": "Arithmetic on answers, intervals that invert the noise, models of noisy counts.",
            "composition": f"A privacy filter, valid for adaptive questions: {standing.filter.figures.theorem}.",
        },
        "implementation": {
            "pre_processing_eda_hyperparameter_tuning": "Bounds, categories, keys and sizes are declared or bought "
            "with budget, and never inferred from the data by the system.",
            "mechanisms": _mechanisms(facts, account),
            "justification": LEFT_OPEN,
        },
        "additional_information": f"Vault {ledger.vault_id}, public key {ledger.public_key}, made by Discreet "
        f"{__version__} from the ledger's entries up to {ledger.head[0]}.",
    }
    return found


def _flavor(budget: Budget) -> str:
    if budget.rho is not None:
        return "Zero-concentrated DP"
    return "Approximate DP" if budget.delta else "Pure DP"


def _parameters(budget: Budget) -> dict[str, float]:
    """Return the parameters as floats, none below what it stands for."""
    amounts = {"epsilon": budget.epsilon, "delta": budget.delta, "rho": budget.rho}
    return {name: up(amount) for name, amount in amounts.items() if amount}


def _domain(table: Registered) -> str:
    columns = ", ".join(column.name or "" for column in table.table.columns)
    return f"{table.name}: tables with the columns {columns}, within declared bounds and keys"


def _unprotected(tables: list[Registered]) -> str:
    sizes = [f"the number of rows of {each.name}, declared as public" for each in tables if each.table.rows is not None]
    said = ["names and declarations of tables, and version counters", *sizes]
    return "; ".join(said) + ". No statistic is released without noise."


def _mechanisms(facts: LedgerFacts, account: str) -> str:
    bills = facts.bills.get(account, 0)
    elsewhere = f" Of the charges, {bills} are bills for work that was done elsewhere, by other code." if bills else ""
    return (
        f"Losses charged, by kind: {facts.losses_of(account)}.{elsewhere} Discrete distributions sampled exactly from "
        "AES-256 in counter mode; sums are exact integers, so no float meets data and noise together. Response times "
        "are bounded by deadlines and can be rounded by policy. Every debit is durable before data is read. Discreet "
        f"{__version__}."
    )


def _yaml(value: Any, indent: str = "") -> Iterator[str]:  # noqa: ANN401  (plain JSON values)
    """Yield the lines of a mapping, or of a list of texts."""
    if isinstance(value, list):
        yield from (f"{indent}- {_scalar(each)}" for each in value)
        return
    for name, each in value.items():
        if isinstance(each, Mapping | list):
            yield f"{indent}{name}:"
            yield from _yaml(each, indent + "  ")
        else:
            yield f"{indent}{name}: {_scalar(each)}"


def _scalar(value: object) -> str:
    """Write a value; texts in quotes, as JSON and YAML both read them, and 1e-06 as YAML reads a number: 1.0e-06."""
    if isinstance(value, float):
        text = repr(value)
        return text.replace("e", ".0e") if "e" in text and "." not in text else text
    written = json.dumps(value, ensure_ascii=False)
    return "".join(each if each.isprintable() else f"\\U{ord(each):08x}" for each in written)
