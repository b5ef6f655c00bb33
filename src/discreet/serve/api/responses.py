"""Responses: problems, answers in the format that was asked for, and streams of progress."""

import asyncio
import contextvars
import json
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from discreet.core.errors import BadParameter, Refusal
from discreet.curator.remote.problem import MEDIA, TooMany, kind_of, problem
from discreet.serve.api.desks import NoToken

if TYPE_CHECKING:
    from discreet.answers.answer import Answer
    from discreet.ask.desk import Progress
    from discreet.ask.request import Released
    from discreet.ask.verbs.verb import Verb

JSON, CSV, ARROW, EVENTS = "application/json", "text/csv", "application/vnd.apache.arrow.stream", "text/event-stream"
FORMATS = (JSON, CSV, ARROW, EVENTS)
# Seconds between two signs of life of a question that is being answered.
_BEAT = 1.0


def problem_response(refusal: Refusal, status: int | None = None) -> Response:
    """Return a refusal as a problem document, under the status of its kind."""
    if isinstance(refusal, NoToken):
        status = 401
    code = kind_of(refusal).status if status is None else status
    headers = {}
    if code == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="discreet"'
    if isinstance(refusal, TooMany):
        headers["Retry-After"] = str(max(1, int(refusal.seconds + 0.999)))
    return Response(json.dumps(problem(refusal, code)), code, headers, MEDIA)


def json_response(record: object, status: int = 200) -> Response:
    """Return plain JSON values."""
    return Response(json.dumps(record, ensure_ascii=False, allow_nan=False), status, media_type=JSON)


def chosen_format(accept: str) -> str:
    """Return the first format that a client accepts; JSON where it does not say."""
    named = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
    for each in named:
        if each in FORMATS:
            return each
        if each in ("", "*/*", "application/*"):
            return JSON
    why, fix = "answers are written in other formats", f"accept one of {', '.join(FORMATS)}"
    raise BadParameter("Accept", accept[:80], why=why, fix=fix)


def released_text(verb: "Verb", released: "Released") -> str:
    """Write what was released as JSON: the answer under its own versioned format, the receipt, and what is left."""
    rest = json.dumps({"receipt": dict(released.receipt), "remaining": released.remaining}, ensure_ascii=False)
    return f'{{"answer": {verb.answer_text(released.answer)}, {rest[1:]}'


def released_response(verb: "Verb", released: "Released", media: str) -> Response:
    """Return what was released in the format that was asked for."""
    if media in (CSV, ARROW):
        answer = released.answer
        if not hasattr(answer, "to_arrow"):
            raise BadParameter("Accept", media, why="only answers are tables", fix=f"accept {JSON}")
        return Response(_csv(answer) if media == CSV else _arrow(answer), media_type=media)
    return Response(released_text(verb, released), media_type=JSON)


def _csv(answer: "Answer") -> bytes:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "answer.csv"
        answer.to_csv(place)
        return place.read_bytes()


def _arrow(answer: "Answer") -> bytes:
    table = answer.to_arrow()
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def progress_response(work: "Callable[[Progress], str]") -> Response:
    """Answer with a stream of events: steps of the plan as they begin, the time elapsed, and the answer or a problem.

    Whoever closes the connection stops waiting, and nothing else: what was charged is worked on and settled, and the
    same request replays it.

    Guarantee: a step is told by its name in the plan; no count, size or share done is.
    """
    return StreamingResponse(_events(work), media_type=EVENTS)


async def _events(work: "Callable[[Progress], str]") -> AsyncIterator[str]:
    queue: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    loop, begun = asyncio.get_running_loop(), time.monotonic()

    def tell(event: str, data: str) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, (event, data))

    def stage(step: Any) -> None:  # noqa: ANN401  (the step of a verb's plan)
        tell("step", json.dumps({"step": step.name, "number": step.number, "of": step.of}))

    def run() -> None:
        try:
            tell("answer", work(stage))
        except Refusal as refusal:
            tell("problem", json.dumps(problem(refusal)))
        except Exception:  # its words might quote what was read
            unexpected = Refusal("the request", why="the server failed unexpectedly", fix="tell its custodian")
            tell("problem", json.dumps(problem(unexpected, 500)))

    context = contextvars.copy_context()
    running = asyncio.ensure_future(run_in_threadpool(context.run, run))
    while True:
        try:
            event, data = await asyncio.wait_for(queue.get(), _BEAT)
        except TimeoutError:
            event, data = "elapsed", json.dumps({"seconds": round(time.monotonic() - begun)})
        yield f"event: {event}\ndata: {data}\n\n"
        if event in ("answer", "problem"):
            await running
            return
