"""Collections: signed, read back, and refused when anything about them was changed."""

import json
from fractions import Fraction

import pytest

from discreet import local
from discreet.core.errors import BadParameter, UnknownName
from discreet.local.collection import Collection, NotSigned, new_key, read, sign

PROTOCOLS = [
    local.unary(k=100, epsilon=1),
    local.unary(k=5, epsilon=Fraction(1, 3), symmetric=True),
    local.randomized_response(k=4, epsilon=1),
    local.local_hash(k=50, epsilon=2),
    local.hadamard(k=1000, epsilon=1),
]
KEY = new_key()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_what_was_signed_is_read_back(protocol):
    made = Collection("start pages", protocol, epochs=7, minimum=1000, revision=2)
    found = read(sign(made, KEY))
    assert (found.name, found.protocol, found.epochs, found.minimum, found.revision) == (
        "start pages",
        protocol,
        7,
        1000,
        2,
    )
    assert read(sign(made, KEY), key=found.key.upper()) == found
    assert len(found.hash) == 32


def test_the_hash_tells_apart_all_that_matters():
    protocol = PROTOCOLS[0]
    made = [
        Collection("a", protocol),
        Collection("b", protocol),
        Collection("a", protocol, epochs=2),
        Collection("a", protocol, minimum=2),
        Collection("a", protocol, revision=2),
        Collection("a", PROTOCOLS[1]),
    ]
    signed = [read(sign(each, KEY)) for each in made]
    others = [read(sign(made[0], new_key()))]
    assert len({each.hash for each in signed + others}) == 7
    assert read(sign(made[0], KEY)).hash == signed[0].hash


def changed(text, change):
    signed = json.loads(text)
    change(signed)
    return json.dumps(signed)


@pytest.mark.parametrize(
    "change",
    [
        lambda signed: signed["collection"].update(name="another"),
        lambda signed: signed["collection"].update(epochs=2),
        lambda signed: signed["collection"].update(minimum=2),
        lambda signed: signed["collection"]["protocol"].update(k=101),
        lambda signed: signed["collection"].update(key="ab" * 32),
        lambda signed: signed.update(signature="00" * 64),
        lambda signed: signed.update(signature="nonsense"),
        lambda signed: signed.update(signature=None),
    ],
)
def test_whatever_was_changed_no_longer_fits_its_signature(change):
    text = sign(Collection("a", PROTOCOLS[0]), KEY)
    with pytest.raises(NotSigned, match="signature"):
        read(changed(text, change))


def test_a_collection_that_somebody_else_signed_is_refused_where_the_key_is_known():
    key = read(sign(Collection("a", PROTOCOLS[0]), KEY)).key
    with pytest.raises(NotSigned, match="another key"):
        read(sign(Collection("a", PROTOCOLS[0]), new_key()), key=key)


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (lambda signed: signed["collection"].pop("minimum"), "exactly the fields"),
        (lambda signed: signed["collection"].update(more=1), "exactly the fields"),
        (lambda signed: signed["collection"].update(version=2), "version=2"),
        (lambda signed: signed["collection"].update(version=True), "version=True"),
        (lambda signed: signed["collection"].update(epochs=1.0), "epochs"),
        (lambda signed: signed["collection"].update(minimum=0), "minimum"),
        (lambda signed: signed["collection"].update(name=""), "name"),
        (lambda signed: signed["collection"].update(key="short"), "key"),
        (lambda signed: signed["collection"].update(protocol=7), "protocol"),
        (lambda signed: signed["collection"]["protocol"].update(protocol="unknown"), "protocol"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused_before_its_signature_is_looked_at(change, refusal):
    text = sign(Collection("a", PROTOCOLS[0]), KEY)
    with pytest.raises((BadParameter, UnknownName), match=refusal):
        read(changed(text, change))


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"collection": 1, "signature": 2}'])
def test_a_text_that_is_no_collection_is_refused(text):
    with pytest.raises(BadParameter):
        read(text)


@pytest.mark.parametrize("given", [{"name": "a/b"}, {"name": "x" * 65}, {"epochs": 0}, {"epochs": 2**21}])
def test_parameters_that_make_no_sense_are_refused(given):
    with pytest.raises(BadParameter, match=next(iter(given))):
        Collection(**{"name": "a", "protocol": PROTOCOLS[0]} | given)


def test_a_text_nested_without_end_is_refused():
    with pytest.raises(BadParameter, match="JSON"):
        read("[" * 200_000)
