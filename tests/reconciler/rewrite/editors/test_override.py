"""A value stands beside an expression that others share, for one instance or for one call."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.override import conditional, edit
from reconciler.rewrite.editors.text import CannotEdit
from reconciler.rewrite.place import Only, OverridePlace

BLUE = Only('each.key == "blue"', "local.days")


def _edited(source: str, value: Json, *, key: str = "", only: Only | None = None) -> str:
    document = parse(Path("main.tf"), f"a = {source}\n".encode())
    node = read_attribute(document, document.attributes(document.root)["a"])
    place = OverridePlace(document=document, node=node, key=key, only=only)
    return edit(place, value).apply(document.source).decode().strip()


@pytest.mark.parametrize(
    ("source", "value", "key", "only", "result"),
    [
        ("local.tags", "ada", "owner", None, 'a = merge(local.tags, { owner = "ada" })'),
        ("merge(local.tags)", "ada", "owner", None, 'a = merge(local.tags, { owner = "ada" })'),
        ("local.tags", "a", "x", BLUE, 'a = merge(local.tags, each.key == "blue" ? { x = "a" } : {})'),
        ("local.days", 5, "", BLUE, 'a = each.key == "blue" ? 5 : local.days'),
        ("local.days", 5, "", None, "a = 5"),
        ("local.on", True, "", Only("count.index == 1", "false"), "a = count.index == 1"),
    ],
)
def test_the_expression_stays_for_the_others(
    source: str, value: Json, key: str, only: Only | None, result: str
) -> None:
    assert _edited(source, value, key=key, only=only) == result


def test_what_cannot_be_written_on_a_line_or_taken_away_is_refused() -> None:
    with pytest.raises(CannotEdit, match="several lines"):
        conditional(BLUE, "{\n}")
    with pytest.raises(CannotEdit, match="not taken away"):
        _edited("local.tags", None, key="owner")
