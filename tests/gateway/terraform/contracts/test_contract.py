"""Contracts: the rules they are read into, and that every mistake is refused with file, line and the alternatives."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.contracts.contract import parse_contracts

KAFKA = Path(__file__).parents[3] / "cases" / "stacks" / "kafka" / "kafka.sentinel.hcl"


def in_resource(*lines: str) -> str:
    """A contract with one resource block; its body begins in line 3."""
    return "\n".join(['contract "c" {', '  resource "aws_sqs_queue" "orders" {', *lines, "  }", "}"])


def in_attribute(*lines: str) -> str:
    """A contract with one attribute block; its body begins in line 4."""
    return in_resource('attribute "delay_seconds" {', *lines, "}")


def test_a_contract_is_read_with_owner_flags_bounds_and_their_lines() -> None:
    rules = parse_contracts(
        'contract "shop" {\n  owner = "team-shop"\n\n  resource "aws_sqs_queue" "*" {\n    managed_by_agent = true\n'
        '    mutable = ["tags.owner"]\n    attribute "delay_seconds" {\n      min = 0 # never below\n'
        '      max = var.env == "prod" ? 20 : self.limit\n    }\n  }\n'
        '  enforce {\n    condition = self.a <= 32 &&\n      local.b\n    error_message = "No ${self.a}."\n  }\n}\n',
        "shop.sentinel.hcl",
    )

    (rule,) = rules
    assert (rule.contract, rule.owner, rule.types, rule.names) == ("shop", "team-shop", "aws_sqs_queue", "*")
    assert (rule.managed_by_agent, rule.critical, rule.prevent_delete) == (True, False, False)
    assert rule.mutable == ("tags.owner",)
    assert [(bound.name, bound.limit.text, bound.limit.source) for bound in rule.bounds] == [
        ("min", "0", "shop.sentinel.hcl:8"),
        ("max", 'var.env == "prod" ? 20 : self.limit', "shop.sentinel.hcl:9"),
    ]
    assert rule.bounds[1].limit.references == {("var", "env"), ("self", "limit")}
    (enforcement,) = rule.shared
    assert enforcement.condition.references == {("self", "a"), ("local", "b")}
    assert enforcement.condition.source == "shop.sentinel.hcl:13"


def test_the_case_stack_is_read() -> None:
    rules = parse_contracts(KAFKA.read_text(), KAFKA.name)

    assert {rule.types for rule in rules} >= {"aws_autoscaling_group", "aws_security_group", "aws_dynamodb_table"}


BROKEN = {
    "not closed": ('contract "c" {\n  owner = "x"\n', "c.sentinel.hcl:3: This is not HCL: the file ends too early"),
    "no HCL": ('contract "c" {\n  owner = = 1\n}', "c.sentinel.hcl:2: This is not HCL: '= 1' is not expected here"),
    "two on a line": (in_attribute("min = 1 max = 2"), "c.sentinel.hcl:4: Two definitions stand on one line"),
    "empty file": ("# nothing\n", "c.sentinel.hcl:1: The file holds no contract for any resource"),
    "contract without resource": ('contract "c" {\n}\n', "c.sentinel.hcl:1: The file holds no contract"),
    "unknown top block": ('contact "c" {\n}\n', "c.sentinel.hcl:1: There is no block 'contact' in the file; did you mean 'contract'?"),
    "top attribute": ("owner = 1\n", "c.sentinel.hcl:1: There is no attribute 'owner' in the file"),
    "contract without name": ("contract {\n}\n", "c.sentinel.hcl:1: contract takes a name, and here it has 0 label(s)"),
    "contract twice": (in_resource() + "\n" + in_resource(), "c.sentinel.hcl:5: The contract 'c' is already in c.sentinel.hcl:1."),
    "one label": ('contract "c" {\n  resource "aws_sqs_queue" {\n  }\n}', "c.sentinel.hcl:2: resource takes a resource type and a name pattern"),
    "type is none": ('contract "c" {\n  resource "aws.sqs" "x" {\n  }\n}', 'c.sentinel.hcl:2: "aws.sqs" is not a resource type'),
    "label with interpolation": ('contract "c" {\n  resource "aws_x" "${var.a}" {\n  }\n}', "c.sentinel.hcl:2: A label must be written out"),
    "resource twice": (
        'contract "c" {\n  resource "aws_x" "y" {\n  }\n  resource "aws_x" "y" {\n  }\n}',
        'c.sentinel.hcl:4: The contract has two blocks for resource "aws_x" "y"',
    ),
    "unknown attribute": (in_resource("managed_by_agents = true"), "c.sentinel.hcl:3: There is no attribute 'managed_by_agents' in a resource; did you mean 'managed_by_agent'? Known attributes"),
    "unknown block": (in_resource('atribute "x" {', "}"), "c.sentinel.hcl:3: There is no block 'atribute' in a resource; did you mean 'attribute'?"),
    "unknown bound": (in_attribute("maximum = 3"), "c.sentinel.hcl:4: There is no bound 'maximum' in an attribute; did you mean 'max'? Known bounds in an attribute: min, max,"),
    "no bound": (in_attribute(), 'c.sentinel.hcl:3: The attribute "delay_seconds" has no bound. Known bounds: min'),
    "bound twice": (in_attribute("min = 1", "min = 2"), "c.sentinel.hcl:5: min is already set in c.sentinel.hcl:4."),
    "attribute twice": (
        in_resource('attribute "a" {', "min = 1", "}", 'attribute "a" {', "max = 1", "}"),
        'c.sentinel.hcl:6: The attribute "a" has two blocks',
    ),
    "path is none": (in_resource('attribute "a b" {', "min = 1", "}"), 'c.sentinel.hcl:3: "a b" is not an attribute path'),
    "flag as text": (in_resource('managed_by_agent = "true"'), "c.sentinel.hcl:3: managed_by_agent must be true or false, written out."),
    "flag as expression": (in_resource("critical = var.x"), "c.sentinel.hcl:3: critical must be true or false, written out."),
    "owner as number": ('contract "c" {\n  owner = 3\n}', "c.sentinel.hcl:2: owner must be text in quotes"),
    "mutable as text": (in_resource('mutable = "tags"'), "c.sentinel.hcl:3: mutable must be a list of attribute paths"),
    "mutable wild": (in_resource('mutable = ["*"]'), 'c.sentinel.hcl:3: "*" is not an attribute path'),
    "mutable and immutable": (in_resource('mutable = ["a"]', 'immutable = ["a"]'), 'c.sentinel.hcl:4: "a" cannot be immutable and mutable or bounded.'),
    "delete as text": (in_resource('allow_delete = "true"'), "c.sentinel.hcl:3: allow_delete must be true or false, written out."),
    "delete as expression": (in_resource("allow_delete = var.x"), "c.sentinel.hcl:3: allow_delete must be true or false, written out."),
    "delete and prevent": (in_resource("prevent_delete = true", "allow_delete = true"), "c.sentinel.hcl:4: allow_delete and prevent_delete contradict each other."),
    "invoke as flag": (in_resource("allow_invoke = true"), "c.sentinel.hcl:3: allow_invoke must be a list of operations in quotes"),
    "invoke as text": (in_resource('allow_invoke = "PurgeQueue"'), "c.sentinel.hcl:3: allow_invoke must be a list of operations in quotes"),
    "invoke as expression": (in_resource("allow_invoke = var.operations"), "c.sentinel.hcl:3: allow_invoke must be a list of operations in quotes"),
    "invoke by reference": (in_resource('allow_invoke = ["PurgeQueue", var.x]'), "c.sentinel.hcl:3: allow_invoke must be a list"),
    "invoke everything": (in_resource('allow_invoke = ["*"]'), 'c.sentinel.hcl:3: allow_invoke: "*" is a pattern. Name each operation that agents may invoke.'),
    "invoke a service": (in_resource('allow_invoke = ["sqs:*"]'), 'c.sentinel.hcl:3: allow_invoke: "sqs:*" is a pattern.'),
    "invoke what is none": (in_resource('allow_invoke = ["PurgeQeue"]'), 'c.sentinel.hcl:3: allow_invoke: There is no operation "PurgeQeue" of any AWS service; did you mean "PurgeQueue"?'),
    "invoke twice": (in_resource('allow_invoke = ["PurgeQueue", "PurgeQueue"]'), "c.sentinel.hcl:3: allow_invoke names an operation twice."),
    "allow for the contract": ('contract "c" {\n  allow_delete = true\n}\n', "c.sentinel.hcl:2: There is no attribute 'allow_delete' in a contract"),
    "min as text": (in_attribute('min = "low"'), 'c.sentinel.hcl:4: The bound min of "delay_seconds" is wrong: it takes a number, not "low".'),
    "max as flag": (in_attribute("max = true"), "c.sentinel.hcl:4: The bound max of"),
    "negative step": (in_attribute("max_step = -1"), "it cannot be negative, as -1 is"),
    "nothing legal": (in_attribute("min = 5", "max = 4"), "c.sentinel.hcl:4: No value is legal: min = 5 is over max = 4."),
    "one_of empty": (in_attribute("one_of = []"), "it takes a list with at least one value, not []"),
    "matches no pattern": (in_attribute('matches = "(a"'), "c.sentinel.hcl:4: The bound matches of"),
    "matches looks back": (in_attribute('matches = "(?=a)b"'), "is not a regular expression that can be matched in linear time"),
    "cidr broken": (in_attribute('cidr_within = ["10.0.0.0/33"]'), "'10.0.0.0/33' is not a network in CIDR form"),
    "port too high": (in_attribute("ports = [443, 70000]"), 'c.sentinel.hcl:4: The bound ports of "delay_seconds" is wrong: 70000 is not a port.'),
    "world as number": (in_attribute("forbid_world = 1"), "it takes true or false, not 1"),
    "half an item": (in_attribute("max_items = 1.5"), "it takes a whole number"),
    "unknown root": (in_attribute("max = slef.limit"), "c.sentinel.hcl:4: slef cannot be referred to in a contract; did you mean 'self'? Known: self, before, var, local."),
    "resource reference": (in_attribute("max = aws_x.y.limit"), "c.sentinel.hcl:4: aws_x cannot be referred to in a contract"),
    "bare root": (in_attribute("max = self"), "c.sentinel.hcl:4: self must be followed by a name"),
    "enforce without message": (in_resource("enforce {", "condition = self.a == 1", "}"), "c.sentinel.hcl:3: This enforce block has no error_message."),
    "enforce with label": (in_resource('enforce "x" {', "}"), "c.sentinel.hcl:3: enforce takes no label, and here it has 1 label(s)."),
    "enforce constant": (in_resource("enforce {", "condition = true", 'error_message = "x"', "}"), "c.sentinel.hcl:4: The condition is always the same"),
    "message as number": (in_resource("enforce {", "condition = self.a == 1", "error_message = 1", "}"), "c.sentinel.hcl:5: The error_message must be text."),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_contract_is_refused_with_file_line_and_reason(text: str, expected: str) -> None:
    with pytest.raises(CodeInvalid) as caught:
        parse_contracts(text, "c.sentinel.hcl")

    assert expected in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


def test_what_agents_may_delete_and_invoke_is_off_by_default_and_written_out() -> None:
    (nothing,) = parse_contracts(in_resource("managed_by_agent = true"), "c")
    (granted,) = parse_contracts(
        in_resource("allow_delete = true", 'allow_invoke = ["PurgeQueue", "sqs:SendMessage"]'), "c"
    )

    assert (nothing.allow_delete, nothing.allow_invoke) == (False, frozenset())
    assert (granted.allow_delete, granted.allow_invoke) == (True, frozenset({"PurgeQueue", "sqs:SendMessage"}))


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('self["a"] + self.b.c', {("self", "a"), ("self", "b")}),
        ("max([for s in var.sizes : s.max]...)", {("var", "sizes")}),
        ("lookup({ self = local.x }, var.y)", {("local", "x"), ("var", "y")}),
        ('"${before.n}-x"', {("before", "n")}),
        ("self.l[local.i]", {("self", "l"), ("local", "i")}),
    ],
)
def test_references_of_an_expression_are_found(expression: str, expected: set[tuple[str, str]]) -> None:
    (rule,) = parse_contracts(in_attribute(f"max = {expression}"), "c.sentinel.hcl")

    assert rule.bounds[0].limit.references == expected


@pytest.mark.parametrize("expression", ["(" * 5000 + "self.a" + ")" * 5000, "[" * 5000 + "]" * 5000])
def test_an_expression_that_is_nested_too_deeply_is_refused(expression: str) -> None:
    with pytest.raises(CodeInvalid, match=r"^c:\d+: "):
        parse_contracts(in_attribute(f"max = {expression}"), "c")


def test_labels_and_texts_keep_their_escapes() -> None:
    (rule,) = parse_contracts('contract "c" {\n  resource "aws_x" "y[\\"a\\"]" {\n    critical = true\n  }\n}', "c")

    assert rule.names == 'y["a"]'


def test_a_file_with_windows_line_ends_keeps_its_lines() -> None:
    with pytest.raises(CodeInvalid, match=r"^c:4: There is no bound"):
        parse_contracts(in_attribute("maxi = 3").replace("\n", "\r\n"), "c")
