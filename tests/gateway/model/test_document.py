"""JSON documents in texts: what is one, what is ambiguous, and their strings one at a time."""

import json

import pytest

from gateway.model.document import is_ambiguous, is_document, looks_like_document, with_strings


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
