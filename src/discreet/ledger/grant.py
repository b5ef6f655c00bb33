"""Grants and tokens: who may ask about which tables, until when, and how they prove it."""

from __future__ import annotations

import hmac
import json
from datetime import datetime
from hashlib import blake2b
from secrets import token_bytes, token_hex
from typing import Literal, get_args

from discreet.core.errors import BadParameter
from discreet.core.value import dataclass
from discreet.ledger.clock import written
from discreet.ledger.refusals import AccessRefused
from discreet.ledger.store import Permit

# A reader replays what others have paid for, sees declarations and budgets, and is charged nothing.
Role = Literal["analyst", "custodian", "reader"]

# 192 random bits cannot be guessed, so a fast hash keeps them as well as a slow one would.
_SECRET_BYTES = 24


@dataclass(frozen=True, slots=True)
class Grant:
    """The right of an analyst to ask about some tables until it expires or is revoked; a custodian's covers all."""

    id: str
    analyst: str
    role: Role
    tables: tuple[str, ...]
    expires: datetime | None = None
    revoked: bool = False

    def covers(self, table: str) -> bool:
        """Whether questions about the table are allowed."""
        return self.role == "custodian" or table in self.tables

    @classmethod
    def of(cls, permit: Permit) -> Grant:
        """Return the grant of a stored row."""
        expires = datetime.fromisoformat(permit.expires) if permit.expires else None
        revoked = permit.revoked is not None
        tables = tuple(json.loads(permit.tables))
        return cls(permit.id, permit.analyst, check_role(permit.role), tables, expires, revoked)

    def ended(self, now: datetime) -> bool:
        """Whether it was revoked or has expired."""
        return self.revoked or not self.outlives(now)

    def outlives(self, moment: datetime) -> bool:
        """Whether it had not expired at a moment."""
        return self.expires is None or moment < self.expires

    def check(self, now: datetime) -> None:
        """Refuse a grant that was revoked or has expired."""
        if self.revoked:
            why, fix = "it was revoked", "ask the custodian for a new token"
            raise AccessRefused(f"the grant {self.id} of {self.analyst}", why=why, fix=fix, value=self.id)
        if self.expires is not None and not self.outlives(now):
            why, fix = f"it expired at {self.expires.isoformat()}", "ask the custodian for a new token"
            raise AccessRefused(f"the grant {self.id} of {self.analyst}", why=why, fix=fix, value=self.id)


def new_token() -> tuple[str, str]:
    """Return a new grant's identifier and the secret of its token, which is `identifier_secret`."""
    return token_hex(6), token_hex(_SECRET_BYTES)


def new_verifier(secret: str) -> tuple[str, str]:
    """Return a random salt and the salted hash of a secret: what is stored in its place."""
    salt = token_bytes(blake2b.SALT_SIZE).hex()
    return salt, _hashed(secret, salt)


def matches(permit: Permit | None, secret: str) -> bool:
    """Whether the secret is the permit's; an unknown permit takes as long to refuse as a wrong secret."""
    salt, expected = (permit.salt, permit.hash) if permit else ("00" * blake2b.SALT_SIZE, "00" * 32)
    return hmac.compare_digest(_hashed(secret, salt), expected) and permit is not None


def check_role(value: object) -> Role:
    """Return the role, or refuse whatever is not one."""
    match value:
        case "analyst" | "custodian" | "reader":
            return value
    fix = f"use one of {', '.join(get_args(Role))}"
    raise BadParameter("role", value, why="a grant is an analyst's, a custodian's or a reader's", fix=fix)


def check_expires(value: datetime | None, now: datetime) -> str:
    """Return an expiry as stored text; a time without its zone means two things and is refused, as is a past one."""
    if value is None:
        return ""
    if not isinstance(value, datetime) or value.tzinfo is None:
        why, fix = (
            "an expiry needs a time zone",
            "use datetime.now(UTC) + timedelta(...)",
        )
        raise BadParameter("expires", value, why=why, fix=fix)
    if value <= now:
        why = f"it has passed (it is {written(now)} by the vault's time), so the token would never be valid"
        raise BadParameter("expires", value.isoformat(), why=why, fix="use a later moment, or leave it out")
    return value.isoformat()


def _hashed(secret: str, salt: str) -> str:
    return blake2b(secret.encode(errors="replace"), salt=bytes.fromhex(salt), digest_size=32).hexdigest()
