"""What tests of SQL ask about: two tables of the same people, in one session."""

import pandas as pd

import discreet as dp
from discreet.curator.curator import Curator
from tests.curator.questions import COLUMNS, ROWS

VISITS = {**COLUMNS, "day": dp.date("2020-01-01", "2021-12-31"), "grade": dp.one_of(1, 2, 3)}
DAYS = ["2020-01-01", "2020-02-29", "2020-03-01", "2021-01-03", "2021-12-31", None, "2020-06-15"] + ["2021-07-04"] * 3
STAYS = {"ward": dp.one_of("A", "B", "C"), "nights": dp.between(0, 30), "age": dp.between(0, 110)}

MUCH = dp.Budget(epsilon=10**15, delta=0.9)


def session_of(folder, unit=None, budget=None, **others):
    """Open a session of an analyst who may ask about visits and stays, as often as they like."""
    curator = Curator(folder / "vault.discreet")
    unit = unit or dp.person("id", max_rows=3)
    visits = pd.DataFrame({**ROWS, "day": DAYS, "grade": [1, 2, 3, 1, 2, 3, 1, 2, 3, None]})
    curator.register(
        "visits",
        visits,
        unit=unit,
        columns=VISITS,
        budget=budget or MUCH,
        group="people",
        **others,
    )
    stays = pd.DataFrame(
        {"id": [1, 2, 2, 7], "ward": ["A", "B", "C", "A"], "nights": [1, 2, 30, 4], "age": [41, 7, 8, 70]}
    )
    curator.register("stays", stays, unit=unit, columns=STAYS, group="people", **others)
    return curator.session(curator.grant("alice", ["visits", "stays"]))
