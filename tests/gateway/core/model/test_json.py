"""The canonical JSON: one form for each value, and an error for anything that is not JSON."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import (
    canonical,
    canonical_again,
    digest,
    is_ambiguous,
    is_document,
    looks_like_document,
    strict_json,
    to_json,
    with_strings,
    written_once,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON, min_size=2))
def test_the_order_of_members_does_not_matter(value: dict[str, object]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (b"\x00\xff", b'"AP8="'),
        (datetime(2026, 1, 2, 3, tzinfo=timezone(timedelta(hours=1))), b'"2026-01-02T02:00:00Z"'),
        (Decimal("4.0"), b"4"),
        (Decimal("4.5"), b"4.5"),
        ({"b", "a"}, b'["a","b"]'),
        ({"b": 1, "a": ("x", None)}, b'{"a":["x",null],"b":1}'),
        ("é", '"é"'.encode()),
    ],
)
def test_each_kind_of_value_has_one_form(value: object, form: bytes) -> None:
    assert canonical(value) == form


class _Color(StrEnum):
    RED = "röd"


_ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.sampled_from(['\x00\x1f\x7f\u2028 "\\/', 10**30, 1e16, 1e-5, -0.0, _Color.RED, "\U0001f600\uffff"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(max_size=8) | st.sampled_from(["\uffff", "\U0001f600", _Color.RED]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(_ANYTHING)
def test_it_is_written_as_python_does(value: object) -> None:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert canonical(value) == text.encode()


@pytest.mark.parametrize("value", [{1: "a", 2: 0.5}, {None: 1}, {True: 1}])
def test_a_key_that_is_no_text_becomes_one(value: dict[object, object]) -> None:
    assert canonical(value) == json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@pytest.mark.parametrize("value", ["\ud800", {"\ud800": 1}, ["\ud800", 0.5]])
def test_a_text_that_utf_8_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(UnicodeEncodeError):
        canonical(value)


def test_a_value_without_a_form_is_refused() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_json(object())


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


def test_a_digest_tells_values_apart() -> None:
    assert digest([1]) != digest(["1"])
    assert len(digest(datetime(2026, 1, 1, tzinfo=UTC))) == 64


@pytest.mark.parametrize("text", ["{}", "[]", ' {"a": [1, 2.50, -0, null]}\n', '{"n": ' + "9" * 10_000 + "}", '{"a": {"a": 1}}'])  # fmt: skip
def test_a_document(text: str) -> None:
    assert is_document(text)
    assert not is_ambiguous(text)


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '[{"a": {"b": 1, "\\u0062": 1}}]', "[" * 100_000])
def test_what_readers_differ_on_is_ambiguous(text: str) -> None:
    assert is_ambiguous(text)
    assert not is_document(text)


@pytest.mark.parametrize("text", ["", "a", '"a"', "1", "{", '{"a": NaN}', "{'a': 1}", '{"a": 1} x', "\ufeff{}", '{"a": 1,}'])  # fmt: skip
def test_other_texts_are_neither(text: str) -> None:
    assert not is_document(text)
    assert not is_ambiguous(text)


def test_what_only_begins_as_a_document() -> None:
    assert looks_like_document(" \n{oops")
    assert looks_like_document("[")
    assert not looks_like_document("a{")


def test_each_string_comes_with_the_name_of_its_member() -> None:
    seen: list[tuple[str, str]] = []

    def note(name: str, string: str) -> str:
        seen.append((name, string))
        return string

    text = '{ "a" : "x", "b": ["y", "z"], "c": {"d": 1, "e": "\\"{\\n"}, "\\u0066": ""}'
    assert with_strings(text, note) == text
    assert seen == [
        ("", "a"), ("a", "x"), ("", "b"), ("", "y"), ("", "z"), ("", "c"), ("", "d"), ("", "e"), ("e", '"{\n'), ("", "f"), ("f", ""),
    ]  # fmt: skip


def test_whatever_replaces_a_string_the_structure_stays() -> None:
    text = '{"a": ["x", {"b": "y\\u0000"}], "n": 1.50e3}'
    found = with_strings(text, lambda _, string: string if string in ("a", "b", "n") else '"}],\\')
    assert json.loads(found) == {"a": ['"}],\\', {"b": '"}],\\'}], "n": 1500.0}
    assert "1.50e3" in found


@given(
    st.recursive(
        JSON | st.floats(allow_nan=False, allow_infinity=False), lambda inner: st.lists(inner, max_size=4), max_leaves=8
    )
)
def test_strict_json_is_written_as_python_does(value: object) -> None:
    try:
        written = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        with pytest.raises(UnicodeEncodeError):
            strict_json(value)
    else:
        assert strict_json(value) == written


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("-inf"),
        [{"x": float("nan")}],
        b"bytes",
        datetime(2026, 1, 2, tzinfo=UTC),
        {"x": {1, 2}},
        Decimal(1),
        "\ud800",
    ],
)
def test_strict_json_refuses_what_is_no_json(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        strict_json(value)


def test_a_thread_that_has_written_nothing_knows_how_nothing_is_written() -> None:
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(written_once, None).result() == canonical(None)


def test_a_document_is_written_once_and_never_taken_for_another() -> None:
    first, alike = {"b": 1, "a": [None]}, {"b": 1, "a": [None]}
    assert written_once(first) == canonical(first)
    assert written_once(first) is written_once(first)
    assert canonical_again(first) is written_once(first)
    assert written_once(alike) is not canonical_again(first)
    with pytest.raises(TypeError):
        written_once({"x": b"bytes"})
    assert canonical_again(alike) == canonical(first)
    assert canonical_again({"x": b"bytes"}) == b'{"x":"Ynl0ZXM="}'
