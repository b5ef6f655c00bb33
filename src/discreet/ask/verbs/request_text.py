"""Requests as versioned JSON {verb, question, spec, price}: written exactly, read strictly."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from discreet.account.budgets.price import Price
from discreet.ask.request import DeskRequest, some_fields
from discreet.ask.verbs import verb_of
from discreet.core import record as records
from discreet.core.errors import BadParameter
from discreet.core.rational import parse_written

if TYPE_CHECKING:
    from discreet.ask.desk import Desk

# A question carries its public tables; beyond this it is no question any more.
MOST_BYTES = 4 << 20
# Plans and expressions nest; deeper than this no reader would follow.
MOST_DEPTH = 400

_NESTING = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_AMOUNTS = ("epsilon", "delta", "rho")
_NAMES = ("verb", "question", "spec", "price")
_FIX = 'write {"verb": "sql", "question": {"sql": "SELECT ..."}, "price": {"epsilon": 0.5}}'


def request_text(request: DeskRequest) -> str:
    """Write a request as versioned JSON that `read_request` reads back, at any desk with the same tables."""
    return json.dumps(request_record(request), ensure_ascii=False, allow_nan=False)


def request_record(request: DeskRequest) -> dict[str, Any]:
    """Return a request as plain JSON values, exact."""
    verb = verb_of(request.verb)
    return {
        "discreet": records.VERSION,
        "verb": request.verb,
        "question": verb.question_record(request.question),
        "spec": verb.spec_record(request.spec),
        "price": None if request.price is None else request.price.record(),
    }


def read_request(text: str | bytes, desk: Desk) -> DeskRequest:
    """Read what `request_text` wrote, or a person or another program did, checking all of it.

    Guarantee: what is read has passed every check that the same question passes in Python; no data is read.
    """
    return request_from_record(parsed(text), desk)


def request_from_record(record: object, desk: Desk) -> DeskRequest:
    """Read what `request_record` returned; the spec may be left out, and the price where the question names it."""
    found = some_fields("request", record, ("discreet", *_NAMES), ("verb", "question"))
    if type(version := found.get("discreet", records.VERSION)) is not int or version != records.VERSION:
        why, fix = f"this release reads format {records.VERSION}", "write it with this release"
        raise BadParameter("discreet", version, why=why, fix=fix)
    if not isinstance(found["verb"], str):
        raise BadParameter("verb", found["verb"], why="it is a word", fix=_FIX)
    verb, price = verb_of(found["verb"]), price_of(found.get("price"))
    if price is None and verb.is_priced:
        raise BadParameter("price", None, why="a question has its price", fix='add "price": {"epsilon": 0.5}')
    spec = verb.read_spec(found.get("spec") or {})
    return DeskRequest(found["verb"], verb.read_question(found["question"], desk), spec, price)


def parsed(text: str | bytes) -> object:
    """Return the JSON of a request, refusing what is too long or nested too deeply before it is read."""
    content = text.encode(errors="surrogatepass") if isinstance(text, str) else text
    if len(content) > MOST_BYTES:
        why = f"it has {len(content):,} bytes, and a request has at most {MOST_BYTES:,}"
        raise BadParameter("request", "...", why=why, fix="ask in several questions, with smaller public tables")
    if depth_of(content) > MOST_DEPTH:
        why = f"it is nested deeper than {MOST_DEPTH}"
        raise BadParameter("request", "...", why=why, fix="derive columns step by step, or ask in several questions")
    try:
        return json.loads(content, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):  # what stands there is the caller's own, and is not repeated
        raise BadParameter("request", "...", why="it is not JSON", fix=_FIX) from None


def depth_of(content: bytes) -> int:
    """Return how deeply JSON is nested, in one pass and without recursion."""
    deepest = depth = 0
    for found in _NESTING.finditer(content):
        sign = found[0]
        if sign in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif sign in (b"]", b"}"):
            depth -= 1
    return deepest


def price_of(record: object) -> Price | None:
    """Read a price: amounts as numbers, which mean the decimal they print, or as exact text such as "1/3"."""
    if record is None:
        return None
    found = some_fields("price", record, _AMOUNTS)
    amounts = {name: parse_written(name, each) if isinstance(each, str) else each for name, each in found.items()}
    return Price.of(amounts.get("epsilon"), amounts.get("delta"), amounts.get("rho"))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # readers differ in which of the two they take
        raise ValueError
    return found


def _no_constant(_: str) -> None:
    raise ValueError
