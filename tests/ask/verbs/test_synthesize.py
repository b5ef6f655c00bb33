"""synthesize: synthetic data that went through text are the synthetic data that the vault settled."""

from discreet.curator.session import Session
from tests.ask.desks import Textual
from tests.curator.questions import opened


def test_synthetic_data_through_text_are_the_settled_ones(tmp_path):
    session = opened(tmp_path, rows=10)
    through = Session(Textual(session.desk)).table("visits")
    visits, terms = session.table("visits"), {"columns": ["ward", "urgent"], "zeros": [{"ward": "A", "urgent": True}]}
    one = through.synthesize("independent", epsilon=1, **terms)
    other = visits.synthesize("independent", epsilon=1, **terms)
    assert one.to_json() == other.to_json()
    assert len(session.releases()) == 1
    shown = through.preview_synthesize("independent", epsilon=1, **terms)
    assert shown.record() == visits.preview_synthesize("independent", epsilon=1, **terms).record()
