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
from serve_clients import up

CLIENTS = 64
ANSWER = {"answer": {"rows": [["A"], ["B"], ["C"], ["D"]], "noises": [["0" * 16, "12345", "laplace", "6"]] * 12}}
PADDED = {**ANSWER, "words": ["what an answer says of itself"] * 40}
_port = []


def _serve(sock):
    app = FastAPI()

    async def route(request: Request):
        json.loads(await request.body())
        return Response(json.dumps(PADDED), media_type="application/json")

    for path in ("/v1/run", "/v1/preview"):
        app.post(path)(route)
    uvicorn.Server(uvicorn.Config(app, access_log=False, log_level="warning", http="h11")).run(sockets=[sock])


def asked(path, requests):
    if not _port:
        import multiprocessing

        sock = socket.create_server(("127.0.0.1", 0))
        process = multiprocessing.get_context("fork").Process(target=_serve, args=(sock,), daemon=True)
        process.start()
        _port.append(sock.getsockname()[1])
        sock.close()
        up(_port[0])
        time.sleep(0.5)
    body = {
        "verb": "sql",
        "question": {"sql": "SELECT ward, COUNT(*) FROM visits GROUP BY ward"},
        "price": {"epsilon": 0.5},
    }
    headers = {"path": path, "others": "Content-Type: application/json\r\n"}
    return sent(_port[0], json.dumps(body).encode(), headers, requests, CLIENTS)
