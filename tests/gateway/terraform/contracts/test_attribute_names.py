"""A contract that names an attribute which no resource of its type has is refused with file, line and the nearest name."""

from collections.abc import Collection

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.contracts.attribute_names import check_attributes
from gateway.terraform.contracts.contract import parse_contracts

CONTRACT = """contract "c" {
  resource "%s" "*" {
    managed_by_agent = true
    %s
  }
%s}
"""
BOUND = 'attribute "desired_capacity" {\n      %s\n    }'
ENFORCE = 'enforce {\n    condition     = %s\n    error_message = "No."\n  }'
GROUP = "aws_autoscaling_group"


def _check(types: str, body: str, shared: str = "", seen: Collection[str] = ()) -> None:
    check_attributes(parse_contracts(CONTRACT % (types, body, shared), "c.sentinel.hcl"), lambda _types: seen)


@pytest.mark.parametrize(
    ("body", "shared", "line", "name", "nearest"),
    [
        (BOUND % "max = self.max_sizzle", "", 5, "max_sizzle", "max_size"),
        (BOUND % "max = before.max_sizzle + 1", "", 5, "max_sizzle", "max_size"),
        (ENFORCE % "self.max_sizzle < 9", "", 5, "max_sizzle", "max_size"),
        ('attribute "desired_capcity" {\n      max = 3\n    }', "", 5, "desired_capcity", "desired_capacity"),
        ('mutable = ["taggs.owner"]', "", 2, "taggs", "tag"),
        ('immutable = ["max_sizes"]', "", 2, "max_sizes", "max_size"),
        ("", "  " + ENFORCE % "self.max_sizzle < 9" + "\n", 7, "max_sizzle", "max_size"),
    ],
)
def test_a_misspelt_attribute_is_refused(body: str, shared: str, line: int, name: str, nearest: str) -> None:
    with pytest.raises(CodeInvalid) as refused:
        _check(GROUP, body, shared)
    sentence = str(refused.value)
    assert sentence == f"c.sentinel.hcl:{line}: {GROUP} has no attribute {name!r}; did you mean {nearest!r}?"


@pytest.mark.parametrize(
    ("types", "body"),
    [
        (GROUP, BOUND % "max = self.max_size"),
        (GROUP, 'mutable = ["arn", "timeouts.update", "tag"]'),
        ("aws_*", BOUND % "max = self.max_size"),
        ("aws_*", 'mutable = ["tags.owner", "ingress"]'),
        ("*", 'mutable = ["of_another_provider"]'),
        ("random_password", 'mutable = ["length", "what_it_has"]'),
        ("aws_newer_than_the_schema", 'mutable = ["anything"]'),
        ("aws_?", 'mutable = ["anything"]'),
    ],
)
def test_what_a_type_may_have_is_accepted(types: str, body: str) -> None:
    _check(types, body)


def test_a_glob_is_judged_by_all_its_types() -> None:
    with pytest.raises(CodeInvalid, match=r"aws_s3_\* has no attribute 'visibility_timeout_seconds'\."):
        _check("aws_s3_*", 'mutable = ["visibility_timeout_seconds"]')


def test_what_a_newer_provider_has_is_known_from_code_or_state() -> None:
    _check(GROUP, 'mutable = ["of_next_year"]', seen=["of_next_year"])


def test_a_condition_of_the_whole_contract_applies_to_any_of_its_types() -> None:
    queue = '  resource "aws_sqs_queue" "*" {}\n'
    _check(GROUP, "", queue + "  " + ENFORCE % "self.fifo_queue" + "\n")
    with pytest.raises(CodeInvalid, match=f"{GROUP} or aws_sqs_queue has no attribute"):
        _check(GROUP, "", queue + "  " + ENFORCE % "self.fifo_quene" + "\n")
