"""References between resources: direct, and through locals, data sources, module arguments and outputs."""

from pathlib import Path

from gateway.terraform.config.module import load_module
from gateway.terraform.config.references import references

CHILD = b"""
variable "role" {}
variable "plain" {
  default = 1
}
resource "a" "in" {
  role  = var.role
  plain = var.plain
}
resource "a" "free" {}
output "id" {
  value = a.in.id
}
output "free" {
  value = a.free.id
}
"""

MAIN = b"""
resource "a" "direct" {
  x = a.target.id
}
resource "a" "target" {}
resource "a" "by_local" {
  x = local.one
}
locals {
  one = "${local.two}-x"
  two = upper(a.target.id)
  own = local.own
}
resource "a" "by_data" {
  x = data.d.doc.json
}
data "d" "doc" {
  statement {
    x = [a.target.arn]
  }
}
resource "a" "by_output" {
  x = module.m.id
}
resource "a" "by_free_output" {
  x = module.m.free
}
module "m" {
  source = "./m"
  role   = a.target.id
}
module "keys" {
  source   = "./m"
  for_each = { k = 1 }
  role     = each.value
  depends_on = [a.direct]
}
resource "a" "by_depends" {
  depends_on = [a.target]
}
resource "a" "by_index" {
  x = a.many[local.two].id
  y = a.many["k"].id
  z = a.many[*].id
}
resource "a" "many" {
  count = 2
}
resource "a" "shadowed" {
  x = [for a in [{ target = 1 }] : a.target]
}
resource "a" "by_for" {
  x = [for t in a.many : t.id if t.id != a.target.id]
}
resource "a" "nested" {
  block {
    dynamic "inner" {
      for_each = a.many
      content {
        x = inner.value.id
      }
    }
  }
  lifecycle {
    replace_triggered_by = [a.target]
  }
}
resource "a" "itself" {
  x = self.id
  y = local.own
  z = unknown.thing.id
}
"""


def test_every_way_to_refer_is_followed(tmp_path: Path) -> None:
    module = load_module(tmp_path, {Path("main.tf"): MAIN, Path("m/main.tf"): CHILD})
    assert references(module) == {
        "a.direct": {"a.target"},
        "a.target": set(),
        "a.by_local": {"a.target"},
        "a.by_data": {"a.target"},
        "a.by_output": {"module.m.a.in"},
        "a.by_free_output": {"module.m.a.free"},
        "a.by_depends": {"a.target"},
        "a.by_index": {"a.many", "a.target"},
        "a.many": set(),
        "a.shadowed": set(),
        "a.by_for": {"a.many", "a.target"},
        "a.nested": {"a.many", "a.target"},
        "a.itself": set(),
        "module.m.a.in": {"a.target"},
        "module.m.a.free": set(),
        'module.keys["k"].a.in': {"a.direct"},
        'module.keys["k"].a.free': {"a.direct"},
    }
