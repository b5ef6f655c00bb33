"""Remote desks: a vault behind a server, with the same verbs as one at hand: `dp.connect("https://...", token)`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import quote, urlsplit

from discreet.account.budgets.privacy_filter import PrivacyFilter
from discreet.ask.release_list import Release
from discreet.ask.request import Released
from discreet.ask.verbs import verb_of
from discreet.ask.verbs.request_text import request_text
from discreet.ask.work_limits import WorkLimits
from discreet.core.errors import BadParameter, MissingExtra, Refusal
from discreet.core.file import new_file
from discreet.core.value import dataclass
from discreet.curator.remote.declaration import ARTEFACT, declaration_from, public_declaration_from
from discreet.curator.remote.problem import TooMany, Unreachable, refusal_of
from discreet.ledger.artefacts.artefact import Artefact
from discreet.ledger.charge import Receipt
from discreet.ledger.entry import Head
from discreet.ledger.integrity.attestation import Attestation
from discreet.ledger.integrity.certificate import Certificate
from discreet.ledger.oversight.approval import ApprovalRequest
from discreet.ledger.standing import Standing
from discreet.measures.minimum_frequency import MinimumFrequency

if TYPE_CHECKING:
    from discreet.account.losses.loss import PrivacyLoss
    from discreet.ask.desk import Access, Progress
    from discreet.ask.public_table import PublicTable
    from discreet.ask.registered import Registered
    from discreet.ask.request import DeskRequest, Fresh

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
# A declaration that is spoken of again and again is read once in so many seconds; the server checks it all the same.
_KEPT = 5.0
# How often, and at most for how long in all, a request is sent again that the server had no room for.
_TRIES, _PATIENCE = 5, 30.0


def check_address(url: str) -> str:
    """Return the address, or refuse one over which the token would cross a network in the clear."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment or not parts.hostname:
        why, fix = "it is not the address of a server", "use https://HOST, and pass the token by itself"
        raise BadParameter("path", f"{parts.scheme}://{parts.hostname or ''}...", why=why, fix=fix)
    if parts.scheme.lower() == "http" and parts.hostname not in _LOOPBACK:
        why, fix = "the token would cross the network in the clear", "use https://"
        raise BadParameter("path", url, why=why, fix=fix)
    return url.rstrip("/")


@dataclass(frozen=True, slots=True, eq=False)
class ServerStep:
    """A step of the plan that the server has begun, as it is told while one waits."""

    name: str
    number: int
    of: int
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.number} of {self.of}: {self.name}"


class RemoteDesk:
    """A vault behind a server, for the holder of one token.

    Guarantee: what is asked is checked by the server as if it had been asked there; the token is sent to that server
    alone, and nothing it redirects to is followed.
    """

    __slots__ = ("__weakref__", "_client", "_seen", "_session", "_url")

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:  # noqa: ANN401  (httpx's own)
        try:
            import httpx
        except ImportError as error:
            raise MissingExtra("a vault behind a server", "client", "httpx") from error
        self._url = check_address(url)
        if not isinstance(token, str) or not token.strip().isascii() or not token.strip().isprintable():
            why, fix = "it is not a token", "pass the text that grant returned"
            raise BadParameter("token", "...", why=why, fix=fix)
        headers = {"Authorization": f"Bearer {token.strip()}", "Accept": "application/json"}
        # A question may take as long as the policy's deadline lets it, which the server keeps.
        timeout = httpx.Timeout(None, connect=10.0, write=60.0, pool=None)
        self._client = httpx.Client(
            base_url=self._url, headers=headers, timeout=timeout, follow_redirects=False, transport=transport
        )
        self._seen: dict[str, tuple[float, Registered]] = {}
        self._session: Mapping[str, Any] | None = None

    @property
    def access(self) -> Access:
        """Refused: what needs the vault itself is done where it lies."""
        self._not_here("this")

    @property
    def analyst(self) -> str:
        """The name the grant was made out to."""
        return str(self._who["analyst"])

    def preview(self, request: DeskRequest) -> Any:  # noqa: ANN401  (the preview of its verb)
        """Show what a request would cost and how far its answer would be off; free, made without any data."""
        found = self._sent("POST", "/v1/preview", content=request_text(request))
        return verb_of(request.verb).read_preview(found, request)

    def run(self, request: DeskRequest, *, fresh: Fresh = False, progress: Progress | None = None) -> Released:
        """Pay for a request and return its one answer, or the answer that was paid for before.

        A fresh answer is asked for under a name of its own, so that a connection that broke may be tried again.
        """
        headers, parameters = {}, {}
        if fresh:
            parameters = {"fresh": "true"}
            headers = {
                "Idempotency-Key": quote(fresh, safe=" !#$&'()*+,/:;=?@[]~") if isinstance(fresh, str) else _name()
            }
        content = request_text(request)
        if progress is None:
            found = self._sent("POST", "/v1/run", content=content, headers=headers, params=parameters)
        else:
            found = self._streamed(content, {**headers, "Accept": "text/event-stream"}, parameters, progress)
        try:
            answer, receipt, remaining = found["answer"], found["receipt"], found["remaining"]
        except (KeyError, TypeError):
            raise _strange() from None
        read = verb_of(request.verb).read_answer(json.dumps(answer, ensure_ascii=False))
        return Released(read, receipt, remaining)

    def tables(self) -> list[str]:
        """Return the names of the tables the grant covers."""
        return [str(name) for name in self._sent("GET", "/v1/tables")["tables"]]

    def registered(self, name: str) -> Registered:
        """Return a table of the grant, as it was declared a few seconds ago at most."""
        now, seen = time.monotonic(), self._seen.get(name)
        if seen is not None and now - seen[0] < _KEPT:
            return seen[1]
        found = declaration_from(self._sent("GET", f"/v1/tables/{quote(name, safe='')}"))
        self._seen[name] = now, found
        return found

    def public_tables(self) -> list[str]:
        """Return the names of the public tables that may be joined."""
        return [str(name) for name in self._sent("GET", "/v1/public")["tables"]]

    def public_table(self, name: str) -> PublicTable:
        """Return a public table of the vault, without its rows."""
        return public_declaration_from(self._sent("GET", f"/v1/public/{quote(name, safe='')}"))

    def work_limits(self) -> WorkLimits:
        """Return what the policy lets a question cost at least, take at most, and show of its time."""
        return WorkLimits.from_record(self._who["work"])

    def minimum_frequency(self) -> MinimumFrequency:
        """Return below how many people the policy has groups withheld."""
        return MinimumFrequency.from_record(self._who["withhold"])

    def budget(self) -> list[Standing]:
        """Return every limit that questions of this analyst have to pass, as it stands."""
        return [
            Standing(
                each["scope"],
                each["account"],
                self.analyst if each["own"] else None,
                PrivacyFilter.from_json(each["filter"]),
                each["window"],
            )
            for each in self._sent("GET", "/v1/budget")["limits"]
        ]

    def releases(self) -> list[Release]:
        """Return what this analyst has paid for, the newest last."""
        return [Release.from_record(each) for each in self._sent("GET", "/v1/releases")["releases"]]

    def pending(self) -> list[ApprovalRequest]:
        """Return this analyst's questions that wait for approval, or were denied, or may be asked again now."""
        return [
            ApprovalRequest.from_record(each["name"], each["at"], each["request"])
            for each in self._sent("GET", "/v1/pending")["requests"]
        ]

    def artefact(self, name: str, place: Path) -> Artefact:
        """Copy a published file to a new place, once it is found to be whole."""
        import httpx

        try:
            with self._client.stream(
                "GET", f"/v1/artefacts/{quote(name, safe='')}", headers={"Accept": "*/*"}
            ) as stream:
                if not stream.is_success:
                    raise self._refused(stream.status_code, stream.read())
                found = Artefact.from_record(_read(stream.headers.get(ARTEFACT, "")))
                with new_file(place, private=True) as fresh, fresh.open("wb") as file:
                    hashed, size = sha256(), 0
                    for piece in stream.iter_bytes():
                        hashed.update(piece)
                        size += file.write(piece)
                    if (size, hashed.hexdigest()) != (found.size, found.sha256):
                        raise _strange()
        except httpx.TransportError:
            raise self._unreachable() from None
        return found

    def show(self, receipts: Sequence[object]) -> str | None:
        """Compare the vault with receipts that it gave; return why it is frozen, None if it is not."""
        shown = [Attestation.from_record(each).record() for each in receipts]
        found: str | None = self._sent("POST", "/v1/receipts", content=json.dumps({"receipts": shown}))["frozen"]
        return found

    def head(self) -> Head:
        """Return the end of the ledger's chain."""
        found = self._sent("GET", "/v1/head")
        return Head(int(found["sequence"]), str(found["hash"]))

    def bill(self, tables: Sequence[str], loss: PrivacyLoss, label: str, key: str | None) -> Receipt:
        """Charge for work of this analyst that is done elsewhere."""
        body = {"tables": [*tables], "loss": loss.to_json(), "label": label, "key": key or _name()}
        return Receipt.from_json(self._sent("POST", "/v1/bill", content=json.dumps(body))["receipt"])

    def certificate(self, receipt: Receipt | Mapping[str, Any] | None) -> Certificate:
        """Return the signed certificate of the release that a receipt is about."""
        shown = receipt if isinstance(receipt, Mapping) else {} if receipt is None else receipt.record()
        body = {name: shown[name] for name in ("sequence", "key", "head") if name in shown}
        return Certificate.from_json(self._sent("POST", "/v1/certificate", content=json.dumps(body))["certificate"])

    def files(self) -> Sequence[str]:
        """Return nothing: no file of the vault lies here."""
        return ()

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    @property
    def _who(self) -> Mapping[str, Any]:
        if self._session is None:
            self._session = self._sent("GET", "/v1/session")
        return self._session

    def _not_here(self, what: str) -> NoReturn:
        why, fix = "it needs the vault itself, which is behind a server", "do it on the machine of the vault"
        raise Refusal(what, why=why, fix=fix)

    def _sent(self, method: str, path: str, **terms: Any) -> Any:  # noqa: ANN401  (JSON values)
        """Send a request, again where the server had no room, and return the JSON of the response."""
        import httpx

        patience = time.monotonic() + _PATIENCE
        for left in range(_TRIES, 0, -1):
            try:
                response = self._client.request(method, path, **terms)
            except httpx.ConnectError:
                raise self._unreachable() from None
            except httpx.TransportError:
                # What was sent may have been paid for: the same request is a replay, and is sent again.
                if left > 1 and time.monotonic() < patience:
                    continue
                raise self._unreachable() from None
            if response.is_success:
                return _read(response.content)
            refusal = self._refused(response.status_code, response.content)
            if isinstance(refusal, TooMany) and left > 1 and time.monotonic() + refusal.seconds < patience:
                time.sleep(refusal.seconds)
                continue
            raise refusal
        raise AssertionError("the last try returns or raises")

    def _streamed(self, content: str, headers: dict[str, str], parameters: dict[str, str], progress: Progress) -> Any:  # noqa: ANN401
        """Send a request and tell its steps as they begin; return the JSON of the answer."""
        import httpx

        try:
            with self._client.stream("POST", "/v1/run", content=content, headers=headers, params=parameters) as stream:
                if not stream.is_success:
                    raise self._refused(stream.status_code, stream.read())
                for event, data in _events(stream.iter_lines()):
                    if event == "step":
                        found = _read(data)
                        progress(ServerStep(str(found["step"]), int(found["number"]), int(found["of"])))
                    elif event == "answer":
                        return _read(data)
                    elif event == "problem":
                        found = _read(data)
                        raise refusal_of(found, int(found.get("status", 500)))
        except httpx.TransportError:
            pass
        # The stream ended early; the same request is a replay.
        return self._sent(
            "POST", "/v1/run", content=content, headers={**headers, "Accept": "application/json"}, params=parameters
        )

    def _refused(self, status: int, content: bytes) -> Refusal:
        self._seen.clear()
        self._session = None
        try:
            return refusal_of(json.loads(content), status)
        except ValueError:
            return refusal_of(None, status)

    def _unreachable(self) -> Unreachable:
        why, fix = "it gives no answer", "check the address, and whether discreet serve is running"
        return Unreachable(f"the server {self._url}", why=why, fix=fix, value=self._url)


def _read(content: bytes | str) -> Any:  # noqa: ANN401  (JSON values)
    try:
        return json.loads(content)
    except ValueError:
        raise _strange() from None


def _strange() -> Unreachable:
    why, fix = "its answer is none of Discreet's", "check the address, and the proxy in front of it"
    return Unreachable("the server", why=why, fix=fix)


def _events(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """Yield events of a stream with their data."""
    event, data = "", ""
    for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            event = value
        elif name == "data":
            data = value
        elif not line and event:
            yield event, data
            event = data = ""


def _name() -> str:
    from secrets import token_hex

    return f"once-{token_hex(16)}"
