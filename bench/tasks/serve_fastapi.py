"""A bare route of FastAPI: it reads the same JSON, and answers with as much of it."""

import json
import socket
import sys
import time
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Request
from starlette.responses import Response

sys.path.insert(0, str(Path(__file__).resolve().parent))
from serve_clients import asked as sent
from serve_clients import started, up, worked

CLIENTS = 64
ANSWER = {"answer": {"rows": [["A"], ["B"], ["C"], ["D"]], "noises": [["0" * 16, "12345", "laplace", "6"]] * 12}}
# As many bytes as Discreet answers; `serve_discreet` checks that it does.
LENGTHS = {"/v1/run": 5_000, "/v1/preview": 750}
_served = []


def padded(length):
    """Return values whose JSON has about so many bytes."""
    words = max(0, length - len(json.dumps(ANSWER))) // len(json.dumps("what it says of itself, "))
    return {**(ANSWER if words else {}), "words": ["what it says of itself"] * (words or length // 26)}


def _serve():
    sock = socket.create_server(("127.0.0.1", 0))
    print(sock.getsockname()[1], flush=True)
    app = FastAPI()

    def add(path, answer):
        async def route(request: Request):
            json.loads(await request.body())
            return Response(json.dumps(answer), media_type="application/json")

        app.post(path)(route)

    for path, length in LENGTHS.items():
        add(path, padded(length))
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning", http="h11")).run(sockets=[sock])


def asked(path, requests, cpu=False):
    if not _served:
        process = started([sys.executable, __file__])
        _served.extend((int(process.stdout.readline()), process.pid))
        up(_served[0])
        time.sleep(0.5)
    body = {
        "verb": "sql",
        "question": {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward"},
        "price": {"epsilon": 0.5},
    }
    headers = {"path": path, "others": "Content-Type: application/json\r\n"}
    call = sent(_served[0], json.dumps(body).encode(), headers, requests, CLIENTS)
    return worked(_served[1], call) if cpu else call


if __name__ == "__main__":
    _serve()
