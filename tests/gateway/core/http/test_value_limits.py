"""Depth, number and names of values have limits, and each refusal says which."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import Malformed
from gateway.core.http import strict_parsers
from gateway.core.http.value_limits import (
    MAX_DEPTH,
    MAX_ITEMS,
    MAX_NAME,
    MAX_VALUES,
    check_json_text,
    check_values,
    path_below,
)
from tests.kit.growth import work

MANY = MAX_VALUES + 1

TOO_MANY: dict[str, tuple[str, bytes]] = {
    "a JSON list": ("json", b"[" + b"0," * MAX_ITEMS + b"0]"),
    "JSON lists in a list": ("json", b"[" + b"[0,0]," * (MANY // 2) + b"0]"),
    "a JSON map": ("json", b"{" + b",".join(b'"%d":0' % number for number in range(MAX_ITEMS + 1)) + b"}"),
    "empty JSON lists": ("json", b"[" + b"[]," * MANY + b"[]]"),
    "commas after an escaped quote": ("json", b'["\\"",' + b"0," * MANY + b"0]"),
    "XML elements": ("xml", b"<a>" + b"<b/>" * (2 * MANY) + b"</a>"),
    "XML elements of one parent": ("xml", b"<a>" + b"<b/>" * (MAX_ITEMS + 1) + b"</a>"),
    "XML attributes": ("xml", b"<a " + b" ".join(b'b%d=""' % number for number in range(MANY)) + b"/>"),
    "a CBOR list": ("cbor", b"\x9a" + (MAX_ITEMS + 1).to_bytes(4, "big") + b"\x00" * (MAX_ITEMS + 1)),
    "a CBOR list without a length": ("cbor", b"\x9f" + b"\x00" * 7 * MAX_VALUES + b"\xff"),
    "empty pieces of CBOR text": ("cbor", b"\x7f" + b"\x60" * 7 * MAX_VALUES + b"\xff"),
    "empty CBOR lists": ("cbor", b"\x9f" + b"\x80" * MANY + b"\xff"),
}
PARSERS: dict[str, Any] = {
    "json": strict_parsers.json_value,
    "xml": strict_parsers.xml_root,
    "cbor": strict_parsers.cbor_value,
}


@pytest.mark.parametrize("case", TOO_MANY)
def test_too_many_values_are_refused_in_every_format(case: str) -> None:
    kind, body = TOO_MANY[case]
    with pytest.raises(Malformed, match="values") as refused:
        PARSERS[kind](body)
    assert refused.value.code == "too_many_values"


@pytest.mark.parametrize("body", [b'{"a":[' + b"0," * (MAX_ITEMS - 1) + b"0]}", b'{"a":"' + b"," * MANY + b'"}'])
def test_as_many_as_aws_takes_are_accepted(body: bytes) -> None:
    assert len(strict_parsers.json_value(body)["a"]) >= MAX_ITEMS


@pytest.mark.parametrize("shape", [b"[%s]", b'{"a":%s}', b'[["x"],%s]', b'[{"b":"[[{\\\\\\""},%s]'])
def test_depth_is_counted_outside_strings_only(shape: bytes) -> None:
    def nested(levels: int) -> bytes:
        body = b"0"
        for _ in range(levels):
            body = shape.replace(b"%s", body)
        return body

    strict_parsers.json_value(nested(MAX_DEPTH - 1))
    with pytest.raises(Malformed, match="levels deep"):
        strict_parsers.json_value(nested(MAX_DEPTH + 1))


@pytest.mark.parametrize("name", ["a" * (MAX_NAME + 1), "é" * (MAX_NAME + 1)])
def test_a_long_name_is_refused(name: str) -> None:
    with pytest.raises(Malformed, match="name or a map key"):
        check_values({"a": [{name: 1}]})


def test_a_path_stays_short() -> None:
    path = ""
    for _ in range(10_000):
        path = path_below(path, "." + "a" * 10_000)
    assert len(path) <= 2 * MAX_NAME


@given(st.text(alphabet='[]{}",\\ a0', max_size=300))
def test_the_scan_of_any_text_looks_at_each_character_once(text: str) -> None:
    def scan() -> None:
        try:
            check_json_text("[" * 70 + '"' + text)
        except Malformed:
            return

    assert work(scan) <= 40 * (len(text) + 100)
