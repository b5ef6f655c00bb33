"""Tasks of synthetic data for smartnoise-synth: its MST, every column declared as categorical."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ALONE = runpy.run_path(str(HERE / "synth_alone.py"))  # once: it remembers runs


def figure(figure: str, seeds: int, **arguments: Any) -> Callable[[], float]:
    """One figure of runs in processes of their own, over seeds."""
    return lambda: ALONE["mean"](__file__, figure, seeds, arguments)


def made(table: str, method: str, epsilon: str, delta: str, seed: int) -> dict[str, Any]:
    """The columns of a sample with as many rows as the table; its noise cannot be seeded as a whole."""
    import pandas as pd
    from snsynth import Synthesizer

    np.random.seed(seed)  # noqa: NPY002, TID251  (a peer's noise)
    sizes, columns = runpy.run_path(str(HERE / "synth_tables.py"))["table"](table)
    frame = pd.DataFrame(columns)
    made = Synthesizer.create(method, epsilon=float(epsilon), delta=float(delta))
    made.fit(frame, categorical_columns=[*sizes], preprocessor_eps=0.0)
    sample = made.sample(len(frame))
    return {name: sample[name].to_numpy().astype(np.int64) for name in sizes}
