"""Values that a type constraint converts are edited as they are given: items of sets at their places, without what the type fills in."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Edited, Wanted
from reconciler.rewrite.value_edits import edit_values

TYPE = """{kind}(object({{
    port        = number
    cidrs       = list(string)
    description = optional(string, "")
    protocol    = optional(string, "tcp")
  }}))"""
GROUP = """
resource "aws_security_group" "a" {
  dynamic "ingress" {
    for_each = var.rules

    content {
      description = ingress.value.description
      from_port   = ingress.value.port
      to_port     = ingress.value.port
      protocol    = ingress.value.protocol
      cidr_blocks = ingress.value.cidrs
    }
  }
}
"""
ONE_LINE = '[{ port = 5432, cidrs = ["10.1.0.0/16", "10.2.0.0/16"], description = "db" }, { port = 22, cidrs = ["10.9.0.0/24"] }]'
LINES = """[
    {
      port        = 5432
      cidrs       = ["10.1.0.0/16", "10.2.0.0/16"]
      description = "db"
    },
    # who may log in
    {
      port  = 22
      cidrs = ["10.9.0.0/24"]
    },
  ]"""


def row(port: int, *cidrs: str, description: str = "", protocol: str = "tcp") -> dict[str, Json]:
    """A rule as the provider reads it."""
    return {
        "description": description, "from_port": port, "to_port": port, "protocol": protocol, "cidr_blocks": list(cidrs),
        "self": False, "security_groups": [],
    }  # fmt: skip


DB, SSH = row(5432, "10.1.0.0/16", "10.2.0.0/16", description="db"), row(22, "10.9.0.0/24")
EDITS: list[tuple[list[Json], str, str]] = [
    ([DB], ', { port = 22, cidrs = ["10.9.0.0/24"] }]', "]"),
    ([SSH], '{ port = 5432, cidrs = ["10.1.0.0/16", "10.2.0.0/16"], description = "db" }, ', ""),
    ([SSH, row(5432, "10.1.0.0/16", description="db")], '["10.1.0.0/16", "10.2.0.0/16"]', '["10.1.0.0/16"]'),
    ([row(22, "10.9.0.0/24", description="ops"), DB], '["10.9.0.0/24"]', '["10.9.0.0/24"], description = "ops"'),
    ([row(22, "10.9.0.0/24", protocol="udp"), DB], '["10.9.0.0/24"]', '["10.9.0.0/24"], protocol = "udp"'),
    ([SSH, row(80, "10.0.0.0/8"), DB], '"10.9.0.0/24"] }]', '"10.9.0.0/24"] }, { port = 80, cidrs = ["10.0.0.0/8"] }]'),
]


def edited(
    root: Path, code: str, wanted: Json, address: str = "aws_security_group.a", attribute: str = "ingress"
) -> Edited:
    (root / "main.tf").write_text(code)
    return edit_values(root, [Wanted(address=address, attribute=attribute, value=wanted)])


@pytest.mark.parametrize("kind", ["set", "list"])
@pytest.mark.parametrize(("wanted", "old", "new"), EDITS)
def test_an_item_of_a_variable_with_defaults(kind: str, wanted: list[Json], old: str, new: str, tmp_path: Path) -> None:
    code = f'variable "rules" {{\n  type    = {TYPE.format(kind=kind)}\n  default = {ONE_LINE}\n}}\n{GROUP}'
    result = edited(tmp_path, code, wanted)
    assert result.left == ()
    assert result.files[Path("main.tf")].decode() == code.replace(old, new, 1)


def test_items_on_lines_of_their_own_keep_their_order_and_comments(tmp_path: Path) -> None:
    code = f'variable "rules" {{\n  type    = {TYPE.format(kind="set")}\n  default = {LINES}\n}}\n{GROUP}'
    result = edited(tmp_path, code, [SSH, row(80, "10.0.0.0/8"), DB])
    new = '    {\n      port  = 80\n      cidrs = ["10.0.0.0/8"]\n    },\n  ]'
    assert result.files[Path("main.tf")].decode() == code.replace("    },\n  ]", f"    }},\n{new}", 1)


SET = """
locals {
  rules = toset([{ port = 443, name = "b" }, { port = 80, name = "a" }])
}

resource "r" "a" {
  for_each = { for rule in local.rules : rule.name => rule }
  port     = each.value.port
}
"""


def test_an_item_of_a_set_by_a_key_that_is_made_of_it(tmp_path: Path) -> None:
    result = edited(tmp_path, SET, 8443, 'r.a["b"]', "port")
    assert result.files[Path("main.tf")].decode() == SET.replace("port = 443", "port = 8443")


def test_what_names_the_instance_is_not_edited(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  for_each = toset(["x", "y"])\n  size     = each.value\n}\n'
    assert not edited(tmp_path, code, "z", 'r.a["x"]', "size").files


def test_the_items_of_a_set_of_texts_keep_their_places(tmp_path: Path) -> None:
    code = 'resource "r" "a" {\n  names = toset(["c", "b", "a"])\n}\n'
    result = edited(tmp_path, code, ["a", "c", "d"], "r.a", "names")
    assert result.files[Path("main.tf")].decode() == code.replace('["c", "b", "a"]', '["c", "a", "d"]')


FILLED = """
variable "queues" {
  type = map(object({
    delay = optional(number, 5)
    owner = optional(string, "us")
    tags  = optional(map(string), {})
  }))
  default = { a = { delay = 1 } }
}

resource "r" "a" {
  settings = var.queues
}
"""


def test_a_member_that_the_type_fills_in_is_not_written(tmp_path: Path) -> None:
    wanted: Json = {
        "a": {"delay": 1, "owner": "us", "tags": {}},
        "b": {"delay": 5, "owner": "us", "tags": {"x": "y"}},
    }
    result = edited(tmp_path, FILLED, wanted, "r.a", "settings")
    new = '{ a = { delay = 1 }, b = { delay = 5, tags = { x = "y" } } }'
    assert result.files[Path("main.tf")].decode() == FILLED.replace("{ a = { delay = 1 } }", new)


def test_an_item_of_a_list_that_the_type_fills_in_is_given_with_the_others(tmp_path: Path) -> None:
    code = """variable "budget" {
  type    = object({ limit = number, at = optional(list(number), [80, 100]) })
  default = { limit = 500 }
}

resource "r" "a" {
  limit = format("%.1f", var.budget.limit)

  dynamic "notification" {
    for_each = var.budget.at

    content {
      threshold = notification.value
    }
  }
}
"""
    (tmp_path / "main.tf").write_text(code)
    wanted = [
        Wanted(address="r.a", attribute="notification.0.threshold", value=90),
        Wanted(address="r.a", attribute="limit", value="750.0"),
    ]
    found = edit_values(tmp_path, wanted)
    assert found.left == ()
    assert found.files[Path("main.tf")].decode() == code.replace("limit = 500", "limit = 750, at = [90, 100]")
