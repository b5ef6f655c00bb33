"""Prints the vector extensions that NumPy would use on this processor, as NPY_DISABLE_CPU_FEATURES wants them.

With all of them disabled NumPy takes its plain paths, which round otherwise in the last bits; bounds hold there too.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np


def main() -> None:
    """Print the names; nothing, where none was found."""
    config = cast(dict[str, Any], np.show_config(mode="dicts"))
    print(" ".join(config.get("SIMD Extensions", {}).get("found", [])))


if __name__ == "__main__":
    main()
