"""A Terraform stack of any size, with its contract and its state, made up for measuring."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

_CODE = """
resource "aws_autoscaling_group" "group" {
  count            = %d
  name             = "group-${count.index}"
  min_size         = 2
  max_size         = 16
  desired_capacity = 4
}
"""
_CONTRACT = """
contract "fleet" {
  owner = "team-bench"

  resource "aws_autoscaling_group" "*" {
    managed_by_agent = true

    attribute "desired_capacity" {
      min = self.min_size
      max = self.max_size
    }
  }
}
"""


def write_stack(directory: Path, size: int) -> None:
    """A stack of `size` Auto Scaling groups, `group-0` and on, all in the state."""
    write_applied(
        directory,
        code=_CODE % size,
        contract=_CONTRACT,
        resource=("aws_autoscaling_group", "group"),
        instances=[_instance(number) for number in range(size)],
    )


def write_applied(
    directory: Path, *, code: str, contract: str, resource: tuple[str, str], instances: Sequence[Mapping[str, object]]
) -> None:
    """A new directory with code, contract, and a state that holds these instances (their attributes) of one resource with `count`.

    `resource` is its type and name.
    """
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(code)
    (directory / "bench.sentinel.hcl").write_text(contract)
    kind, name = resource
    held = {
        "mode": "managed",
        "type": kind,
        "name": name,
        "provider": 'provider["registry.example.org/hashicorp/aws"]',
        "instances": [
            {"index_key": number, "schema_version": 0, "attributes": attributes, "sensitive_attributes": []}
            for number, attributes in enumerate(instances)
        ],
    }
    state = {
        "version": 4,
        "terraform_version": "1.11.0",
        "serial": 1,
        "lineage": "0b1c",
        "outputs": {},
        "resources": [held],
        "check_results": None,
    }
    (directory / "terraform.tfstate").write_text(json.dumps(state))


def _instance(number: int) -> dict[str, object]:
    return {
        "id": f"group-{number}",
        "name": f"group-{number}",
        "arn": f"arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:{number}:autoScalingGroupName/group-{number}",
        "min_size": 2,
        "max_size": 16,
        "desired_capacity": 4,
        "tag": [],
    }
