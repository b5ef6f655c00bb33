"""OpenID Connect: bearer tokens of an issuer, whose groups stand for grants of the vault."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from discreet.core.errors import BadParameter, MissingExtra, Refusal
from discreet.core.value import dataclass
from discreet.curator.toml import read_toml
from discreet.ledger.refusals import AccessRefused

if TYPE_CHECKING:
    from jwt import PyJWK

# Signatures that only the issuer can make; none by a secret that is shared, and never "none".
_ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "PS256", "EdDSA")
_MOST_BYTES = 1 << 20
# How long keys are kept, and how soon they may be looked for again where one is not among them.
_KEPT, _SOONEST = 3600.0, 30.0
# How far clocks may be apart, in seconds.
_LEEWAY = 30


class NotOpenId(AccessRefused):
    """A bearer token of an issuer that is not valid here."""


@dataclass(frozen=True, slots=True)
class OpenId:
    """What a server believes of which issuer: its tokens for this audience, and which grant each group has.

    Guarantee: a token is believed if the issuer signed it, for this audience, and it has not expired; what it may do
    is what the grant of its first listed group may. All who share a group share the grant's caps.
    """

    issuer: str
    audience: str
    keys: str
    groups: tuple[tuple[str, str], ...]
    claim: str = "groups"

    @classmethod
    def read(cls, path: str | Path) -> OpenId:
        """Read a TOML file: issuer, audience, keys (a file, or an address of https), claim, and [groups] to grants."""
        file = Path(path)
        root = read_toml(file).table("issuer", "audience", "keys", "claim", "groups")
        issuer, audience, keys = (root.need(name, f'write {name} = "..."').words() for name in _NEEDED)
        groups = root.need("groups", 'map groups to grants: [groups] researchers = "5aa567681bdb"')
        found = tuple((each.path[-1], each.words()) for each in groups.each())
        claim = root["claim"].words() if "claim" in root else "groups"
        if not keys.startswith("https://"):
            keys = str(file.resolve().parent / keys)
        return cls(issuer, audience, keys, found, claim)

    def __post_init__(self) -> None:
        if urlsplit(self.issuer).scheme != "https":
            why, fix = "it is the address of an issuer", 'write issuer = "https://login.example.org"'
            raise BadParameter("issuer", self.issuer, why=why, fix=fix)
        if not self.groups:
            why = "without a group nobody is let in"
            raise BadParameter("groups", (), why=why, fix='map groups to grants: [groups] researchers = "5aa567681bdb"')


_NEEDED = ("issuer", "audience", "keys")


def is_openid(token: str) -> bool:
    """Whether a bearer token has the form of an issuer's; those of a vault have no dots."""
    return token.count(".") == 2


class OpenIdTokens:
    """Checks tokens of an issuer, with keys that are kept for an hour."""

    __slots__ = ("_at", "_keys", "_lock", "openid")

    def __init__(self, openid: OpenId) -> None:
        self.openid = openid
        self._keys: Mapping[str, PyJWK] = {}
        self._at = float("-inf")
        self._lock = Lock()
        self._loaded(_KEPT)

    def grant_of(self, token: str) -> str:
        """Return the grant that a token stands for, or refuse it; why it is not valid is said without its content."""
        jwt = _pyjwt()
        try:
            identifier = str(jwt.get_unverified_header(token).get("kid", ""))
            claims = jwt.decode(
                token,
                self._key(identifier),
                algorithms=list(_ALGORITHMS),
                audience=self.openid.audience,
                issuer=self.openid.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise NotOpenId("this token", why="it has expired", fix="sign in again") from None
        except (jwt.PyJWTError, ValueError, TypeError, KeyError):
            why = "its issuer has not signed it for this server"
            raise NotOpenId("this token", why=why, fix="sign in at the issuer that the server names") from None
        held = claims.get(self.openid.claim)
        listed = {each for each in held if isinstance(each, str)} if isinstance(held, list) else {str(held)}
        for group, grant in self.openid.groups:
            if group in listed:
                return grant
        why = "none of its groups has a grant here"
        raise NotOpenId("this token", why=why, fix="ask the custodian to let your group in")

    def _key(self, identifier: str) -> PyJWK:
        keys = self._loaded(_KEPT)
        if identifier not in keys:
            keys = self._loaded(_SOONEST)
        if not identifier and len(keys) == 1:
            return next(iter(keys.values()))
        return keys[identifier]

    def _loaded(self, most: float) -> Mapping[str, PyJWK]:
        """Return the issuer's keys, read again where they are older than so many seconds."""
        with self._lock:
            if time.monotonic() - self._at >= most:
                self._keys, self._at = _keys_of(self.openid.keys), time.monotonic()
            return self._keys


def _keys_of(place: str) -> Mapping[str, PyJWK]:
    jwt = _pyjwt()
    try:
        found = json.loads(_content(place))
        keys = [jwt.PyJWK(each) for each in found["keys"] if each.get("use", "sig") == "sig"]
        return {key.key_id or "": key for key in keys}
    except Refusal:
        raise
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError) as error:
        why, fix = "it holds no keys of an issuer (a JSON Web Key Set)", "give the issuer's jwks_uri, or a copy of it"
        raise BadParameter("keys", place, why=why, fix=fix) from error


def _content(place: str) -> bytes:
    if not place.startswith("https://"):
        try:
            return Path(place).read_bytes()
        except OSError as error:
            why, fix = "it cannot be read", "give the issuer's jwks_uri, or a copy of it"
            raise BadParameter("keys", place, why=why, fix=fix) from error
    from urllib.request import urlopen

    try:
        with urlopen(place, timeout=10) as response:  # noqa: S310  (https alone)
            content: bytes = response.read(_MOST_BYTES)
            return content
    except OSError as error:
        why, fix = "the issuer gives no answer", "check the address of its keys"
        raise BadParameter("keys", place, why=why, fix=fix) from error


def _pyjwt() -> Any:  # noqa: ANN401  (the package)
    try:
        import jwt
    except ImportError as error:
        raise MissingExtra("OpenID Connect", "serve", "jwt") from error
    return jwt
