"""Values are carried over from one version of the code to the next only where they cannot differ."""

from pathlib import Path

import pytest

from gateway.terraform.config.earlier_version import EarlierVersion, across_edits
from gateway.terraform.config.module import Module, load_module
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.values import MapOf, Opaque, SetOf, Value


def _local(root: Path, expression: str) -> Value:
    return _module(root, expression).local("x")


def _module(root: Path, expression: str) -> Module:
    return load_module(root, {Path("main.tf"): f"locals {{\n  x = {expression}\n  y = 1\n}}\n".encode()})


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1, 1, True),
        (1, True, False),
        (1, "1", False),
        ([1], [1], True),
        ([1], SetOf([1]), False),
        ({"a": 1}, MapOf({"a": 1}), False),
        (MapOf.of("number", {}), MapOf.of("number", {}), True),
        (MapOf.of("number", {}), MapOf.of("string", {}), False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"a": [1]}, {"a": [2]}, False),
        (Opaque("why"), Opaque("why"), False),
        (None, None, True),
    ],
)
def test_equal_values_of_one_type_are_the_same(one: Value, other: Value, *, same: bool) -> None:
    assert EarlierVersion().same(one, other) is same


def test_an_unknown_value_is_the_same_if_its_code_is_and_nothing_reaches_it(tmp_path: Path) -> None:
    written = '[aws_vpc.main.id, "${aws_vpc.main.id}-${local.y}"]'
    one, moved = _local(tmp_path, written), _local(tmp_path, f"  {written}")
    other = _local(tmp_path, written.replace("main.id,", "other.id,"))
    assert EarlierVersion().same(one, moved)
    assert not EarlierVersion().same(one, other)
    for reached in ("local.y", "body.aws_vpc.main", "keys.aws_vpc.main"):
        assert not EarlierVersion(outdated={"": frozenset({reached})}).same(one, moved)
    assert EarlierVersion(outdated={"module.m": frozenset({"local.y"})}).same(one, moved)


def test_an_unknown_value_of_a_for_depends_on_its_variable(tmp_path: Path) -> None:
    one = _local(tmp_path, "[for n in [1] : aws_vpc.main.ids[n]]")
    other = _local(tmp_path, "[for n in [2] : aws_vpc.main.ids[n]]")
    assert EarlierVersion().same(one, one)
    assert not EarlierVersion().same(one, other)


def test_scopes_are_the_same_if_the_instance_is() -> None:
    same = EarlierVersion().same_scope
    assert same(EvaluationScope(each=("a", 1)), EvaluationScope(each=("a", 1)))
    assert not same(EvaluationScope(each=("a", 1)), EvaluationScope(each=("a", 2)))
    assert not same(EvaluationScope(each=("a", 1)), EvaluationScope())
    assert not same(EvaluationScope(count=1), EvaluationScope(count=2))
    assert not same(EvaluationScope(iterators={"i": (0, 1)}), EvaluationScope(iterators={"i": (0, 2)}))


def test_values_that_may_have_changed_and_those_of_other_modules_are_not_carried_over(tmp_path: Path) -> None:
    before = _module(tmp_path, "local.y + 1")
    assert before.local("x") == 2
    carried = EarlierVersion(modules={"": before}, outdated={"": frozenset({"local.x"})})
    assert carried.values(before) == {"local.y": 1}
    assert carried.earlier("", EvaluationScope(), ".") is before
    assert carried.earlier("", EvaluationScope(), "modules/other") is None
    assert carried.earlier("", EvaluationScope(count=1), ".") is None
    carried.release()
    assert carried.earlier("", EvaluationScope(), ".") is None


def test_several_edits_reach_what_each_of_them_reaches() -> None:
    one, two = (EarlierVersion(outdated={"": frozenset({name}), name: frozenset({"x"})}) for name in ("a", "b"))
    together = across_edits([one, two])
    assert together is not None
    assert together.outdated == {"": frozenset({"a", "b"}), "a": frozenset({"x"}), "b": frozenset({"x"})}
    assert across_edits([one, None]) is None
