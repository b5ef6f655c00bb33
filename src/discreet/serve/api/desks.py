"""Desks of a server: one for each token that is in use, over one open vault; a token is checked on every request."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING

from discreet.ask.runner import Engines
from discreet.core.value import dataclass
from discreet.curator.curator import Curator
from discreet.curator.vault_desk import VaultDesk
from discreet.ledger.refusals import AccessRefused
from discreet.serve.api.limits import TokenLimits
from discreet.serve.api.openid import OpenId, OpenIdTokens, is_openid

if TYPE_CHECKING:
    from discreet.ask.registered import Registered
    from discreet.ask.runner import Runner
    from discreet.curator.local.curator_like import CuratorLike
    from discreet.engines.engine import Allotment
    from discreet.ledger.grant import Grant
    from discreet.serve.api.settings import ServeSettings

MOST_DESKS = 256


class NoToken(AccessRefused):
    """A request without a valid token: the one refusal of access that HTTP calls unauthorized."""


@dataclass(frozen=True, slots=True, eq=False)
class Caller:
    """Who makes a request: the desk of the token, and what the token may still ask."""

    desk: VaultDesk
    limits: TokenLimits


class SharedEngines:
    """The engines of a process, for the questions of all its desks.

    Guarantee: there are at most so many, lent and idle together, and each has its allotment; more questions wait.
    """

    def __init__(self, secret: bytes, most: int, allotment: Allotment) -> None:
        self.room = BoundedSemaphore(most)
        self._most, self._allotment, self._lock = most, allotment, Lock()
        self._engines = self._made(secret)

    def of(self, secret: bytes) -> Engines:
        """Return the engines of this order of rows; those of another, which the vault had before, are closed."""
        with self._lock:
            if self._engines.secret != secret:
                self._engines.close()
                self._engines = self._made(secret)
            return self._engines

    def close(self) -> None:
        """Close those that are idle."""
        self._engines.close()

    def _made(self, secret: bytes) -> Engines:
        return Engines(secret, most=self._most, allotment=self._allotment)


class ServedDesk(VaultDesk):
    """A desk of a server: its questions wait for one of the engines that all desks of the process share."""

    __slots__ = ("_shared",)

    def __init__(self, curator: CuratorLike, grant: Grant, shared: SharedEngines) -> None:
        super().__init__(curator, grant)
        self._shared = shared

    @contextmanager
    def runner(self, registered: Mapping[str, Registered]) -> Iterator[Runner]:
        """Open an engine when there is room for one more."""
        with self._shared.room, super().runner(registered) as runner:
            yield runner

    def engine(self, registered: Mapping[str, Registered]) -> str:
        """Say which engine computes over these tables, when there is room for one more."""
        with self._shared.room:
            return super().engine(registered)

    def _opened(self) -> Engines:
        return self._shared.of(self._curator.ledger.secret("order"))

    def rest(self) -> None:
        """Leave the engines open: they are others' as well."""


class Desks:
    """The vault of a server and its desks.

    Guarantee: a token is looked up by its digest and checked against the vault on each request, so that one that was
    revoked or has expired opens nothing more, over whatever connection. No token is stored.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.curator = Curator(settings.vault, create=False, anchor=settings.anchor, verify_when_due=False)
        self._callers: OrderedDict[bytes, Caller] = OrderedDict()
        self._lock = Lock()
        self._shared = SharedEngines(self.curator.ledger.secret("order"), settings.engines, settings.allotment)
        self._openid = None if settings.openid is None else OpenIdTokens(OpenId.read(settings.openid))

    def caller(self, token: str) -> Caller:
        """Return who holds a token, or refuse it: unknown, wrong, expired and revoked ones alike."""
        digest = sha256(token.encode(errors="surrogatepass")).digest()
        with self._lock:
            found = self._callers.get(digest)
            if found is not None:
                self._callers.move_to_end(digest)
        if found is None or (self._openid is not None and is_openid(token)):  # which may have expired since
            found = self._opened(token, digest)
        try:
            found.desk.admit()
        except AccessRefused as refusal:
            with self._lock:
                self._callers.pop(digest, None)
            raise NoToken(refusal.what, why=refusal.why, fix=refusal.fix) from None
        return found

    def known(self, token: str) -> Caller | None:
        """Return who held a token when it was last looked up; whether the grant stands is still to be seen.

        Tokens of an issuer are verified anew each time, for which one may have to wait.
        """
        if self._openid is not None and is_openid(token):
            return None
        digest = sha256(token.encode(errors="surrogatepass")).digest()
        with self._lock:
            found = self._callers.get(digest)
            if found is not None:
                self._callers.move_to_end(digest)
        return found

    def _opened(self, token: str, digest: bytes) -> Caller:
        try:
            grant = self._grant(token)
        except AccessRefused as refusal:
            raise NoToken(refusal.what, why=refusal.why, fix=refusal.fix) from None
        limits = TokenLimits(self.settings.rate, self.settings.burst, self.settings.concurrent)
        made = Caller(ServedDesk(self.curator, grant, self._shared), limits)
        with self._lock:
            found = self._callers.setdefault(digest, made)
            if len(self._callers) > MOST_DESKS:
                self._callers.popitem(last=False)
        return found

    def _grant(self, token: str) -> Grant:
        """Return the grant of a token: the vault's own, or an issuer's whose group has one."""
        if self._openid is None or not is_openid(token):
            return self.curator.ledger.authenticate(token)
        named = self._openid.grant_of(token)
        for grant in self.curator.ledger.grants():
            if grant.id == named:
                self.curator.ledger.admit(grant)
                return grant
        why = "the grant of its group is not in this vault"
        raise AccessRefused("this token", why=why, fix="ask the custodian to let your group in")

    def close(self) -> None:
        """Close every engine, and the vault."""
        with self._lock:
            self._callers = OrderedDict()
        self._shared.close()
        self.curator.close()
