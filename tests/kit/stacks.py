"""Stacks as the gateway loads them, from the cases or a copy of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.model.verdict import Mode
from gateway.terraform.stacks import Stacks

KAFKA = Path(__file__).parents[1] / "cases" / "stacks" / "kafka"
GROUP = "aws_autoscaling_group.kafka_consumer"


@dataclass(frozen=True)
class Source:
    """The settings of one stack."""

    path: Path
    name: str = "kafka"
    state: Path | None = None
    mode: Mode = Mode.ENFORCE
    account: str = ""
    region: str = ""
    protected_branch: str = ""
    workspace: str = ""
    backend_config: Mapping[str, str] = field(default_factory=dict)


def load(*sources: Source) -> Stacks:
    """The stacks."""
    return Stacks.load(sources, default_mode=Mode.ENFORCE)
