"""Records: versioned JSON that is read strictly."""

import json

import pytest

from discreet.core.errors import BadParameter
from discreet.core.record import VERSION, fields, read, write


def test_what_is_written_is_read_back():
    assert read("unit", write("unit", {"a": [1, "ü"]})) == {"a": [1, "ü"]}


@pytest.mark.parametrize("text", ["", "{", "nonsense", None, 3, pytest.param("[" * 100_000, id="nested")])
def test_what_is_not_json_is_refused(text):
    with pytest.raises(BadParameter, match="not JSON"):
        read("unit", text)


@pytest.mark.parametrize("version", [VERSION + 1, 0, "1", True, None, 1.0])
def test_another_version_is_refused_by_name(version):
    with pytest.raises(BadParameter) as refused:
        read("unit", json.dumps({"discreet": version, "unit": {}}))
    assert refused.value.value == version


@pytest.mark.parametrize("text", ["[]", "1", '{"discreet": 1}', '{"discreet": 1, "column": {}}'])
def test_another_kind_of_value_is_refused(text):
    with pytest.raises(BadParameter, match="exactly the fields discreet, unit"):
        read("unit", text)


@pytest.mark.parametrize("record", [{"a": 1}, {"a": 1, "b": 2, "c": 3}, [], None, "ab"])
def test_a_field_too_few_or_too_many_is_refused(record):
    with pytest.raises(BadParameter, match="exactly the fields a, b"):
        fields("thing", record, ("a", "b"))


def test_what_json_cannot_say_is_not_written():
    with pytest.raises(ValueError, match="not JSON compliant"):
        write("unit", {"a": float("nan")})
