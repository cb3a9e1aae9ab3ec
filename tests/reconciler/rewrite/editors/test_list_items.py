"""Lists keep the lines and comments of the items that stay; one item is added or removed, whatever it is."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.list_items import append_item, remove_item
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource

_SHARED = '  x = ["a",\n    "b", # two\n  "c"]\n'


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = [1, 2]\n", "x", [2, 3], "  x = [2, 3]\n"),
        ("  x = []\n", "x", ["a"], '  x = ["a"]\n'),
        ('  x = ["a"] # c\n', "x", [], "  x = [] # c\n"),
        (
            '  x = [\n    "a", # one\n    # two\n    "b",\n  ]\n',
            "x",
            ["b", "c"],
            '  x = [\n    # two\n    "b",\n    "c",\n  ]\n',
        ),
        ('  x = [\n    "a",\n    "b"\n  ]\n', "x", ["a", "b", "c"], '  x = [\n    "a",\n    "b",\n    "c"\n  ]\n'),
        ('  x = [\n    "a",\n    # end\n  ]\n', "x", ["b"], '  x = [\n    "b",\n    # end\n  ]\n'),
        ('  x = toset(["b", "a"])\n', "x", ["a", "c"], '  x = toset(["a", "c"])\n'),
        ('  x = [\n    "a", "b",\n    "c"\n  ]\n', "x", ["a", "c", "d"], '  x = [\n    "a", "c", "d"\n  ]\n'),
        (
            '  x = [\n    "a", "b",\n    "c", "d",\n  ]\n',
            "x",
            ["a", "b", "d"],
            '  x = [\n    "a", "b",\n    "d",\n  ]\n',
        ),
        (
            '  x = [\n    "a", "b",\n    "c",\n  ]\n',
            "x",
            ["a", "b", "c", "d"],
            '  x = [\n    "a", "b",\n    "c", "d",\n  ]\n',
        ),
        ('  x = ["a",\n  "b"]\n', "x", ["a", "c"], '  x = ["a",\n  "c"]\n'),
        (_SHARED, "x", ["a", "b", "d"], _SHARED.replace('"c"', '"d"')),
        (_SHARED, "x", ["d", "b", "c"], _SHARED.replace('"a"', '"d"')),
        (_SHARED, "x", ["a", "d", "c", "e"], _SHARED.replace('"b"', '"d"').replace('"c"', '"c", "e"')),
        (_SHARED, "x", ["a", "b"], '  x = ["a",\n    "b" # two\n  ]\n'),
        (_SHARED, "x", ["a", "c"], '  x = ["a",\n  "c"]\n'),
        (_SHARED, "x", ["a"], '  x = ["a"]\n'),
        (_SHARED, "x", ["d", "e", "f"], '  x = ["d",\n    "e", # two\n  "f"]\n'),
        ('  x = [ # c\n    "a", "b"\n  ]\n', "x", ["c"], '  x = [ # c\n    "c"\n  ]\n'),
    ],
)
def test_what_is_written(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


@pytest.mark.parametrize(
    ("before", "path", "value", "reason"),
    [
        ("  x = [var.a, 1]\n", "x", [2], "calculated"),
        ('  x = ["a"]\n', "x", "b", "not a list"),
        ('  x = [ # c\n    "a", "b"\n  ]\n', "x", [], "one item on a line"),
        ("  x = [1 /* c */]\n", "x", [2], "comments"),
    ],
)
def test_what_is_refused(before: str, path: str, value: Json, reason: str, tmp_path: Path) -> None:
    assert reason in edited_attribute(tmp_path, before, path, value)


def _list(text: str) -> tuple[Document, e.Tuple]:
    document = parse(Path("x.tf"), f"x = {text}\n".encode())
    node = read_attribute(document, document.attributes(document.root)["x"])
    assert isinstance(node, e.Tuple)
    return document, node


@pytest.mark.parametrize(
    ("before", "position", "after"),
    [
        ("[a.b, 2, {}]", 0, "[2, {}]"),
        ("[a.b, 2, {}]", 2, "[a.b, 2]"),
        ("[a.b]", 0, "[]"),
        ("[\n  1,\n  2, # two\n  3\n]", 1, "[\n  1,\n  3\n]"),
        ("[\n  1, 2\n]", 0, "[\n  2\n]"),
        ("[\n  1, 2\n]", 1, "[\n  1\n]"),
        ("[1,\n  2, # two\n3]", 1, "[1,\n3]"),
        ("[1,\n  2, # two\n3]", 2, "[1,\n  2 # two\n]"),
    ],
)
def test_an_item_is_removed(before: str, position: int, after: str) -> None:
    document, node = _list(before)
    assert remove_item(document, node, position).apply(document.source) == f"x = {after}\n".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", "[9]"),
        ("[1]", "[1, 9]"),
        ("[\n  1,\n]", "[\n  1,\n  9,\n]"),
        ("[\n  1, # one\n]", "[\n  1, # one\n  9,\n]"),
        ("[\n  1\n]", "[\n  1,\n  9\n]"),
        ("[\n  1, 2\n]", "[\n  1, 2, 9\n]"),
        ("[1,\n2]", "[1,\n2, 9]"),
    ],
)
def test_an_item_is_added(before: str, after: str) -> None:
    document, node = _list(before)
    assert append_item(document, node, "9").apply(document.source) == f"x = {after}\n".encode()


def test_what_is_not_certain_is_refused() -> None:
    document, node = _list("[\n  1 # last\n]")
    with pytest.raises(CannotEdit, match="comment follows"):
        append_item(document, node, "9")
