"""Resolving contracts: which blocks match a resource, how several combine, and warnings of blocks without effect."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import CodeInvalid
from gateway.core.model.contract import Bound, Contract
from gateway.core.model.json import Json
from gateway.terraform.address import parse_address
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.contracts.contract import ResourceRule
from gateway.terraform.contracts.resolve import Contracts, matches
from gateway.terraform.stack_code import load_code


def load_contracts(root: Path, contract: str, code: str = "") -> Contracts:
    (root / "main.tf").write_text(f'variable "env" {{\n  default = "prod"\n}}\nvariable "unset" {{}}\n{code}')
    (root / "c.sentinel.hcl").write_text(contract)
    loaded = load_code(root)
    return Contracts(
        root=loaded.module,
        rules=loaded.rules,
        instance=loaded.instance,
        declared=lambda _address: {},
        code_conditions=CodeConditions(lambda _module, _names: {}),
    )


def evaluate(contract: Contract, after: Mapping[str, Json], before: Mapping[str, Json] | None = None) -> list[Bound]:
    return list(contract.evaluate(after, after if before is None else before))


@pytest.mark.parametrize(
    ("types", "pattern", "address", "expected"),
    [
        ("aws_sqs_queue", "orders", "aws_sqs_queue.orders", True),
        ("aws_sqs_queue", "orders", 'aws_sqs_queue.orders["a"]', True),
        ("aws_sqs_queue", "orders", "module.m.aws_sqs_queue.orders", True),
        ("aws_sqs_queue", "order", "aws_sqs_queue.orders", False),
        ("aws_sqs_queue", "ord*", "aws_sqs_queue.orders", True),
        ("aws_*", "*", "aws_sqs_queue.orders", True),
        ("aws_sqs_?????", "order?", "aws_sqs_queue.orders", True),
        ("aws_sns_topic", "*", "aws_sqs_queue.orders", False),
        ("aws_sqs_queue", "*", "data.aws_sqs_queue.orders", False),
        ("aws_sqs_queue", "aws_sqs_queue.orders", "module.m.aws_sqs_queue.orders", True),
        ("aws_sqs_queue", "module.m.*", "module.m.aws_sqs_queue.orders", True),
        ("aws_sqs_queue", "module.m.*", "aws_sqs_queue.orders", False),
        ("aws_sqs_queue", "module.m.aws_sqs_queue.orders", 'module.m["x"].aws_sqs_queue.orders[0]', True),
        ("aws_sqs_queue", 'module.m["y"].*', 'module.m["x"].aws_sqs_queue.orders', False),
        ("aws_sqs_queue", 'orders["a"]', 'aws_sqs_queue.orders["a"]', True),
        ("aws_sqs_queue", 'orders["a"]', 'aws_sqs_queue.orders["b"]', False),
        ("aws_sqs_queue", "orders[*]", 'aws_sqs_queue.orders["b"]', True),
        ("aws_sqs_queue", "orders[ab]", "aws_sqs_queue.ordersa", False),
        ("aws_sqs_queue", "o.ders", "aws_sqs_queue.orders", False),
    ],
)
def test_patterns_match_resources(types: str, pattern: str, address: str, expected: bool) -> None:
    where = parse_address(address)
    assert where is not None

    assert matches(ResourceRule(contract="c", owner="", types=types, names=pattern, source="c:1"), where) is expected


SEVERAL = """contract "c" {
  owner = "one"
  resource "aws_x" "*" {
    managed_by_agent = true
    mutable          = ["a"]
    attribute "size" {
      max = 10
    }
  }
  resource "aws_x" "y" {
    managed_by_agent = %s
    critical         = true
    mutable          = ["b"]
    immutable        = ["c"]
    attribute "size" {
      max = var.env == "prod" ? 8 : 80
    }
  }
  enforce {
    condition     = self.size + self.other < 12
    error_message = "Together ${self.size + self.other}."
  }
}
"""


def test_several_blocks_all_apply(tmp_path: Path) -> None:
    contract = load_contracts(tmp_path, SEVERAL % "true").contract("aws_x.y")

    assert (contract.managed_by_agent, contract.critical, contract.owner) == (True, True, "one")
    assert (contract.mutable, contract.immutable, contract.bounded) == (("a", "b"), ("c",), ("size",))
    assert [bound.limit for bound in evaluate(contract, {"size": 1})] == [10, 8]


def test_one_block_that_withholds_a_resource_from_agents_is_enough_and_is_shown(tmp_path: Path) -> None:
    contract = load_contracts(tmp_path, SEVERAL % "false").contract("aws_x.y")

    assert contract.managed_by_agent is False
    assert contract.source == "c.sentinel.hcl:10"


GRANTS = """contract "c" {
  resource "aws_x" "*" {
    managed_by_agent = true
    allow_delete     = true
    allow_invoke     = ["PurgeQueue", "SendMessage"]
  }
  resource "aws_x" "y*" {
    managed_by_agent = true
    allow_delete     = %s
    allow_invoke     = ["sqs:PurgeQueue"]
  }
}
"""


@pytest.mark.parametrize(("second", "withheld"), [("true", ()), ("false", ("c.sentinel.hcl:7",))])
def test_agents_may_delete_and_invoke_only_what_every_matching_block_grants(
    tmp_path: Path, second: str, withheld: tuple[str, ...]
) -> None:
    contracts = load_contracts(tmp_path, GRANTS % second)
    one, both = contracts.contract("aws_x.z"), contracts.contract("aws_x.y")

    assert one.withholding_delete() == one.withholding_invoke("sqs", "SendMessage") == ()
    assert both.withholding_delete() == withheld
    assert both.withholding_invoke("sqs", "PurgeQueue") == ()
    assert both.withholding_invoke("sqs", "SendMessage") == ("c.sentinel.hcl:7",)


def test_a_shared_condition_applies_once_to_resources_with_its_attributes(tmp_path: Path) -> None:
    contract = load_contracts(tmp_path, SEVERAL % "true").contract("aws_x.y")

    conditions = [bound for bound in evaluate(contract, {"size": 9, "other": 4}) if bound.name == "condition"]
    assert [(bound.limit, bound.message) for bound in conditions] == [(False, "Together 13.")]
    assert not [bound for bound in evaluate(contract, {"size": 9}) if bound.name == "condition"]


UNKNOWN = """contract "c" {
  resource "aws_x" "*" {
    attribute "size" {
      min     = before.size
      max     = %s
    }
    enforce {
      condition     = %s
      error_message = "No ${self.nothing}."
    }
  }
}
"""


@pytest.mark.parametrize(
    ("limit", "condition", "words"),
    [
        ("var.unset", "self.size > 0", "var.unset"),
        ("self.nothing", "self.size > 0", "nothing"),
        ('"${var.env}"', "self.size > 0", 'it takes a number, not "prod"'),
        ("self.size / 0", "self.size > 0", "zero"),
        ("nofunction(self.size)", "self.size > 0", "nofunction"),
    ],
)
def test_a_limit_that_cannot_be_evaluated_says_why(tmp_path: Path, limit: str, condition: str, words: str) -> None:
    bounds: Any = evaluate(
        load_contracts(tmp_path, UNKNOWN % (limit, condition)).contract("aws_x.y"), {"size": 3}, {"size": 2}
    )

    assert (bounds[0].limit, bounds[0].unknown) == (2, "")
    assert words in bounds[1].unknown
    assert (bounds[2].limit, bounds[2].unknown) == (True, "")


@pytest.mark.parametrize("condition", ["self.nothing > 0", "self.size", "self.list", "before.gone == 1"])
def test_a_condition_of_the_block_itself_is_never_left_out(tmp_path: Path, condition: str) -> None:
    bounds = evaluate(
        load_contracts(tmp_path, UNKNOWN % ("10", condition)).contract("aws_x.y"), {"size": 3, "list": []}, {"size": 2}
    )

    assert bounds[-1].name == "condition"
    assert bounds[-1].unknown
    assert bounds[-1].message == '"No ${self.nothing}."'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("var.envv", "c.sentinel.hcl:5: The module has no var.envv. It has: env, unset."),
        ("local.x", "c.sentinel.hcl:5: The module has no local.x. It has: none."),
    ],
)
def test_a_misspelt_variable_is_an_error_at_load(tmp_path: Path, expression: str, expected: str) -> None:
    with pytest.raises(CodeInvalid) as caught:
        load_contracts(tmp_path, UNKNOWN % (expression, "self.size > 0"))

    assert str(caught.value) == expected


def test_blocks_and_conditions_without_effect_are_warned_of(tmp_path: Path) -> None:
    contract = SEVERAL % "true" + 'contract "d" {\n  resource "aws_z" "*" {\n    critical = true\n  }\n}\n'
    warnings = load_contracts(tmp_path, contract).warnings(["aws_x.y"], lambda _address: {"a": 1, "b": 1, "c": 1})

    assert warnings == (
        'c.sentinel.hcl:3: None of the matching resources has an attribute "size" in the state.',
        'c.sentinel.hcl:10: None of the matching resources has an attribute "size" in the state.',
        'c.sentinel.hcl:25: No resource matches "aws_z" "*", so this block has no effect.',
        "c.sentinel.hcl:20: No resource of this contract has the attributes that the condition refers to, so it has no effect.",
    )
    assert load_contracts(tmp_path, SEVERAL % "true").warnings(["aws_x.y"], lambda _address: None) == ()
