"""The parts all protocols share: specs, reports, sketches, estimates and clients."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet import local
from discreet.core.errors import BadParameter, Refusal, UnknownName
from discreet.local.estimate import Estimate
from discreet.local.protocol import Protocol, canonical, parts, quantile
from discreet.local.reports import Reports
from discreet.local.sketch import Sketch

P = local.unary(k=10, epsilon=1)


def test_a_spec_is_plain_json_with_exact_numbers():
    spec = P.spec()
    assert spec["protocol"] == "unary"
    assert spec["kept"] == {"fraction": "1/2"}
    assert json.loads(canonical(spec)) == spec
    assert local.unary(k=10, epsilon=1.0).spec_hash == P.spec_hash
    assert local.unary(k=11, epsilon=1).spec_hash != P.spec_hash


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"protocol": "unery"}, UnknownName),
        ({"protocol": None}, UnknownName),
        ({"version": 2}, BadParameter),
        ({"more": 1}, BadParameter),
        ({"kept": {"fraction": "1/0"}}, BadParameter),
        ({"kept": {"fraction": "1/3"}}, BadParameter),
        ({"kept": {"fraction": "1e999999999"}}, BadParameter),
        ({"kept": {"fraction": "0.5"}}, BadParameter),
        ({"kept": {"fraction": "0/1"}}, BadParameter),
        ({"k": 1}, BadParameter),
        ({"k": "ten"}, BadParameter),
        ({"k": True}, BadParameter),
        ({"kept": "0.5"}, BadParameter),
        ({"kept": 1}, BadParameter),
        ({"kept": [1, 2]}, BadParameter),
        ({"epsilon": "1"}, BadParameter),
        ({"epsilon": None}, BadParameter),
    ],
)
def test_a_spec_that_was_changed_is_refused(change, error):
    with pytest.raises(error):
        Protocol.from_spec({**P.spec(), **change})


def test_reports_are_whole_and_of_one_protocol():
    reports = P.encode([1, 2, 3])
    assert len(reports) == 3
    assert (reports + reports).count == 6
    assert Reports(bytes(reports), 3, P.spec_hash) == reports
    assert hash(Reports(bytes(reports), 3, P.spec_hash)) == hash(reports)
    with pytest.raises(BadParameter, match="equal length"):
        Reports(bytes(reports)[:-1], 3, P.spec_hash)
    with pytest.raises(BadParameter, match="another protocol"):
        reports + Reports(bytes(reports), 3, "x")
    with pytest.raises(ValueError, match="read-only"):
        reports.data[0] = 1


def test_no_values_make_no_reports():
    reports = P.encode([])
    assert len(reports) == 0
    assert P.aggregate(reports).reports == 0


def test_sketches_of_another_protocol_are_not_added():
    one, other = P.aggregate(b""), local.unary(k=11, epsilon=1).aggregate(b"")
    with pytest.raises(BadParameter, match="another protocol"):
        one + other


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff",
        b"[]",
        b'{"discreet": 1, "sketch": {"spec": "a", "reports": 1, "rejected": 0}}',
        b'{"discreet": 1, "sketch": {"spec": "a", "reports": 1, "rejected": 0, "counts": [1.5]}}',
        b'{"discreet": 1, "sketch": {"spec": "a", "reports": -1, "rejected": 0, "counts": [1]}}',
        b'{"discreet": 1, "sketch": {"spec": "a", "reports": 1, "rejected": 0, "counts": [9223372036854775808]}}',
        b'{"discreet": 1, "sketch": {"spec": "a", "reports": 1, "rejected": 0, "counts": 3}}',
    ],
)
def test_bytes_that_are_no_sketch_are_refused(data):
    with pytest.raises(BadParameter):
        Sketch.from_bytes(data)


def test_sketches_cannot_be_changed_and_hold_what_they_were_given():
    counts = np.array([1, 2])
    sketch = Sketch("a", counts, 3)
    counts[0] = 9
    assert sketch.counts.tolist() == [1, 2]
    assert sketch == Sketch("a", np.array([1, 2]), 3)
    assert hash(sketch) == hash(Sketch("a", np.array([1, 2]), 3))
    assert sketch != Sketch("b", np.array([1, 2]), 3)


def test_a_short_memo_key_is_refused_without_being_shown():
    with pytest.raises(BadParameter, match="guessed") as refused:
        P.client(memo=b"hunter2")
    assert "hunter2" not in str(refused.value)


def test_keys_and_protocols_have_memos_of_their_own():
    other = local.unary(k=10, epsilon=2)
    reports = [
        protocol.client(memo=key).report(value)
        for protocol in (P, other)
        for key in (b"1" * 16, b"2" * 16)
        for value in range(10)
    ]
    # Reports of 10 bits and 40 independent draws: all equal within a key never happens.
    assert len({tuple(reports[at : at + 10]) for at in range(0, 40, 10)}) == 4


def test_a_refused_value_is_not_shown():
    with pytest.raises(BadParameter) as refused:
        P.encode([3, 77_777])
    assert "77777" not in str(refused.value)
    assert refused.value.value == "2 values"


def test_parts_cover_everything_once():
    found = [(part.start, part.stop) for part in parts(300_000, 100)]
    assert found[0][0] == 0
    assert found[-1][1] == 300_000
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert list(parts(0, 5)) == []


def test_quantiles_are_two_sided():
    assert quantile(0.05) == pytest.approx(1.959964, abs=1e-6)
    with pytest.raises(BadParameter):
        quantile(0)


def estimate(rows=3):
    value = np.arange(rows, dtype=float)
    return Estimate(value, value - 1, value + 1, reports=10, rejected=2, protocol="p", labels=None)


def test_an_estimate_prints_its_rows_and_what_they_mean():
    text = str(estimate())
    assert "10 reports, 2 rejected, each interval holds with probability 0.95, raw, unbiased" in text
    assert len(text.splitlines()) == 5
    assert "(80 more)" in str(estimate(100))
    html = estimate()._repr_html_()
    assert html.count("<tr>") == 4
    assert estimate().to_dict()["rows"][2] == {"name": 2, "value": 2.0, "low": 1.0, "high": 3.0}
    assert json.dumps(estimate().to_dict())


def test_labels_are_escaped_and_the_largest_come_first():
    made = Estimate([1.0, 5.0], [0, 0], [9, 9], reports=1, labels=("<b>", "x"))
    assert "&lt;b&gt;" in made._repr_html_()
    assert made.top(1).names == ("x",)
    with pytest.raises(BadParameter, match="two bounds"):
        Estimate([1.0], [0.0], [1.0, 2.0], reports=1)


def test_an_estimate_draws_itself(tmp_path):
    estimate(100).plot(tmp_path / "bars.svg")
    assert estimate(2).plot().get_figwidth() * 72 >= 450  # points: room for the words below
    assert (tmp_path / "bars.svg").read_text(encoding="utf-8").lstrip().startswith("<?xml")
    with pytest.raises(BadParameter, match="could not be written"):
        estimate().plot(tmp_path / "absent" / "bars.svg")


def test_epsilon_is_kept_as_the_exact_number_it_is():
    assert local.hadamard(k=4, epsilon=0.1).epsilon == Fraction(0.1)
    for wrong in (0, -1, float("nan"), float("inf"), 1e-12, 100, True, "1"):
        with pytest.raises(BadParameter):
            local.hadamard(k=4, epsilon=wrong)
    for wrong in (1, 0, -2, 2.0, 1 << 40):
        with pytest.raises(BadParameter):
            local.hadamard(k=wrong, epsilon=1)


def test_a_client_never_shows_its_key():
    secret = b"sixteen bytes or more of it"
    client = local.unary(k=3, epsilon=1).client(secret)
    assert "sixteen" not in repr(client)
    assert "sixteen" not in str(client)


@pytest.mark.parametrize(
    "protocol", [local.randomized_response(k=3, epsilon=1), local.hadamard(k=3, epsilon=1)], ids=str
)
def test_a_spec_that_costs_more_than_it_says_is_refused(protocol):
    spec = protocol.spec() | {"lie": {"fraction": f"1/{1 << 62}"}}
    with pytest.raises(BadParameter, match="more than it says"):
        Protocol.from_spec(spec)
    assert Protocol.from_spec(protocol.spec() | {"epsilon": {"fraction": "2/1"}}).loss == protocol.loss


@pytest.mark.parametrize("wrong", [None, [[1]], {"a": 1}, "abc", float("nan")], ids=repr)
@pytest.mark.parametrize(
    "protocol", [P, local.rappor(), local.heavy_hitters(1, length=2), local.mean(0, 1, 1)], ids=str
)
def test_a_spec_of_fields_of_other_kinds_is_refused(protocol, wrong):
    for name in set(protocol.spec()) - {"protocol", "version", "candidates", "topic", "alphabet"}:
        with pytest.raises(Refusal):
            Protocol.from_spec(protocol.spec() | {name: wrong})


def test_a_spec_nested_without_end_is_refused():
    spec = local.heavy_hitters(1, length=2).spec()
    for _ in range(2000):
        spec = spec | {"oracle": spec}
    with pytest.raises(BadParameter, match="fields"):
        Protocol.from_spec(spec)


def test_a_mapping_keeps_the_answers_of_each_protocol_apart():
    kept = {}
    local.rappor().client(kept)
    words = local.heavy_hitters(1, length=10, shortest=10, alphabet="aekopry ")
    assert words.client(kept).report("rappor key") != kept["rappor key"]
    for protocol in (P, local.randomized_response(k=10, epsilon=1)):
        said = protocol.client(kept).report(3)
        assert len(said) == protocol.bytes_per_report
        assert protocol.client(kept).report(3) == said
