"""Rough clients: they ask, ask again, leave in the middle of a request or of its response; and workers that are killed.

What was sent, and what was read of it, is kept, so that it can be compared with the ledger afterwards.
"""

import http.client
import json
import os
import random  # noqa: TID251  (what to ask is no noise)
import signal
import socket
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

EPSILON = 0.01
PATIENCE = 3.0  # seconds after which a client goes away; a lease of a killed worker lasts longer


@dataclass(frozen=True)
class Question:
    """A question, and the name it was asked freshly under, if it was: "" is a fresh one that nobody can name."""

    number: int
    name: str | None = None

    @property
    def sql(self):
        return f"SELECT ward, COUNT(*) AS n FROM visits WHERE age >= {self.number % 80} GROUP BY ward"

    @property
    def epsilon(self):
        return EPSILON * (1 + self.number // 80)

    def request(self, token, media="application/json", path="/v1/run"):
        body = {"verb": "sql", "question": {"sql": self.sql}, "price": {"epsilon": self.epsilon}}
        headers = {"Authorization": f"Bearer {token}", "Accept": media}
        if self.name:
            headers["Idempotency-Key"] = self.name
        return path + ("?fresh=true" if self.name is not None else ""), json.dumps(body), headers


@dataclass
class Seen:
    """What clients sent, and what they saw: statuses, and answers with the keys of their receipts."""

    sent: set = field(default_factory=set)
    statuses: Counter = field(default_factory=Counter)
    answers: list = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    def answered(self, question, found):
        with self.lock:
            self.answers.append((question, found["receipt"]["key"], json.dumps(found["answer"])))


def ask(port, token, question, seen):
    """Ask and read the response; what breaks is left, or asked again by somebody else."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST", *question.request(token))
        response = connection.getresponse()
        content = response.read()
    except (OSError, http.client.HTTPException):
        return "gone"
    finally:
        connection.close()
    if response.status == 200:
        seen.answered(question, json.loads(content))
    return response.status


def leave(port, token, question, share, wait, media="application/json"):
    """Send a share of a request, and close the connection after a while."""
    path, body, headers = question.request(token, media)
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    text = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", body]).encode()
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
            connection.sendall(text[: int(len(text) * share)])
            time.sleep(wait)
    except OSError:
        return "gone"
    return "left"


def client(port, token, who, requests, questions, seen):
    """Send so many requests, most of them about questions that others ask as well."""
    draw = random.Random(who)
    for number in range(requests):
        kind, question = draw.random(), Question(draw.randrange(questions))
        if kind > 0.9:
            place = number // 20  # so that a name is asked for again
            question = Question((101 * who + place) % questions, f"client {who} request {place}")
        elif kind > 0.87:
            question = Question(question.number, "")
        with seen.lock:
            seen.sent.add(question)
        if kind < 0.1:
            said = leave(port, token, question, draw.random(), draw.random() / 50)
        elif kind < 0.2:
            said = leave(port, token, question, 1, draw.random() / 50)
        elif kind < 0.25:
            said = leave(port, token, question, 1, draw.random() / 10, "text/event-stream")
        else:
            said = ask(port, token, question, seen)
        with seen.lock:
            seen.statuses[said] += 1


def workers(process):
    """The processes that answer, which change as they are killed; not the one that watches over them."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(each) for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


def killer(process, every, ended, killed):
    """Kill a worker again and again."""
    draw = random.Random(0)
    while not ended.wait(every * (0.5 + draw.random())):
        if len(found := workers(process)) > 1:
            os.kill(draw.choice(found), signal.SIGKILL)
            killed.append(time.monotonic())


def rough_day(port, process, token, *, clients, requests, questions, every):
    """Have clients ask while workers are killed; return what was seen, and how many were killed."""
    seen, ended, killed = Seen(), Event(), []
    thread = Thread(target=killer, args=(process, every, ended, killed))
    thread.start()
    try:
        with ThreadPoolExecutor(clients) as pool:
            asking = [
                pool.submit(client, port, token, who, requests // clients, questions, seen) for who in range(clients)
            ]
            for each in asking:
                each.result()
    finally:
        ended.set()
        thread.join()
    return seen, len(killed)
