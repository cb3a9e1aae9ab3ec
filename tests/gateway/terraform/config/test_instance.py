"""The values of one instance: attributes, nested blocks, dotted paths."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from gateway.terraform.config.instance import ResourceInstance, attributes, declared
from gateway.terraform.config.module import load_module
from gateway.terraform.lang.evaluate import Unknown

CODE = b"""
locals {
  rules = { b = 2, a = 1 }
}

resource "aws_security_group" "x" {
  count = 1
  name  = "x"
  vpc   = aws_vpc.v.id
  tags  = { owner = "me", "k8s.io/name" = "n", vpc = aws_vpc.v.id }

  ingress {
    from_port = 1
    groups    = [aws_vpc.v.id]
  }

  ingress {
    from_port = 2
  }

  dynamic "egress" {
    for_each = local.rules
    iterator = rule
    content {
      from_port = rule.value
      name      = rule.key
      deeper {
        name = rule.key
      }
    }
  }

  dynamic "unknown" {
    for_each = aws_vpc.v.ids
    content {}
  }

  single {
    status = "on"
  }

  lifecycle {
    ignore_changes = [name]
  }
}
"""


@pytest.fixture
def instance(tmp_path: Path) -> ResourceInstance:
    """The one instance of the code."""
    return load_module(tmp_path, {Path("main.tf"): CODE}).instances()[0]


def test_attributes_are_what_is_known(instance: ResourceInstance) -> None:
    assert attributes(instance) == {
        "name": "x",
        "ingress": [{"from_port": 1}, {"from_port": 2}],
        "egress": [
            {"from_port": 1, "name": "a", "deeper": [{"name": "a"}]},
            {"from_port": 2, "name": "b", "deeper": [{"name": "b"}]},
        ],
        "single": [{"status": "on"}],
    }


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", "x"),
        ("tags.owner", "me"),
        ("tags.k8s.io/name", "n"),
        ("ingress.1.from_port", 2),
        ("egress.1.from_port", 2),
        ("egress.0.deeper.name", "a"),
        ("single.status", "on"),
        ("single.0.status", "on"),
        ("single", [{"status": "on"}]),
    ],
)
def test_a_declared_value_is_found_by_its_path(path: str, value: Json, instance: ResourceInstance) -> None:
    assert declared(instance, path) == value


@pytest.mark.parametrize(
    "path",
    [
        "vpc",
        "tags",
        "tags.vpc",
        "tags.none",
        "ingress",
        "ingress.from_port",
        "ingress.2.from_port",
        "absent",
        "unknown",
        "unknown.0.x",
        "name.x",
        "",
        "egress.0.deeper.9",
    ],
)
def test_what_is_not_certain_is_unknown(path: str, instance: ResourceInstance) -> None:
    with pytest.raises(Unknown):
        declared(instance, path)
