"""Every setting is found with the path from its resource and the name that other code calls it by."""

from pathlib import Path

from gateway.terraform.lang.hcl import parse
from reconciler.suggest.code_settings import settings_in

CODE = b"""resource "aws_x" "y" {
  for_each = local.all
  dynamic "setting" {
    for_each = var.settings
    content {
      value = [{ "a.b" = setting.value, (each.key) = 1 }]
    }
  }
}
data "aws_z" "y" {
  name = data.aws_other.one[0].id
}
variable "size" {
  default = 1
}
module "db" {
  size = module.net["a"].cidr
}
locals {
  all = { one = aws_x.y }
}
"""


def _found(code: bytes, *, of_variables: bool = False) -> dict[str, tuple[str, str]]:
    settings = settings_in(parse(Path("main.tf"), code), of_variables=of_variables)
    return {each.place.path or each.name: (each.place.resource_type, each.place.key) for each in settings}


def test_each_setting_has_its_path_and_key() -> None:
    assert _found(CODE) == {
        "for_each": ("aws_x", "aws_x.y."),
        "setting": ("aws_x", "aws_x.y.setting"),
        "setting.value": ("aws_x", "aws_x.y.setting"),
        "setting.value.a_b": ("aws_x", ""),
        "setting.value._": ("aws_x", ""),
        "name": ("aws_z", "data.aws_z.y.name"),
        "default": ("", "var.size"),
        "size": ("", "var.size"),
        "all": ("", "local.all"),
        "all.one": ("", ""),
    }
    assert _found(b"size = { a = 1 }\n", of_variables=True) == {"size": ("", "var.size"), "size.a": ("", "")}


def test_a_value_names_what_it_may_come_from() -> None:
    settings = settings_in(parse(Path("main.tf"), CODE), of_variables=False)
    assert {key for each in settings for key in each.references} == {
        "local.all", "var.settings", "data.aws_other.one.id", "output.cidr", "aws_x.y.*",
    }  # fmt: skip


def test_a_block_is_sensitive_unless_it_says_false() -> None:
    for said, sensitive in (("true", True), ("var.x", True), ("false", False)):
        code = f'variable "a" {{\n  default = 1\n  sensitive = {said}\n}}\n'.encode()
        assert {each.place.sensitive for each in settings_in(parse(Path("v.tf"), code), of_variables=False)} == {
            sensitive
        }
