"""The `discreet` logger: silent unless asked for, and never told a value."""

from __future__ import annotations

import logging

# The only things a log line may mention in addition to its constant text. Each is about the program or the question's
# shape, never about data, parameters or noise; a test reads every logging call of the package against this list.
SAFE_FIELDS = frozenset({"command", "version", "extra", "exit_code"})

logger = logging.getLogger("discreet")
logger.addHandler(logging.NullHandler())
