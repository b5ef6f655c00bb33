"""The `discreet` command and `python -m discreet`: the version is told before click is read."""

from __future__ import annotations

import sys

from discreet.core.version import __version__


def main() -> int:
    """Run the command line and return its exit code."""
    if sys.argv[1:] == ["--version"]:
        try:
            sys.stdout.write(f"discreet {__version__}\n")
            sys.stdout.flush()
            return 0
        except OSError:  # the command says what is wrong with where it writes
            pass
    from discreet.cli.main import main as command

    return command()


if __name__ == "__main__":
    sys.exit(main())
