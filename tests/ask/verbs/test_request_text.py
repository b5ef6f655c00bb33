"""Requests as text: every plan of the fuzzer comes back, and nothing else is read."""

import copy
import json
from fractions import Fraction

import pytest

import discreet as dp
from discreet.account.budgets.price import Price
from discreet.ask.query import Query
from discreet.ask.report import Report
from discreet.ask.request import AskTerms, DeskRequest, SynthesisTerms
from discreet.ask.sql import spoken
from discreet.ask.steps.sql_question import SqlQuestion
from discreet.ask.verbs import registry, verb_of
from discreet.ask.verbs.request_text import MOST_BYTES, MOST_DEPTH, depth_of, read_request, request_record, request_text
from discreet.core.errors import Refusal
from discreet.plan.keys import NO_KEYS
from discreet.plan.nodes import Scan, columns_of
from tests.ask.desks import Declared
from tests.plan import worlds

OPERATORS = [
    *([each] for each in ("filter", "derive", "join", "join numbers", "project", "union", "meet", "meet itself")),
    *(["meet outer"], ["exists"], ["exists itself"], ["exists not"]),
    *(["meet union"], ["meet public"], ["meet twice"], ["join", "derive", "filter"], ["union", "filter"]),
]
PRICES = [
    Price.of(epsilon=Fraction(1, 3)),
    Price.of(epsilon=0.5, delta=1e-9),
    Price.of(rho=Fraction(1, 7)),
]
AGGREGATES = {
    "n": dp.count(),
    "m": dp.mean(worlds.N * 3 - 5),
    "q": dp.quantile("n", 0.25, 0.75),
    "s": dp.sum(worlds.X),
    "p": dp.people(),
}


def desk_of(seed, kind="rows"):
    chance = worlds.Chance("requests", seed)
    world = worlds.world_of(chance, worlds.unit_of(chance, kind), people=1)
    return chance, Declared({name: data.table for name, data in world.items()})


def keys_of(chance, desk, plan):
    """Keys as a question may have them: bins belong to histograms."""
    tables = {name: desk.declared[name] for name in desk.declared}
    drawn = [worlds.keys_among(chance, columns_of(plan, tables)) for _ in range(20)]
    keys = next(each for each in drawn if all(key.edges is None for key in each.columns))
    return None if keys == NO_KEYS else keys


@pytest.mark.parametrize("seed", range(8))
def test_every_plan_of_the_fuzzer_survives_the_round_trip(seed):
    for place, operators in enumerate(OPERATORS):
        chance, desk = desk_of((seed, place))
        plan = worlds.plan_of(chance, operators)
        report = Report.of(Query(desk, plan, keys_of(chance, desk, plan)), AGGREGATES).weighted(n=2, m=Fraction(1, 3))
        spec = chance.choice([AskTerms(), AskTerms(1), AskTerms("auto", 10, sql=True)])
        request = DeskRequest("ask", report, spec, chance.choice(PRICES))
        text = request_text(request)
        back = read_request(text, desk)
        assert request_text(back) == text
        assert (back.spec, back.price, back.question.weights) == (spec, request.price, report.weights)
        assert back.question.query.keys == report.query.keys
        assert [name for name, _ in back.question.aggregates] == list(AGGREGATES)


def test_a_question_that_comes_back_is_the_same_to_the_ledger():
    _, desk = desk_of("ledger")
    text = "SELECT ward, COUNT(*) AS n, MEDIAN(n) AS m FROM t WHERE n > 3 GROUP BY ward"
    report = spoken(desk, text, 1, None, None, None).report
    back = read_request(request_text(DeskRequest("ask", report, AskTerms(), PRICES[0])), desk)
    assert back.question.asked(1).question == report.asked(1).question


def test_every_aggregate_survives_the_round_trip():
    _, desk = desk_of("aggregates")
    t = Query(desk, Scan("t"))
    asked = [
        *(AGGREGATES.values()),
        *(dp.sum("x"), dp.median("day"), dp.quantile(worlds.X * 2, 0.1), dp.count("note")),
        *(discrete(t) for discrete in (lambda _: _histogram("level", keys=[3, 1]), lambda _: _histogram("n", [0, 10]))),
        *(_made("cdf", "n", (10, 20)), _made("top_k", "ward", 2), _made("covariance", "x", "n"), _made("min", "x")),
        *(_made("variance", "x"), _made("std", "n"), _made("correlation", "x", "n"), _made("max", "day")),
    ]
    for each in asked:
        request = DeskRequest("ask", Report.of(t, {"a": each}), AskTerms(), PRICES[0])
        back = read_request(request_text(request), desk)
        assert dict(back.question.aggregates)["a"] == each


def _made(word, *parameters):
    from discreet.plan import aggregates

    return getattr(aggregates, word)(*parameters)


def _histogram(of, edges=None, keys=None):
    from discreet.plan.aggregates import histogram

    return histogram(of, edges, keys)


def test_questions_in_sql_and_terms_of_synthetic_data_survive_the_round_trip():
    _, desk = desk_of("others")
    sql = SqlQuestion(desk, "SELECT COUNT(*) FROM t", {"note": ["a", 3, Fraction(1, 3)]}, (worlds.WARDS,))
    zeros = [{"n": range(12), "ill": True}, {"ward": ["A", None], "x": Fraction(1, 2)}]
    terms = SynthesisTerms("mst", [["n", "ill"]], 8, ["n", "ill"], zeros)
    requests = [
        DeskRequest("sql", sql, AskTerms(), None),
        DeskRequest("synthesize", Query(desk, Scan("t")), terms, PRICES[1]),
        DeskRequest("synthesize", Query(desk, Scan("t")), SynthesisTerms("auto", 2, 32, None, []), PRICES[1]),
    ]
    for request in requests:
        text = request_text(request)
        back = read_request(text, desk)
        assert request_text(back) == text
    assert read_request(request_text(requests[1]), desk).spec == terms
    assert read_request(request_text(requests[0]), desk).question == sql


def plain():
    _, desk = desk_of("plain")
    report = Query(desk, Scan("t")).group_by("ward").agg(n=dp.count())
    return desk, request_record(DeskRequest("ask", report, AskTerms(), PRICES[0]))


def changed(record, path, value):
    found = copy.deepcopy(record)
    *steps, last = path
    inner = found
    for step in steps:
        inner = inner[step]
    if value == DELETED:
        del inner[last]
    else:
        inner[last] = value
    return found


DELETED = "<deleted>"
COUNT = {"aggregate": "count", "of": None}
WARD = {"name": "ward", "of": "ward", "values": ["A"], "edges": None}
WRONG = [
    (("discreet",), 2),
    (("discreet",), True),
    (("verb",), "asks"),
    (("verb",), ["ask"]),
    (("verb",), "verb"),
    (("verb",), "__init__"),
    (("question",), DELETED),
    (("question",), []),
    (("question", "more"), 1),
    (("question", "plan"), {"node": "scan", "table": "no such"}),
    (("question", "plan"), {"node": "scan", "table": ["t"]}),
    (("question", "plan"), {"node": "filter", "source": {"node": "scan", "table": "t"}, "predicate": {"name": "x"}}),
    (("question", "keys"), {"columns": [WARD], "only": [["B"]]}),
    (("question", "keys"), {"columns": [WARD], "only": []}),
    (("question", "keys"), {"columns": [WARD], "only": [["A"], ["A"]]}),
    (("question", "keys"), {"columns": [{**WARD, "values": ["Z"]}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "values": [1]}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "values": None}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "of": "note"}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "name": "day", "of": "day", "values": [True]}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "name": "day", "of": "day", "values": [10**12]}], "only": None}),
    (("question", "keys"), {"columns": [{**WARD, "name": "n", "of": "n", "values": [10**400]}], "only": None}),
    (
        ("question", "keys"),
        {"columns": [{**WARD, "name": "n", "of": "n", "values": [0, 1], "edges": [1]}], "only": None},
    ),
    (("question", "aggregates"), []),
    (("question", "aggregates"), {"n": COUNT}),
    (("question", "aggregates"), [["n", COUNT], ["n", COUNT]]),
    (("question", "aggregates"), [["n", {"aggregate": "count", "of": 3}]]),
    (("question", "aggregates"), [["n", {"aggregate": "cdf", "of": {"name": "n"}, "thresholds": 5}]]),
    (("question", "aggregates"), [["n", {"aggregate": "cdf", "of": {"name": "n"}, "thresholds": [[1]]}]]),
    (("question", "aggregates"), [["n", {"aggregate": "top_k", "of": {"name": "ward"}, "k": "2"}]]),
    (("question", "aggregates"), [["n", {"aggregate": "quantile", "of": {"name": "n"}, "q": "0.5", "single": True}]]),
    (
        ("question", "aggregates"),
        [["n", {"aggregate": "quantile", "of": {"name": "n"}, "q": [{"number": "1/2"}], "single": "yes"}]],
    ),
    (("question", "weights"), [["n", 2]]),
    (("question", "weights"), [["m", "2"]]),
    (("question", "weights"), [["n", "-1"]]),
    (("spec",), {"max_rows": "all"}),
    (("spec",), {"max_rows": True}),
    (("spec",), {"rows": 0}),
    (("spec",), {"sql": "yes"}),
    (("spec",), {"fresh": True}),
    (("spec",), [1]),
    (("price",), None),
    (("price",), {"epsilon": 1, "rho": 1}),
    (("price",), {"epsilon": "1e999999999"}),
    (("price",), {"epsilon": True}),
    (("price",), {"epsilon": -1}),
    (("price",), {"eps": 1}),
    (("price",), 0.5),
    (("fresh",), True),
]


@pytest.mark.parametrize(("path", "value"), WRONG, ids=[f"{'.'.join(path)} {value!r:.40}" for path, value in WRONG])
def test_what_is_no_request_of_this_release_is_refused(path, value):
    desk, record = plain()
    with pytest.raises(Refusal):
        read_request(json.dumps(changed(record, path, value)), desk)


def test_the_plain_record_that_those_change_is_read():
    desk, record = plain()
    assert request_record(read_request(json.dumps(record), desk)) == record
    short = {"verb": "sql", "question": {"sql": "SELECT COUNT(*) FROM t"}, "price": {"epsilon": 0.1}}
    assert read_request(json.dumps(short), desk).price == Price.of(epsilon=Fraction(1, 10))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "NaN",
        '{"verb": "ask", "verb": "sql"}',
        '{"verb": "ask", "question": {}, "price": {"epsilon": NaN}}',
        "[" * (MOST_DEPTH + 1) + "]" * (MOST_DEPTH + 1),
        '{"a":' * 100_000,
        b"\xff\xfe",
        " " * (MOST_BYTES + 1),
    ],
    ids=range(10),
)
def test_text_that_is_no_json_too_deep_or_too_long_is_refused_before_it_is_read(text):
    with pytest.raises(Refusal):
        read_request(text, Declared({}))


def test_depth_is_counted_outside_of_texts():
    assert depth_of(b'{"a": ["[[[[", {"b\\"[": 1}]}') == 3


def test_people_of_two_accounts_do_not_meet_in_a_request_either():
    _, desk = desk_of("accounts")
    registered = desk.registered

    def apart(name):
        found = registered(name)
        found.account = name
        return found

    desk.registered = apart
    query = Query(desk, worlds.PersonJoin(Scan("t"), Scan("u"), (), None, (("n2", "n"),)))
    text = request_text(DeskRequest("ask", Report.of(query, {"n": dp.count()}), AskTerms(), PRICES[0]))
    with pytest.raises(Refusal, match="different accounts"):
        read_request(text, desk)


def test_a_verb_is_a_file_and_says_of_itself_what_it_is():
    assert [*registry] == ["ask", "fit", "look", "sql", "synthesize", "watch"]
    for word in registry:
        assert registry.summary(word).startswith(f"{word}: ")
        assert verb_of(word).__doc__


def test_text_of_too_many_words_is_refused_before_it_is_parsed():
    _, desk = desk_of("words")
    text = "SELECT COUNT(*) FROM t WHERE " + " OR ".join(f"n = {number}" for number in range(10_000))
    record = {"verb": "sql", "question": {"sql": text}, "price": {"epsilon": 1}}
    with pytest.raises(Refusal, match="letters and"):
        read_request(json.dumps(record), desk)
