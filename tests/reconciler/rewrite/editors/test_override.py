"""A value stands beside an expression that others share, for one instance or for one call."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import parse
from reconciler.model import Wanted
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.editors.override import conditional, set_beside
from reconciler.rewrite.trace.sites import Only, OverrideSite
from reconciler.rewrite.value_edits import edit_values

BLUE = Only('each.key == "blue"', "local.days")


def _edited(source: str, value: Json, *, key: str = "", only: Only | None = None) -> str:
    document = parse(Path("main.tf"), f"a = {source}\n".encode())
    node = read_attribute(document, document.attributes(document.root)["a"])
    site = OverrideSite(document=document, node=node, key=key, only=only)
    return set_beside(site, value).apply(document.source).decode().strip()


@pytest.mark.parametrize(
    ("source", "value", "key", "only", "result"),
    [
        ("local.tags", "ada", "owner", None, 'a = merge(local.tags, { owner = "ada" })'),
        ("merge(local.tags)", "ada", "owner", None, 'a = merge(local.tags, { owner = "ada" })'),
        ("local.tags", "a", "x", BLUE, 'a = merge(local.tags, each.key == "blue" ? { x = "a" } : {})'),
        ("local.days", 5, "", BLUE, 'a = each.key == "blue" ? 5 : local.days'),
        ("local.days", 5, "", None, "a = 5"),
        ("local.tags", None, "owner", None, 'a = { for key, value in local.tags : key => value if key != "owner" }'),
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
        _edited("local.tags", None, key="owner", only=BLUE)


def _edited_instance(root: Path, body: str, path: str, value: Json) -> str:
    code = f'resource "r" "a" {{\n  count = 2\n  {body}\n}}\n'
    result = edit_values(
        root, [Wanted(address="r.a[1]", attribute=path, value=value)], {Path("main.tf"): code.encode()}
    )
    if result.left:
        return result.left[0].reason
    return result.files[Path("main.tf")].decode().split("\n", 2)[2].strip().removesuffix("}").strip()


@pytest.mark.parametrize(
    ("body", "path", "value", "after"),
    [
        ("x = 1", "x", 2, "x = count.index == 1 ? 2 : 1"),
        ('x = ["a"]', "x", ["b"], 'x = count.index == 1 ? ["b"] : ["a"]'),
        ("x = merge({ a = 1 }, {})", "x.b", 2, "x = merge({ a = 1 }, {}, count.index == 1 ? { b = 2 } : {})"),
    ],
)
def test_one_instance_differs(body: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert _edited_instance(tmp_path, body, path, value) == after


def test_an_entry_is_not_taken_from_one_instance(tmp_path: Path) -> None:
    assert "r.a[0]" in _edited_instance(tmp_path, "x = { a = 1 }", "x.a", None)
