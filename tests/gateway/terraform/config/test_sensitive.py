"""What is secret because the code says so, and what of a declared value is shown."""

import json
from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.core.model.masking import holds_mask, is_masked
from gateway.terraform.config.module import load_module
from gateway.terraform.config.sensitive import is_sensitive
from gateway.terraform.lang.grammar import parse_expression
from tests.kit.stacks import Source, load

CODE = """
variable "secret" {
  sensitive = true
  default   = "hunter22"
}

variable "passing" {
  ephemeral = true
  default   = "hunter23"
}

variable "open" {
  sensitive = false
  default   = "plain"
}

locals {
  made    = "x-${var.secret}"
  shown   = nonsensitive(var.secret)
  veiled  = sensitive("x")
  circle  = local.round
  round   = local.circle
  config  = { host = "db", password = var.secret, "two words" = var.secret }
  copied  = local.config
  wide    = { for key, value in local.config : key => value }
}

module "child" {
  for_each = toset(["a"])
  source   = "./child"
  given    = var.secret
  plain    = var.open
}
"""
CHILD = """
variable "given" {}
variable "plain" {}

output "given" {
  value = { inner = "${var.given}" }
}

output "plain" {
  value = var.plain
}

output "marked" {
  sensitive = true
  value     = "x"
}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A module that calls another one."""
    (tmp_path / "main.tf").write_text(CODE)
    (tmp_path / "child").mkdir()
    (tmp_path / "child" / "main.tf").write_text(CHILD)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("var.secret", True),
        ("var.passing", True),
        ("var.open", False),
        ("var.missing", False),
        ('"a ${upper(var.secret)} b"', True),
        ('var.secret == "x" ? 1 : 2', True),
        ("[for each in [var.secret] : each]", True),
        ("var", True),
        ('var["secret"]', True),
        ("local.made", True),
        ("local.shown", False),
        ("local.veiled", True),
        ("local.circle", False),
        ("local.config", True),
        ("local.config.host", False),
        ("local.config.password", True),
        ('local.config["two words"]', True),
        ("local.config[var.open]", True),
        ("local.copied.host", False),
        ("local.copied.password", True),
        ("local.wide.host", True),
        ("{ a = var.secret, b = 1 }.b", True),  # more than is needed
        ('module.child["a"].given', True),
        ('module.child["a"].plain', False),
        ('module.child["a"].marked', True),
        ("module.child", True),
        ("module.nobody.x", False),
        ("aws_db_instance.it.password", False),
        ("aws_instance.it[var.secret].id", True),
        ("nonsensitive(var.secret)", False),
        ("length(local.config)", True),
        ("5", False),
    ],
)
def test_what_is_made_of_a_secret_is_one(root: Path, text: str, secret: bool) -> None:
    assert is_sensitive(parse_expression(text), load_module(root)) is secret


def test_a_guard_does_not_believe_that_it_is_none(root: Path) -> None:
    module = load_module(root)
    assert is_sensitive(parse_expression("nonsensitive(var.secret)"), module, unveiled=False)
    assert not is_sensitive(parse_expression("local.shown"), module, unveiled=False)  # the code's own word


def test_work_does_not_double_with_every_local(tmp_path: Path) -> None:
    steps = "\n".join(f"  a{n} = [local.a{n + 1}, local.a{n + 1}]" for n in range(60))
    (tmp_path / "main.tf").write_text(f"locals {{\n{steps}\n  a60 = 1\n}}\n")
    assert not is_sensitive(parse_expression("local.a0"), load_module(tmp_path))


BLOCKS = """
provider "aws" {
  region = "us-east-1"
}

variable "secret" {
  sensitive = true
  default   = "hunter22"
}

locals {
  tags = { owner = "shop" }
}

resource "aws_instance" "it" {
  instance_type = "t3.micro"
  tags          = { Name = "x", note = var.secret }
  volume_tags   = merge(local.tags, { note = var.secret })
  security_groups = ["web", "${var.secret}-group"]

  ebs_block_device {
    device_name = "a"
    snapshot_id = var.secret
  }

  user_data_options {
    master_password = "hunter24"
    plain           = "seen"
  }

  dynamic "network_interface" {
    for_each = [var.secret]
    content {
      network_interface_id = network_interface.value
      device_index         = 1
    }
  }
}
"""


def stack_value(root: Path, attribute: str, recorded: dict[str, Json] | None = None) -> Json:
    """The declared value as the gateway shows it, beside a state with these attributes."""
    (root / "main.tf").write_text(BLOCKS)
    instance: dict[str, object] = {"schema_version": 0, "attributes": recorded}
    resource = {
        "mode": "managed",
        "type": "aws_instance",
        "name": "it",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [instance],
    }
    if recorded is not None:
        step = [
            {"type": "get_attr", "value": "volume_tags"},
            {"type": "index", "value": {"value": "note", "type": "string"}},
        ]
        instance["sensitive_attributes"] = [step]
        state = {"version": 4, "serial": 1, "lineage": "x", "resources": [resource]}
        (root / "terraform.tfstate").write_text(json.dumps(state))
    (stack,) = load(Source(name="shop", path=root)).all
    return stack.declared("aws_instance.it", attribute)


def test_of_a_declared_value_only_the_secret_is_masked(tmp_path: Path) -> None:
    def shown(attribute: str) -> Json:
        return stack_value(tmp_path, attribute)

    tags = shown("tags")
    assert isinstance(tags, dict)
    assert (tags["Name"], is_masked(tags["note"])) == ("x", True)
    assert is_masked(shown("tags.note"))
    assert (shown("tags.Name"), shown("instance_type")) == ("x", "t3.micro")
    groups = shown("security_groups")
    assert isinstance(groups, list)
    assert (groups[0], is_masked(groups[1])) == ("web", True)
    devices = shown("ebs_block_device")
    assert isinstance(devices, list)
    assert isinstance(devices[0], dict)
    assert (devices[0]["device_name"], is_masked(devices[0]["snapshot_id"])) == ("a", True)
    assert is_masked(shown("ebs_block_device.0.snapshot_id"))
    assert shown("ebs_block_device.0.device_name") == "a"
    options = shown("user_data_options")
    assert isinstance(options, list)
    assert isinstance(options[0], dict)
    assert (is_masked(options[0]["master_password"]), options[0]["plain"]) == (True, "seen")
    assert "hunter22" not in json.dumps(shown("network_interface"))
    assert "hunter22" not in json.dumps(shown("volume_tags"))


def test_where_the_code_does_not_show_the_part_the_state_does(tmp_path: Path) -> None:
    recorded: dict[str, Json] = {"id": "i-1", "volume_tags": {"owner": "shop", "note": "hunter22"}}
    shown = stack_value(tmp_path, "volume_tags", recorded)
    assert isinstance(shown, dict)
    assert (shown["owner"], is_masked(shown["note"])) == ("shop", True)
    other = stack_value(tmp_path, "volume_tags", {"id": "i-1", "volume_tags": {"owner": "shop"}})
    assert holds_mask(other)
    assert "hunter22" not in json.dumps(other)
