"""A path leads through a JSON text to its members."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from gateway.model.path import AttributePath
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.values import EvaluationFailed, Unknown
from reconciler.rewrite.inside import declared_inside, declares

CODE = b"""resource "r" "a" {
  policy = jsonencode({ Statement = [{ Action = "x" }] })
  other  = jsonencode({ a = { b = "x" } })
  arn    = r.b.arn
}
"""


def _declared(root: Path, path: str) -> Json:
    instance = load_module(root, {Path("main.tf"): CODE}).instance("r.a")
    assert instance is not None
    return declared_inside(instance, AttributePath(path))


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
