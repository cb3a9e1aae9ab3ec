"""Type constraints convert the values of variables."""

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.values import Unknown

CONVERTED: list[tuple[str, str, Json]] = [
    ("string", "5", "5"),
    ("string", "true", "true"),
    ("number", '"5"', 5),
    ("bool", '"true"', True),
    ("any", '[1, "a"]', [1, "a"]),
    ("list(string)", "[1, true]", ["1", "true"]),
    ("list(any)", '[1, "a"]', ["1", "a"]),
    ("set(string)", '["b", "a", "b"]', ["a", "b"]),
    ("map(string)", "{ a = 1 }", {"a": "1"}),
    ("map(number)", '{ a = "1" }', {"a": 1}),
    ("tuple([string, number])", '[1, "2"]', ["1", 2]),
    (
        "object({ a = number, b = optional(string), c = optional(number, 7) })",
        '{ a = "1", z = 2 }',
        {"a": 1, "b": None, "c": 7},
    ),
    ("object({ c = optional(number, 7) })", "{ c = null }", {"c": 7}),
    ('map(object({ a = optional(list(string), ["x"]) }))', "{ k = {} }", {"k": {"a": ["x"]}}),
    ("list(object({ a = number }))", '[{ a = "1" }]', [{"a": 1}]),
    ("string", "null", None),
]
LOOKED_UP: list[tuple[str, str, Json]] = [
    ("map(number)", '"5"', 5),
    ("map(number)", "5", 5),
    ("map(string)", "5", "5"),
    ("map(bool)", '"true"', True),
]
"""The type of an empty map, the default that `lookup` is given, and what it returns."""


def _code() -> str:
    given = [(kind, given) for kind, given, _ in CONVERTED] + [(kind, "{}") for kind, _, _ in LOOKED_UP]
    return "".join(
        f'variable "v{n}" {{\n  type = {kind}\n  default = {each}\n}}\n' for n, (kind, each) in enumerate(given)
    )


def _expressions() -> dict[str, Json]:
    """Expressions over the variables, with their values."""
    first = len(CONVERTED)
    looked_up = {f'lookup(var.v{first + n}, "x", {each})': value for n, (_, each, value) in enumerate(LOOKED_UP)}
    return {f"var.v{n}": value for n, (_, _, value) in enumerate(CONVERTED)} | looked_up


def test_a_default_is_converted_to_the_type(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_code())
    module = load_module(tmp_path)
    for expression, value in _expressions().items():
        found = evaluate(parse_expression(expression), EvaluationScope(module=module))
        assert json.dumps(found, sort_keys=True) == json.dumps(value, sort_keys=True), expression


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("number", '"x"'),
        ("list(string)", "{}"),
        ("map(any)", "{ a = 1, b = [1] }"),
        ("object({ a = number })", "{}"),
        ("tuple([string])", "[]"),
        ("nonsense", "1"),
        ("bool", "5"),
    ],
)
def test_what_terraform_would_refuse_is_unknown(kind: str, given: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(f'variable "v" {{\n  type = {kind}\n  default = {given}\n}}\n')
    with pytest.raises(Unknown):
        evaluate(parse_expression("var.v"), EvaluationScope(module=load_module(tmp_path)))


def test_the_default_replaces_null_if_null_is_not_allowed(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "v" {\n  default  = 5\n  nullable = false\n}\n')
    (tmp_path / "terraform.tfvars").write_text("v = null\n")
    assert evaluate(parse_expression("var.v"), EvaluationScope(module=load_module(tmp_path))) == 5


@pytest.mark.terraform
def test_terraform_converts_the_same(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_code())
    wanted = "base64encode(jsonencode([" + ", ".join(_expressions()) + "]))\n"
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"],
        input=wanted,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert console.returncode == 0, console.stderr
    terraform = json.loads(base64.b64decode(console.stdout.strip().strip('"')))
    assert terraform == list(_expressions().values())
