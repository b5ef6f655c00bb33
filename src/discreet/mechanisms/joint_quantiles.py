"""Several quantile mechanisms over the same values, in the passes of one alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.account.numeric.checks import whole
from discreet.mechanisms.parts.raw_values import Steps
from discreet.mechanisms.parts.refinement import Counts, find, passes_for
from discreet.mechanisms.quantile import Quantile


def search_together(mechanisms: Sequence[Quantile], counts: Counts, groups: int, cells: int = 1024) -> list[Steps]:
    """Return what `search_steps` of every mechanism does, each quantile by itself, in the passes of one alone.

    All of them ask about the same values on the same grid. One whose quantiles are nested is sought alone.

    Guarantee: that of `search` for each; together they cost the sum of their losses.
    """
    if len(mechanisms) == 1 and not mechanisms[0].alone:
        return [mechanisms[0].search_steps(counts, whole("groups", groups), cells)]
    tasks = [task for mechanism in mechanisms for task in mechanism.tasks(whole("groups", groups))]
    grid = mechanisms[0].grid
    found = iter(find(tasks, counts, whole("cells", cells, least=2), passes_for(grid.width + 1, cells)))
    out = []
    for mechanism in mechanisms:
        shape = groups, len(mechanism.quantiles)
        points = np.array([next(found) for _ in range(shape[0] * shape[1])], dtype=np.int64)
        out.append(np.sort(points.reshape(shape), axis=-1))
    return out
