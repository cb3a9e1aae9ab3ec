"""A wanted value is split into the smallest parts that differ."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.values import EvaluationFailed, Unknown
from reconciler.rewrite.footprint.values import Footprint, UnknownMark
from reconciler.rewrite.value_parts import alike, declared_at, declares, holds, is_unset, split_value

MARK = UnknownMark(("x",))


def _statement(sid: str, action: Json, **more: Json) -> dict[str, Json]:
    return {"Sid": sid, "Effect": "Allow", "Action": action, "Resource": "*", **more}


def _policy(*statements: Json) -> str:
    return json.dumps({"Version": "2012-10-17", "Statement": list(statements)})


@pytest.mark.parametrize(
    ("now", "wanted", "parts"),
    [
        (1, 1, {}),
        (1, 2, {"": 2}),
        ({"a": 1, "b": 2}, {"a": 1, "c": 3}, {"b": None, "c": 3}),
        ([{"a": 1, "b": 2}], [{"a": 1, "b": 3, "computed": ""}], {"0.b": 3}),
        (["b", "a"], ["a", "b", "c"], {"": ["a", "b", "c"]}),
        ([{"p": 1, "c": ["x"]}, {"p": 2, "c": ["y"]}], [{"p": 2, "c": ["y"]}, {"p": 1, "c": ["x"]}], {}),
        (
            [{"p": 1, "c": ["x"]}, {"p": 2, "c": ["y"]}],
            [{"p": 2, "c": ["y", "z"]}, {"p": 1, "c": ["x"]}],
            {"1.c": ["y", "z"]},
        ),
        ([{"p": 1}, {"p": 2}], [{"p": 2, "q": False}], {"": [{"p": 2}]}),
    ],
)
def test_values_are_split(now: Json, wanted: Json, parts: dict[str, Json]) -> None:
    assert {".".join(steps): value for steps, value in split_value(now, wanted)} == parts


@pytest.mark.parametrize(
    ("now", "wanted", "parts"),
    [
        ([_statement("a", "x")], [_statement("a", ["x"])], {}),
        ([_statement("a", "x")], [_statement("a", ["y", "x"])], {"Statement.0.Action": ["x", "y"]}),
        ([_statement("a", ["x", "y"])], [_statement("a", "y")], {"Statement.0.Action": ["y"]}),
        ([_statement("a", "x")], [_statement("a", "y")], {"Statement.0.Action": "y"}),
        (
            [_statement("a", "x", Condition={"Bool": {"k": "true"}})],
            [_statement("a", "x", Condition={"Bool": {"k": "false"}})],
            {"Statement.0.Condition.Bool.k": "false"},
        ),
        ([_statement("a", "x"), _statement("b", "y")], [_statement("b", "y")], {"Statement": [_statement("b", "y")]}),
    ],
)
def test_policies_are_split_by_statement(now: list[Json], wanted: list[Json], parts: dict[str, Json]) -> None:
    assert {".".join(steps): value for steps, value in split_value(_policy(*now), _policy(*wanted))} == parts


def test_what_terraform_says_of_the_code_tells_what_changed() -> None:
    """The provider adds `id` and `size` by itself: they are the same before and after."""
    unknown: dict[str, Footprint] = {"port": 1, "name": MARK}
    known: dict[str, Footprint] = {"port": 2, "name": "b"}
    now: list[Footprint] = [unknown, known]
    before: Json = [{"port": 1, "name": "a", "id": "i-1", "size": 5}, {"port": 2, "name": "b", "id": "i-2", "size": 5}]
    wanted: Json = [{"port": 1, "name": "a", "id": "i-1", "size": 9}, {"port": 2, "name": "b", "id": "i-2", "size": 5}]
    assert list(split_value(now, wanted, before)) == [(("0", "size"), 9)]


def test_a_set_keeps_the_order_of_the_code() -> None:
    assert list(split_value(["b", "a"], ["a", "b", "c"], ["a", "b"])) == [((), ["b", "a", "c"])]
    assert list(split_value(["b", "a"], ["a", "c"], ["b", "a"])) == [((), ["a", "c"])]


def test_what_is_not_known_holds_nothing() -> None:
    assert not holds(MARK, 1)
    unknown: dict[str, Footprint] = {"a": MARK}
    assert not alike(unknown, {"a": 1})
    assert holds("5", 5)
    assert is_unset({})
    assert not is_unset("x")


CODE = b"""resource "r" "a" {
  policy = jsonencode({ Statement = [{ Action = "x" }] })
  other  = jsonencode({ a = { b = "x" } })
  arn    = r.b.arn
}
"""


def _declared(root: Path, path: str) -> Json:
    instance = load_module(root, {Path("main.tf"): CODE}).instance("r.a")
    assert instance is not None
    return declared_at(instance, AttributePath(path))


def _declares(root: Path, path: str, value: Json) -> bool:
    instance = load_module(root, {Path("main.tf"): CODE}).instance("r.a")
    assert instance is not None
    return declares(instance, AttributePath(path), value)


def test_members_are_found(tmp_path: Path) -> None:
    assert _declared(tmp_path, "policy.Statement.0.Action") == "x"
    assert _declared(tmp_path, "other.a") == {"b": "x"}


@pytest.mark.parametrize("path", ["policy.Statement.1", "none", "none.x"])
def test_what_is_not_declared_fails(path: str, tmp_path: Path) -> None:
    with pytest.raises(EvaluationFailed):
        _declared(tmp_path, path)


def test_what_is_not_known_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(Unknown):
        _declared(tmp_path, "arn.x")


def test_only_in_a_policy_a_text_is_the_list_of_it(tmp_path: Path) -> None:
    assert _declares(tmp_path, "policy.Statement.0.Action", ["x"])
    assert not _declares(tmp_path, "policy.Statement.0.Action", ["y"])
    assert not _declares(tmp_path, "other.a.b", ["x"])
