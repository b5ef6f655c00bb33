"""Residence: how much memory a worker process holds; one that holds too much ends, and is replaced."""

import asyncio
import os
import signal
from pathlib import Path

from discreet.core.log import logger

# Seconds between two looks.
_PAUSE = 2.0
_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Return how many megabytes this process holds; 0 where the system does not say."""
    try:
        pages = int(_STATM.read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


async def ended_when_too_large(most: int, pause: float = _PAUSE) -> None:
    """Have this process end, once its requests are answered, when it holds more than so many megabytes."""
    while resident() <= most:
        await asyncio.sleep(pause)
    logger.warning("a worker holds more memory than its share, and is replaced")
    os.kill(os.getpid(), signal.SIGTERM)
