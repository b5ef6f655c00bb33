"""Tasks of noise for the operating system: its generator, read directly."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial


def stream(size: int) -> Callable[[], object]:
    """That many bytes from the system."""
    return partial(os.urandom, size)
