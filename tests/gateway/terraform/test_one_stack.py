"""One stack alone."""

import pytest

from gateway.errors import NotFound
from gateway.model.verdict import Mode
from gateway.settings import StackSettings
from gateway.terraform.one_stack import one_stack
from gateway.terraform.stacks import Stacks
from tests.kit.gate import STACK

BOTH = Stacks.load([StackSettings(name=name, path=STACK) for name in ("a", "b")], default_mode=Mode.OBSERVE)


def test_every_address_is_its_own() -> None:
    one = one_stack(BOTH, "b")
    assert one.declaring("aws_autoscaling_group.kafka_consumer").name == "b"
    fresh = "aws_sqs_queue.not_there_yet"
    assert one.declaring(fresh).contract(fresh).bounded
    assert (one.snapshot().default_name, one.all, one.default_mode) == ("b", (one.stack,), Mode.ENFORCE)
    assert one.account() == "123456789012"
    assert one.revision != BOTH.revision


def test_a_name_that_no_stack_has_is_refused() -> None:
    with pytest.raises(NotFound, match=r"There is no stack 'c'\. The settings have: a, b\."):
        one_stack(BOTH, "c")
