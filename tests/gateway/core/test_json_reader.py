"""The reader of JSON refuses what other readers would take in several ways, and what has no end."""

import pytest

from gateway.core.json_reader import DEEPEST, JsonFault, JsonRefused, read_json


@pytest.mark.parametrize(
    ("content", "document"),
    [
        (b'{"a": [1, 2.5, "x", null, true]}', {"a": [1, 2.5, "x", None, True]}),
        ('"\u00e4"', "ä"),
        (b"\xef\xbb\xbf{}", {}),
        (b"[" * DEEPEST + b"]" * DEEPEST, None),
        (b" 7 ", 7),
    ],
)
def test_json_is_read(content: bytes | str, document: object) -> None:
    assert document is None or read_json(content) == document
    read_json(content)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", JsonFault.SYNTAX),
        (b"{'a': 1}", JsonFault.SYNTAX),
        (b'{"a": 1} x', JsonFault.SYNTAX),
        (b'{"a": 1, "a": 2}', JsonFault.REPEATED),
        (b'{"a": [{"b": 1, "\\u0062": 2}]}', JsonFault.REPEATED),
        (b"NaN", JsonFault.NUMBER),
        (b"[-Infinity]", JsonFault.NUMBER),
        (b"1e999", JsonFault.NUMBER),
        (b"1" * 5_000, JsonFault.NUMBER),
        (b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1), JsonFault.DEPTH),
        (b'{"a":' * 100_000, JsonFault.DEPTH),
        (b"\xff", JsonFault.ENCODING),
        ("{}".encode("utf-16"), JsonFault.ENCODING),
    ],
)
def test_the_rest_is_refused(content: bytes, fault: JsonFault) -> None:
    with pytest.raises(JsonRefused) as refused:
        read_json(content)
    assert refused.value.fault is fault


def test_limits_are_those_of_the_caller() -> None:
    with pytest.raises(JsonRefused, match="more than 3 bytes"):
        read_json(b"[1, 2]", longest=3)
    with pytest.raises(JsonRefused, match="more than 1 levels"):
        read_json(b"[[1]]", deepest=1)
    assert read_json(b"[1]", deepest=1) == [1]


def test_the_line_of_a_mistake_is_said() -> None:
    with pytest.raises(JsonRefused) as refused:
        read_json(b'{\n"a": 1,\nb}')
    assert refused.value.line == 3
