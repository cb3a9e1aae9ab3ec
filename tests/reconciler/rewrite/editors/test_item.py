"""Items of lists are removed and added in the way the list is written."""

from pathlib import Path

import pytest

from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse
from reconciler.rewrite.editors import item
from reconciler.rewrite.editors.text import CannotEdit


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
    ],
)
def test_an_item_is_removed(before: str, position: int, after: str) -> None:
    document, node = _list(before)
    assert item.remove(document, node, position).apply(document.source) == f"x = {after}\n".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[]", "[9]"),
        ("[1]", "[1, 9]"),
        ("[\n  1,\n]", "[\n  1,\n  9,\n]"),
        ("[\n  1, # one\n]", "[\n  1, # one\n  9,\n]"),
        ("[\n  1\n]", "[\n  1,\n  9\n]"),
    ],
)
def test_an_item_is_added(before: str, after: str) -> None:
    document, node = _list(before)
    assert item.append(document, node, "9").apply(document.source) == f"x = {after}\n".encode()


def test_what_is_not_certain_is_refused() -> None:
    document, node = _list("[\n  1, 2\n]")
    with pytest.raises(CannotEdit, match="one item on a line"):
        item.remove(document, node, 0)
    document, node = _list("[\n  1 # last\n]")
    with pytest.raises(CannotEdit, match="comment follows"):
        item.append(document, node, "9")
