"""The tables of TPC-H, written by tpchgen-cli, whose environment this runs in; kept with the benches."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path


def tables(folder: str, scale: float) -> Callable[[], float]:
    """The eight tables as Parquet files, made on first use; what is reported is how many bytes they take."""
    home = Path(folder)
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        draft = home.with_name(f"{home.name}.{os.getpid()}")
        try:
            command = [Path(sys.executable).with_name("tpchgen-cli"), "parquet", "-s", f"{scale:g}"]
            subprocess.run([*command, "--output-dir", str(draft)], check=True, stdin=subprocess.DEVNULL)
            draft.rename(home)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return lambda: float(sum(file.stat().st_size for file in home.glob("*.parquet")))
