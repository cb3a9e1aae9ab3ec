"""Sets have the order that Terraform gives them."""

import base64
import json
import os
import subprocess
from pathlib import Path

import pytest

from gateway.terraform.lang.evaluate import EvaluationScope, evaluate
from gateway.terraform.lang.grammar import parse_expression
from gateway.terraform.lang.sets import as_set
from gateway.terraform.lang.values import MapOf, Opaque, SetOf, Unknown, Value

SETS = [
    '["b", "a", "b"]',
    "[10, 9, -1, 0.5]",
    '[null, "b", null, "a"]',
    '[{ port = 22, cidrs = ["a"], text = "" }, { port = 5432, cidrs = ["b", "c"], text = "db" }, { port = 100, cidrs = [], text = "x" }]',
    '[["b", "a"], ["a"], ["B"], ["a", "b"], []]',
    '[tomap({ b = "1" }), tomap({ a = "2" }), tomap({}), tomap({ a = "2", b = "1" })]',
    "[{ a = true }, { a = false }, { a = null }]",
    "[{ a = 100000000000 }, { a = 1.5 }, { a = -3 }, { a = 123456789012 }, { a = 0.00001 }, { a = 22 }, { a = 1000000 }]",
    r'[{ a = null }, { a = "x" }, { a = "~" }, { a = "\u0001" }, { a = "\n" }, { a = "\"" }, { a = "\\" }, { a = "😀" }, { a = "é" }, { a = "" }]',
    '[{ a = "x", b = toset(["q", "p"]) }, { a = "x", b = toset(["q", "o"]) }, { a = "x", b = toset(["q", "o"]) }]',
    "[{ a = { z = 1 } }, { a = { z = 0 } }]",
]
PRODUCTS = ['setproduct(toset(["b", "a"]), toset([2, 1]))', "setunion(toset([{ a = 2 }]), toset([{ a = 1 }]))"]
EXPRESSIONS = [*(f"tolist(toset({each}))" for each in SETS), *(f"tolist({each})" for each in PRODUCTS)]


@pytest.mark.terraform
def test_terraform_gives_the_same_order(tmp_path: Path) -> None:
    wanted = "base64encode(jsonencode([" + ", ".join(EXPRESSIONS) + "]))\n"
    environment = {key: value for key, value in os.environ.items() if key != "TF_CLI_CONFIG_FILE"}
    console = subprocess.run(
        ["terraform", "console"], input=wanted, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )  # fmt: skip
    terraform = json.loads(base64.b64decode(console.stdout.strip().strip('"')))
    ours = [evaluate(parse_expression(each), EvaluationScope()) for each in EXPRESSIONS]
    assert terraform == ours


def test_a_set_has_no_duplicates() -> None:
    assert as_set([{"a": 1}, {"a": 2}, {"a": 1}]) == [{"a": 1}, {"a": 2}]
    assert isinstance(as_set([{"a": 1}]), SetOf)
    assert as_set([MapOf(), MapOf()]) == [{}]


@pytest.mark.parametrize(
    "odd",
    [
        [Opaque("why")],
        [{"a": Opaque("why")}, {"a": 1}],
        [{"a": 2**60}, {"a": 1}],
        [{"a": 99999999999}, {"a": 100000000000}],
        [{"a": "\u200b"}, {"a": "b"}],
    ],
)
def test_a_set_whose_order_is_not_certain_is_unknown(odd: list[Value]) -> None:
    with pytest.raises(Unknown):
        as_set(odd)
