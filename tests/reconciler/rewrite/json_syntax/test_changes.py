"""Members and items are added, removed and replaced; all other bytes stay."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.json_syntax.tree import JsonArray, JsonObject, parse_tree
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.json_syntax.changes import END, JsonChanges, JsonStyle, style_of

LINES = '{\n  "a": [\n    1,\n    2,\n    3\n  ],\n  "b" : { "c": "x" }\n}\n'


def _changes(text: str) -> tuple[JsonChanges, JsonObject]:
    root = parse_tree(Path("x"), text.encode())
    assert isinstance(root, JsonObject)
    return JsonChanges(text.encode(), style_of(text.encode(), root)), root


@pytest.mark.parametrize(
    ("removed", "added", "after"),
    [
        ((), {END: 4}, "1,\n    2,\n    3,\n    4"),
        ((), {-1: 0}, "0,\n    1,\n    2,\n    3"),
        ((), {0: 9, 1: 8}, "1,\n    9,\n    2,\n    8,\n    3"),
        ((0,), {}, "2,\n    3"),
        ((1,), {}, "1,\n    3"),
        ((1, 2), {}, "1"),
        ((2,), {2: 7}, "1,\n    2,\n    7"),
        ((0, 1, 2), {END: 7}, "7"),
    ],
)
def test_items_of_a_list(removed: tuple[int, ...], added: dict[int, Json], after: str) -> None:
    changes, root = _changes(LINES)
    holder = root.members[0].value
    assert isinstance(holder, JsonArray)
    for index in removed:
        changes.remove(holder, index)
    for where, value in added.items():
        changes.add(holder, None, value, where)
    assert changes.result(root).decode() == LINES.replace("1,\n    2,\n    3", after)


def test_members_of_objects_and_of_what_is_empty() -> None:
    changes, root = _changes(LINES)
    inner = root.members[1].value
    assert isinstance(inner, JsonObject)
    changes.add(inner, "d", {"e": 1})
    changes.add(root, "f", [])
    expected = LINES.replace('{ "c": "x" }', '{ "c": "x", "d": {\n    "e": 1\n  } }').replace(
        "} }\n}", '} },\n  "f": []\n}'
    )
    assert changes.result(root).decode() == expected
    assert not changes.is_empty_after(inner)
    changes, root = _changes('{"a": {"b": 1}}')
    inner = root.members[0].value
    assert isinstance(inner, JsonObject)
    changes.remove(inner, 0)
    assert changes.is_empty_after(inner)
    assert changes.result(root) == b'{"a": {}}'


def test_of_a_string_only_what_differs_is_written() -> None:
    text = '{"a": "\\u0041\\/b\\ud83d\\ude00c"}'
    changes, root = _changes(text)
    changes.replace(root.members[0].value, "A/x\N{GRINNING FACE}c")
    assert changes.result(root).decode() == text.replace("/b", "/x")
    changes, root = _changes('{"a": "aaa"}')
    changes.replace(root.members[0].value, "aa")
    assert changes.result(root) == b'{"a": "aa"}'


def test_a_value_becomes_the_first_of_a_list() -> None:
    changes, root = _changes('{\n  "a": {"b": 1}\n}')
    changes.listed(root.members[0].value, [{"b": 2}])
    assert changes.result(root).decode() == '{\n  "a": [{"b": 1}, {"b": 2}]\n}'


VALUE: Json = {"a": [1, "b"], "c": {}, "d": [{"e": None}]}


def _style(text: str) -> JsonStyle:
    return style_of(text.encode(), parse_tree(Path("x"), text.encode()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('{"x":1,"y":[1,2]}', '{"a":[1,"b"],"c":{},"d":[{"e":null}]}'),
        ('{"x": 1, "y": [1, 2]}', '{"a": [1, "b"], "c": {}, "d": [{"e": null}]}'),
        (
            '{\n    "x": 1\n}',
            '{\n    "a": [1, "b"],\n    "c": {},\n    "d": [\n        {\n            "e": null\n        }\n    ]\n}',
        ),
        (
            '{\r\n\t"x" : [\r\n1\r\n]\r\n}',
            '{\r\n\t"a" : [\r\n\t\t1,\r\n\t\t"b"\r\n\t],\r\n\t"c" : {},\r\n\t"d" : [\r\n\t\t{\r\n\t\t\t"e" : null\r\n\t\t}\r\n\t]\r\n}',
        ),
        ("{}", '{\n  "a": [1, "b"],\n  "c": {},\n  "d": [\n    {\n      "e": null\n    }\n  ]\n}'),
    ],
)
def test_values_are_written_as_the_file_is(text: str, written: str) -> None:
    assert _style(text).text(VALUE, "") == written


def test_half_a_character_is_refused() -> None:
    with pytest.raises(CannotEdit, match="half of a character"):
        _style("{}").text("\ud800", "")
