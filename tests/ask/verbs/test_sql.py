"""sql: a question in SQL that went through text has the key, the answer and the refusals of the same in Python."""

import pytest

from discreet.ask.request import AskTerms, DeskRequest
from discreet.ask.steps.sql_question import SqlQuestion
from discreet.core.errors import Refusal
from tests.ask.desks import Textual
from tests.curator.questions import opened

TEXT = "SELECT ward, COUNT(*) AS n FROM visits WHERE age >= 18 GROUP BY ward ORDER BY n DESC LIMIT 2"


def test_a_question_in_sql_through_text_has_the_key_and_the_arrangement_of_the_session(tmp_path):
    session = opened(tmp_path)
    desk = Textual(session.desk)
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 1) " + TEXT.removeprefix("SELECT ")
    answer = desk.run(DeskRequest("sql", SqlQuestion(desk, clause, {}), AskTerms(), None)).answer
    again = session.sql(TEXT, epsilon=1)
    assert (answer.rows, answer.columns) == (again.rows, again.columns)
    assert again.receipt["replayed"]
    assert answer.receipt["key"] == again.receipt["key"]
    preview = desk.preview(DeskRequest("sql", SqlQuestion(desk, clause, {}), AskTerms(sql=True), None))
    assert str(preview) == str(session.preview_sql(TEXT, epsilon=1, sql=True))


@pytest.mark.parametrize("text", ["", "SELECT", "SELECT age FROM visits", "DELETE FROM visits"])
def test_what_no_select_may_ask_is_refused_through_text_as_well(tmp_path, text):
    desk = Textual(opened(tmp_path).desk)
    with pytest.raises(Refusal):
        desk.run(DeskRequest("sql", SqlQuestion(desk, text, {}), AskTerms(), None))
