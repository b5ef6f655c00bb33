"""`python -m discreet`: the same as the `discreet` command."""

from __future__ import annotations

import sys

from discreet.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
