"""Lists, sets and objects, in place or put together by functions: the argument that can hold the change gets it."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from reconciler.rewrite.trace.attribute import trace_attribute
from reconciler.rewrite.trace.sites import LiteralSite, NoSite
from tests.kit.expression_edit import NAMES, edited, replaced
from tests.reconciler.rewrite.editors.edited_resource import edited_attribute, resource


@pytest.mark.parametrize(
    ("expression", "value", "old", "new"),
    [
        ('concat(["x"], var.items)', ["x", "a", "b", "c"], '["a", "b"]', '["a", "b", "c"]'),
        ('concat(["x"], var.items)', ["y", "a", "b"], '["x"]', '["y"]'),
        ('concat(var.items, ["x"])', ["a", "b"], '["x"]', "[]"),
        ('flatten([["x"], var.items])', ["x", "a"], '["a", "b"]', '["a"]'),
        ('setunion(var.items, ["x"])', ["a", "b", "x", "y"], '["x"]', '["x", "y"]'),
        ('setunion(var.items, ["x"])', ["a", "x"], '["a", "b"]', '["a"]'),
        ('setintersection(var.items, ["a", "b", "c"])', ["a"], '["a", "b", "c"]', '["a", "c"]'),
        ('setintersection(var.items, ["a", "b", "c"])', ["a", "b", "c"], '["a", "b"]', '["a", "b", "c"]'),
        ('setsubtract(var.items, ["x"])', ["a"], '["x"]', '["x", "b"]'),
        ('setsubtract(var.items, ["x"])', ["a", "b", "c"], '["a", "b"]', '["a", "b", "c"]'),
        ("toset(var.items)", ["a", "b", "c"], '["a", "b"]', '["a", "b", "c"]'),
        ("sort(var.items)", ["a", "b", "c"], '["a", "b"]', '["a", "b", "c"]'),
        ('compact(["a", "", "b"])', ["a", "b", "c"], '["a", "", "b"]', '["a", "b", "c"]'),
        ("distinct(var.items)", ["a"], '["a", "b"]', '["a"]'),
        ("reverse(var.items)", ["c", "b", "a"], '["a", "b"]', '["a", "b", "c"]'),
        ("element(var.ports, 3)", 444, "443", "444"),
        ('one(["x"])', "y", '"x"', '"y"'),
    ],
)
def test_the_wanted_list_is_made(expression: str, value: Json, old: str, new: str, tmp_path: Path) -> None:
    assert edited(tmp_path, expression, value) == replaced(expression, old, new)


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ("concat([1], [2, 3])", "x.2"),
        ("slice([1, 2, 3], 1, 3)", "x.1"),
        ("reverse([1, 2, 3])", "x.0"),
        ('zipmap(["a", "b"], [3, 4])', "x.a"),
        ("flatten([[1], [3]])", "x.1"),
    ],
)
def test_one_item_is_found_where_it_stands(expression: str, path: str, tmp_path: Path) -> None:
    code = f'{NAMES}resource "r" "a" {{\n  x = {expression}\n}}\n'.encode()
    (site,) = trace_attribute(load_module(tmp_path, {Path("main.tf"): code}), "r.a", AttributePath(path))
    assert isinstance(site, LiteralSite)
    assert site.document.source[site.node.start : site.node.end] == b"3"


@pytest.mark.parametrize(
    ("expression", "path", "reason"),
    [
        ("concat(aws_vpc.a.ids, var.items)", "x", "not known"),
        ("concat([1], [2])", "x.5", "no item 5"),
        ("setunion([1], [2])", "x.0", "no places of their own"),
        ("sort(var.items)", "x.0", "moves the items"),
        ("slice([1, 2], 0, 1)", "x", "not edited as a whole"),
        ("flatten(var.items)", "x", "written in place"),
        ('zipmap(["a"], [1])', "x", "not edited as a whole"),
    ],
)
def test_what_cannot_be_edited_says_why(expression: str, path: str, reason: str, tmp_path: Path) -> None:
    code = f'{NAMES}resource "r" "a" {{\n  x = {expression}\n}}\n'.encode()
    sites = trace_attribute(load_module(tmp_path, {Path("main.tf"): code}), "r.a", AttributePath(path))
    assert any(isinstance(site, NoSite) and reason in site.reason for site in sites), sites


def test_a_list_that_no_argument_can_make_is_left(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="where they are"):
        edited(tmp_path, 'concat(["x"], ["y"])', ["p", "q"])
    with pytest.raises(AssertionError, match="not wanted"):
        edited(tmp_path, 'setunion(["x", "y"], ["x", "y"])', ["y"])


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("  x = [1, 2]\n", "x.1", 3, "  x = [1, 3]\n"),
        ("  x = { a = { b = 1 } }\n", "x.a.b", 2, "  x = { a = { b = 2 } }\n"),
        ('  x = { "a.b" = 1 }\n', "x.a.b", 2, '  x = { "a.b" = 2 }\n'),
        ("  x = { a = { b = 1 } }\n", "x.c.d", 2, "  x = { a = { b = 1 }, c = { d = 2 } }\n"),
        ("  x = { a = 1 }\n", "x.b", 2, "  x = { a = 1, b = 2 }\n"),
    ],
)
def test_it_is_found_or_made(before: str, path: str, value: Json, after: str, tmp_path: Path) -> None:
    assert edited_attribute(tmp_path, before, path, value) == resource(after)


def test_an_item_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    assert "no item 5" in edited_attribute(tmp_path, "  x = [1, 2]\n", "x.5", 3)
