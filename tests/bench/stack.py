"""A Terraform stack of any size, with its law and its state, made up for measuring."""

import json
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
_LAW = """
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
    directory.mkdir(parents=True)
    (directory / "main.tf").write_text(_CODE % size)
    (directory / "fleet.sentinel.hcl").write_text(_LAW)
    resource = {
        "mode": "managed",
        "type": "aws_autoscaling_group",
        "name": "group",
        "provider": 'provider["registry.example.org/hashicorp/aws"]',
        "instances": [_instance(number) for number in range(size)],
    }
    state = {
        "version": 4,
        "terraform_version": "1.11.0",
        "serial": 1,
        "lineage": "0b1c",
        "outputs": {},
        "resources": [resource],
        "check_results": None,
    }
    (directory / "terraform.tfstate").write_text(json.dumps(state))


def _instance(number: int) -> dict[str, object]:
    attributes = {
        "id": f"group-{number}",
        "name": f"group-{number}",
        "arn": f"arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:{number}:autoScalingGroupName/group-{number}",
        "min_size": 2,
        "max_size": 16,
        "desired_capacity": 4,
        "tag": [],
    }
    return {"index_key": number, "schema_version": 0, "attributes": attributes, "sensitive_attributes": []}
