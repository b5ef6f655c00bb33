"""Clients that keep their connections and ask again: as little Python as there can be between two requests."""

import asyncio
import ctypes
import signal
import subprocess
import sys
import time


def asked(port, content, headers, requests, clients):
    """Return the call that sends so many requests over so many connections."""

    def call():
        return asyncio.run(_all(port, content, headers, requests, clients))

    return call


async def _all(port, content, headers, requests, clients):
    each = [requests // clients + (place < requests % clients) for place in range(clients)]
    return sum(await asyncio.gather(*(_client(port, content, headers, many) for many in each)))


async def _client(port, content, headers, many):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {headers['path']} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n"
    sent = (head + headers["others"] + "\r\n").encode() + content
    for _ in range(many):
        writer.write(sent)
        found = await reader.readuntil(b"\r\n\r\n")
        assert found.startswith(b"HTTP/1.1 200"), found
        length = int(found.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()
    return many


def worked(process, call):
    """Return the call that gives the seconds of processor time that a server takes while another call is made."""
    clock = (~process << 3) | 2  # Linux's clock of another process

    def measured():
        before = time.clock_gettime(clock)
        call()
        return time.clock_gettime(clock) - before

    return measured


def started(line):
    """Start a server that ends with this process, however that ends, and keeps none of its pipes open."""
    return subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, preexec_fn=_ends_with_it)


def _ends_with_it():
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def up(port):
    """Wait for a server to listen."""
    import socket

    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the server does not come up")
