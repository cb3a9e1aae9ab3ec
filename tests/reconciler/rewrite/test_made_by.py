"""The item of a collection is solved for from the block that it makes."""

import pytest

from gateway.model.json import Json
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown
from reconciler.rewrite.made_by import Content

SCOPE = EvaluationScope(names={"rules": {"web": [80, 80, "tcp"], "_": [0, 0, "-1"]}})


def _content(**written: str) -> Content:
    return Content("x", {name: parse_expression(text) for name, text in written.items()}, SCOPE)


@pytest.mark.parametrize(
    ("expression", "value", "item"),
    [
        ("x.value", 5, 5),
        ("(x.value)", "a", "a"),
        ("x.value.port", 5, {"port": 5}),
        ('x.value["port"]', 5, {"port": 5}),
        ("x.value.a.b", 5, {"a": {"b": 5}}),
        ('lookup(x.value, "port", 80)', 80, {}),
        ('lookup(x.value, "port", 80)', 81, {"port": 81}),
        ("try(x.value.port, null)", None, {}),
        ("try(x.value.port, null)", 5, {"port": 5}),
        ('try(x.value.port, x.value["ports"], 1)', 5, {"port": 5}),
        ('coalesce(lookup(x.value, "a", null), "b")', "c", {"a": "c"}),
        ('lookup(x.value, "from", rules[lookup(x.value, "rule", "_")][0])', 5, {"from": 5}),
        ('lookup(x.value, "from", rules[lookup(x.value, "rule", "_")][0])', 0, {}),
        ('split(",", lookup(x.value, "nets", "n"))', ["n"], {}),
        ('split(",", lookup(x.value, "nets", "n"))', ["a", "b"], {"nets": "a,b"}),
        ("[x.value.net]", ["a"], {"net": "a"}),
        ("tolist([x.value.net])", ["a"], {"net": "a"}),
        ('"${x.value.net}/32"', "10.0.0.1/32", {"net": "10.0.0.1"}),
        ("x.value + 1", 5, 4),
        ("10 - x.value.n", 3, {"n": 7}),
        ("-x.value", 5, -5),
        ('x.value.on ? "Allow" : "Deny"', "Deny", None),
        ("try(x.value.a, null) == null ? x.value.b : 1", 5, {"b": 5}),
    ],
)
def test_an_item_gives_one_attribute_its_value(expression: str, value: Json, item: Json) -> None:
    content = _content(port=expression)
    if item is None:
        with pytest.raises(Unknown, match=r"the same for all items|no item gives"):
            content.item_of({"port": value})
    else:
        assert content.item_of({"port": value}) == (None, item)


def test_an_item_gives_all_attributes_and_holds_nothing_that_defaults_give() -> None:
    content = _content(
        about='lookup(x.value, "about", "none")', first='lookup(x.value, "first", 0)', name="x.key", kind='"tcp"'
    )
    row: dict[str, Json] = {"about": "none", "first": 5, "name": "a", "kind": "tcp", "self": False, "more": []}
    assert content.item_of(row) == ("a", {"first": 5})


@pytest.mark.parametrize(
    ("written", "row", "why"),
    [
        ({"a": "x.value.a"}, {"a": 1, "b": 2}, "does not set b"),
        ({"a": "5"}, {"a": 6}, "the same for all items"),
        ({"a": "x.value", "b": "x.value"}, {"a": 1, "b": 2}, "no item gives b"),
        ({"a": "[x.value]"}, {"a": [1, 2]}, "no item gives a"),
        ({"a": "x.value + other.size"}, {"a": 5}, "no item gives a"),
        ({"a": "md5(x.value)"}, {"a": "q"}, "the same for all items"),
        ({"a": 'try(x.value.a, "")', "b": 'try(x.value.a, "q")'}, {"a": "", "b": "r"}, "different items"),
        ({"a": "x.value.a", "b": "x.value"}, {"a": 1, "b": 2}, "no item gives b"),
    ],
)
def test_no_item_makes_the_block(written: dict[str, str], row: dict[str, Json], why: str) -> None:
    with pytest.raises(Unknown, match=why):
        _content(**written).item_of(row)
