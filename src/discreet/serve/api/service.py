"""Service: what the routes of the API share: who asks, reading bodies within limits, and work off the event loop."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from discreet.ask.verbs.request_text import MOST_BYTES
from discreet.core.errors import BadParameter, Refusal
from discreet.ledger.refusals import AccessRefused
from discreet.serve.api.desks import Caller, Desks, NoToken
from discreet.serve.api.responses import json_response

if TYPE_CHECKING:
    from discreet.curator.curator import Curator

# Tokens are shorter than this; what is longer is none.
_LONGEST_TOKEN = 8192


class Service:
    """The desks of a server, as routes use them.

    Guarantee: every route but those of health looks at the token first; work is counted against its limits before
    anything of the vault is read for it.
    """

    def __init__(self, desks: Desks) -> None:
        self.desks = desks

    async def asked(
        self,
        request: Request,
        work: Callable[[Caller], Any],
        at_hand: Callable[[Caller], Response | None] | None = None,
    ) -> Response:
        """Work for whoever makes a request, in a thread, and return what comes of it: a response, or JSON values.

        What is `at_hand` is given without one, which costs more than the rest of such a request; None if it is not.
        """
        token = token_of(request)
        known = None if at_hand is None else self.desks.known(token)
        if known is None or at_hand is None:
            found = await run_in_threadpool(self.worked, token, request, work)
        else:
            with known.limits.request():
                found = at_hand(known)
                if found is None:
                    found = await run_in_threadpool(self._counted, token, request, work)
                else:
                    request.state.who = known.desk.grant
        return found if isinstance(found, Response) else json_response(found)

    async def custody(self, request: Request, work: "Callable[[Curator], Any]") -> Response:
        """Work for a custodian; other roles are refused, whatever they ask for."""

        def checked(caller: Caller) -> object:
            if caller.desk.role != "custodian":
                why, fix = "it is for custodians", "use a custodian's token"
                raise AccessRefused(f"{request.method} {request.url.path}", why=why, fix=fix)
            return work(self.desks.curator)

        return await self.asked(request, checked)

    def worked(self, token: str, request: Request, work: Callable[[Caller], Any]) -> Any:  # noqa: ANN401
        """Work for the holder of a token, in the thread that calls."""
        caller = self.desks.caller(token)
        request.state.who = caller.desk.grant
        with caller.limits.request():
            return work(caller)

    def _counted(self, token: str, request: Request, work: Callable[[Caller], Any]) -> Any:  # noqa: ANN401
        """Do the same for a request that was counted already."""
        caller = self.desks.caller(token)
        request.state.who = caller.desk.grant
        return work(caller)


def token_of(request: Request) -> str:
    """Return the bearer token of a request."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip() or len(token) > _LONGEST_TOKEN:
        why, fix = "it has no bearer token", "send the header Authorization: Bearer TOKEN"
        raise NoToken("this request", why=why, fix=fix)
    return token.strip()


async def body_of(request: Request, most: int = MOST_BYTES) -> bytes:
    """Return the body, refusing one that is too large before it is read to its end."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 12 or int(declared) > most):
        raise BodyTooLarge(most)
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise BodyTooLarge(most)
            parts.append(part)
    except ClientDisconnect:
        raise ClientLeft from None
    return b"".join(parts)


class ClientLeft(Refusal):
    """A client that left before its request was complete; nobody hears this."""

    def __init__(self) -> None:
        super().__init__("this request", why="its client left before it was complete", fix="send it again")


class BodyTooLarge(BadParameter):
    """A body that is larger than any request."""

    def __init__(self, most: int) -> None:
        why, fix = f"a request has at most {most:,} bytes", "ask in several questions, with smaller public tables"
        super().__init__("body", "...", why=why, fix=fix)
