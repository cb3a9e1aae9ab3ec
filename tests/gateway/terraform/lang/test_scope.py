"""A scope says what names refer to, the innermost first."""

from pathlib import Path

from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import value_of
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.scope import EvaluationScope


def test_variables_of_a_for_come_before_other_roots_and_those_before_iterators(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): b"locals {\n  x = 1\n}\n"})
    iterators = {name: ("k", name) for name in ("a", "b", "c")}
    scope = EvaluationScope(
        module=module, iterators=iterators, names={"a": "second", "b": "second"}, bound={"a": "first"}
    )
    found = [value_of(parse_expression(text), scope) for text in ("a", "b", "c.value", "local.x")]
    assert found == ["first", "second", "c", 1]


def test_the_steps_of_a_scope_do_not_make_it_another(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): b""})
    assert EvaluationScope(module=module, count=1) == EvaluationScope(module=module, count=1)
    assert EvaluationScope(count=1) != EvaluationScope(count=2)
