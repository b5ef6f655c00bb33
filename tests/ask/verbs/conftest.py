"""Sessions that watch counts."""

import pytest

import discreet as dp
from discreet.core.unit import row
from tests.ask.desks import Textual
from tests.curator.questions import PURE, opened

DATA = {"id": [each // 2 for each in range(600)], "n": [each % 100 for each in range(600)], "month": [1, 2, 3] * 200}
COLUMNS = {"n": dp.between(0, 99), "month": dp.one_of(1, 2, 3)}


@pytest.fixture(params=["at hand", "as text"])
def session(tmp_path, request):
    with opened(tmp_path, DATA, unit=row(), columns=COLUMNS, budget=PURE) as found:
        if request.param == "as text":
            found._desk = Textual(found._desk)
        yield found


@pytest.fixture
def visits(session):
    return session.table("visits")
