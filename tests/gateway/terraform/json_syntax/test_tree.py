"""JSON is read as RFC 8259 says, with the bytes where each value stands."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import JsonArray, JsonNode, JsonObject, line_of, parse_tree

FILE = Path("x.tf.json")
TEXTS = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
)


def _value(node: JsonNode) -> Json:
    if isinstance(node, JsonObject):
        return {member.key: _value(member.value) for member in node.members}
    if isinstance(node, JsonArray):
        return [_value(item) for item in node.items]
    found: Json = json.loads(node.number) if node.number else node.value
    return found


@pytest.mark.slow
@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_every_value_is_read_as_the_standard_library_does(value: Json, indent: int | str | None, ascii_: bool) -> None:
    source = json.dumps(value, indent=indent, ensure_ascii=ascii_).encode()
    assert _value(parse_tree(FILE, source)) == value


def test_values_know_their_bytes() -> None:
    source = '{ "ä" : [1, "b"] }\n'.encode()
    node = parse_tree(FILE, source)
    assert isinstance(node, JsonObject)
    (member,) = node.members
    assert source[member.start : member.end].decode() == '"ä" : [1, "b"]'
    assert isinstance(member.value, JsonArray)
    assert [source[item.start : item.end] for item in member.value.items] == [b"1", b'"b"']
    assert line_of(b"a\nb", 2) == 2


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"", "1: .*a value is missing"),
        (b"{\n,}", "2: .*a string in double quotes is missing"),
        (b'{"a" 1}', "a colon is missing"),
        (b'{"a": 1,}', "a string in double quotes is missing"),
        (b'{"a": 1 "b": 2}', "a comma or `}` is missing"),
        (b"[1,]", "a value is missing"),
        (b"[1 2]", "a comma or `]` is missing"),
        (b'{"a": 01}', "a comma or `}` is missing"),
        (b"{'a': 1}", "a string in double quotes is missing"),
        (b'["a\nb"]', "a character that must be escaped"),
        (b'["\\x"]', "a character that must be escaped"),
        (b"nul", "a value is missing"),
        (b"NaN", "a value is missing"),
        (b"1 2", "something follows the value"),
        (b"\xef\xbb\xbf{}", "a value is missing"),
        (b'"\\ud800"', "half of a Unicode character"),
        (b'"\xff"', "not UTF-8"),
        (b"[" * 200 + b"]" * 200, "nested more than 100 levels"),
    ],
)
def test_what_is_not_json_is_an_error_with_its_line(source: bytes, reason: str) -> None:
    with pytest.raises(CodeInvalid, match=rf"x\.tf\.json:{reason if reason[0].isdecimal() else f'.*{reason}'}"):
        parse_tree(FILE, source)
