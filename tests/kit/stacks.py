"""Stacks as the gateway loads them, from the cases or a copy of them."""

from pathlib import Path

from gateway.core.model.verdict import Mode
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.stacks import Stacks

KAFKA = Path(__file__).parents[1] / "cases" / "stacks" / "kafka"
GROUP = "aws_autoscaling_group.kafka_consumer"


class Source(StackSettings):
    """The settings of one stack."""

    name: str = "kafka"


def load(*sources: Source) -> Stacks:
    """The stacks."""
    return Stacks.load(sources, default_mode=Mode.ENFORCE)
