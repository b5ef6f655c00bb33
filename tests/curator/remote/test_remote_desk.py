"""Remote desks: the session of a server is the session of the vault, in answers, refusals and words."""

import httpx
import pytest

import discreet as dp
from discreet.core.errors import BadParameter
from discreet.curator.remote.problem import Unreachable
from discreet.curator.remote.remote_desk import RemoteDesk, check_address
from discreet.ledger.refusals import AccessRefused, LimitExceeded
from tests.serve.api.served import SyncTransport, served


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    with served(tmp_path_factory.mktemp("remote")) as made:
        yield made


@pytest.fixture
def both(vault):
    with vault.session() as remote:
        yield vault.curator.session(vault.tokens["analyst"]), remote


def questions(session):
    visits = session.table("visits")
    return [
        visits.where(visits.age >= 18).group_by("ward").agg(n=dp.count(), age=dp.mean("age")),
        visits.derive(old=visits.age > 60).agg(q=dp.quantile("age", 0.25, 0.75), p=dp.people()),
        visits.join(session.public("wards", {"ward": ["A", "B"], "floor": [1, 2]}), on="ward")
        .group_by("floor")
        .agg(n=dp.count()),
        visits.agg(h=dp.histogram("age", edges=[0, 30, 60, 110])),
    ]


def test_a_question_has_one_answer_wherever_it_is_asked(both):
    local, remote = both
    for ours, theirs in zip(questions(local), questions(remote), strict=True):
        assert str(ours.preview(epsilon=0.25)) == str(theirs.preview(epsilon=0.25))
        answer = theirs.release(epsilon=0.25)
        again = ours.release(epsilon=0.25)
        assert (answer.receipt["replayed"], again.receipt["replayed"]) == (False, True)
        assert [*answer] == [*again]
        assert (answer.loss, answer.unit, answer.notes) == (again.loss, again.unit, again.notes)


def test_sql_for_error_dummies_tables_and_budgets_are_the_same(both):
    local, remote = both
    text = "SELECT ward, AVG(age) AS a FROM visits WHERE age > 20 GROUP BY ward ORDER BY a DESC LIMIT 2"
    assert str(remote.sql(text, epsilon=0.5)) == str(local.sql(text, epsilon=0.5))
    assert repr(remote.table("visits")) == repr(local.table("visits"))
    assert str(remote.remaining()) == str(local.remaining())
    assert remote.head() == local.head()
    assert [each.key for each in remote.releases()] == [each.key for each in local.releases()]
    assert remote.dummy("visits", 5).record() == local.dummy("visits", 5).record()
    assert remote.tables() == local.tables()
    offers = [str(each.table("visits").agg(n=dp.count()).for_error(n=50)) for each in both]
    assert offers[0] == offers[1]


def test_a_watch_is_one_whoever_looks(both):
    from discreet.ledger.running.part import RunEnded

    local, remote = both
    terms = {"threshold": 10**6, "cutoff": 2, "epsilon": 0.25}
    ours, theirs = (each.table("visits") for each in both)
    offers = [
        each.preview_watch(visits, "sparse_vector", **terms) for each, visits in ((local, ours), (remote, theirs))
    ]
    assert offers[0] == offers[1]
    first = remote.watch(theirs, "sparse_vector", **terms)
    first.look(theirs.age < 0)
    second = local.watch(ours, "sparse_vector", resume=first.receipt, **terms)
    assert second.looks == first.looks
    second.look(ours.age < 1)
    assert first.look(theirs.age < 2).number == 3
    assert len(first.looks) == 3
    local.desk.access.runs.end(first.receipt["key"])
    with pytest.raises(RunEnded):
        first.look()


def test_synthetic_data_comes_with_its_steps(both):
    local, remote = both
    steps = []
    terms = {"columns": ["ward", "age"], "bins": 4, "workload": 1}
    found = remote.table("visits").synthesize("independent", epsilon=0.5, progress=steps.append, **terms)
    again = local.table("visits").synthesize("independent", epsilon=0.5, **terms)
    assert found.to_json() == again.to_json()
    assert str(steps[0]).startswith("1 of ")


def test_published_files_are_fetched_whole_or_not_at_all(both, vault, tmp_path):
    _, remote = both
    terms = {"columns": ["ward"], "workload": 1}
    remote.table("visits").synthesize("independent", epsilon=0.25, **terms)
    (file,) = remote.releases()[-1].files
    place = remote.artefact(file, tmp_path / "model.json")
    assert place.stat().st_size == file.size
    for session, name in ((vault.session("other"), file.name), (remote, "0" * 32 + ".json")):
        with session, pytest.raises(dp.Refusal):
            session.artefact(name, tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_bills_and_certificates(both):
    local, remote = both
    receipt = remote.bill("visits", dp.Laplace(2.0), "training", key="seven")
    assert local.bill("visits", dp.Laplace(2.0), "training", key="seven").replayed
    answer = remote.table("visits").count().release(epsilon=0.1)
    assert remote.certificate(answer).to_json() == local.certificate(answer).to_json()
    assert remote.certificate(receipt).claims["entry"] == local.certificate(receipt).claims["entry"]


def test_refusals_are_raised_as_they_were_made(both):
    attempts = (
        lambda session: session.table("visist"),
        lambda session: session.table("secrets"),
        lambda session: session.sql("SELECT SUM(agee) FROM visits", epsilon=1),
        lambda session: session.table("visits").count().release(epsilon=1000),
        lambda session: session.table("visits").count().release(epsilon=1e-12),
        lambda session: session.table("visits").group_by("note").agg(n=dp.count()).release(epsilon=1),
    )
    for attempt in attempts:
        found = []
        for session in both:
            with pytest.raises(dp.Refusal) as refused:
                attempt(session)
            found.append((type(refused.value), str(refused.value)))
        assert found[0] == found[1]
    with pytest.raises(LimitExceeded) as refused:
        both[1].table("visits").count().release(epsilon=1000)
    assert refused.value.requested > refused.value.remaining
    assert set(refused.value.offer) == {"epsilon"}


def test_what_needs_the_vault_itself_is_refused_in_words(both):
    with pytest.raises(dp.Refusal, match="behind a server"):
        both[1].pmw(epsilon=1)


def test_a_fresh_answer_is_paid_once_though_the_connection_breaks(vault):
    class Breaking(httpx.BaseTransport):
        def __init__(self):
            self.inner, self.broken = SyncTransport(vault.app), 0

        def handle_request(self, request):
            response = self.inner.handle_request(request)
            if request.url.path == "/v1/run" and self.broken < 2:
                self.broken += 1
                raise httpx.ReadError("gone")
            return response

    desk = RemoteDesk("http://localhost", vault.tokens["analyst"], transport=Breaking())
    from discreet.curator.session import Session

    before = len(vault.session().releases())
    Session(desk).table("visits").count().release(epsilon=0.01, fresh=True)
    assert len(vault.session().releases()) == before + 1


def test_a_grant_that_ends_closes_the_session(vault):
    token = vault.curator.grant("eve", "visits")
    vault.tokens["eve"] = token
    session = vault.session("eve")
    session.table("visits")
    vault.curator.revoke("eve")
    with pytest.raises(AccessRefused):
        session.remaining()


@pytest.mark.parametrize(
    "url", ["http://example.org", "http://10.0.0.1:8080", "https://u:p@host", "https://h?x=1", "https://"]
)
def test_tokens_do_not_cross_a_network_in_the_clear(url):
    with pytest.raises(BadParameter):
        check_address(url)
    assert check_address("http://127.0.0.1:8080/") == "http://127.0.0.1:8080"
    assert check_address("https://vault.example.org/api") == "https://vault.example.org/api"


def test_redirects_are_not_followed_and_strangers_are_told_apart():
    seen = []

    def answered(request):
        seen.append(request.url.host)
        return httpx.Response(302, headers={"location": "http://elsewhere.example.org/"})

    desk = RemoteDesk("http://localhost", "token", transport=httpx.MockTransport(answered))
    with pytest.raises(Unreachable):
        desk.tables()
    assert set(seen) == {"localhost"}
    desk = RemoteDesk(
        "http://localhost", "token", transport=httpx.MockTransport(lambda _: httpx.Response(200, text="<p>"))
    )
    with pytest.raises(Unreachable):
        desk.tables()


def test_a_server_that_is_not_there_is_said_so():
    with pytest.raises(Unreachable, match="discreet serve"):
        dp.connect("http://127.0.0.1:9", "token")
