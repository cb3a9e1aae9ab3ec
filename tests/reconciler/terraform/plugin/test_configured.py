"""A provider is configured as the code says, or not at all."""

from pathlib import Path

import pytest

from gateway.terraform.config.module import load_module
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.configured import configuration, split_provider

AWS = "registry.terraform.io/hashicorp/aws"
CODE = """
variable "region" {
  default = "eu-west-1"
}
provider "aws" {
  region = var.region
  assume_role {
    role_arn = "arn:aws:iam::123456789012:role/x"
  }
}
provider "aws" {
  alias  = "unknown"
  region = aws_instance.x.availability_zone
}
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}
"""


def _configuration(tmp_path: Path, alias: str, **files: str) -> object:
    for name, text in {"main": CODE, **files}.items():
        (tmp_path / f"{name}.tf").write_text(text)
    return configuration(load_module(tmp_path), AWS, alias)


def test_the_block_is_evaluated(tmp_path: Path) -> None:
    role = [{"role_arn": "arn:aws:iam::123456789012:role/x"}]
    assert _configuration(tmp_path, "") == {"region": "eu-west-1", "assume_role": role}


def test_an_alias_is_its_own_configuration(tmp_path: Path) -> None:
    assert _configuration(tmp_path, "west") == {"region": "us-west-2"}


def test_code_without_a_block_leaves_it_to_the_environment(tmp_path: Path) -> None:
    assert _configuration(tmp_path, "", main="") == {}


def test_what_is_not_known_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(PluginUnavailable, match="is not known"):
        _configuration(tmp_path, "unknown")
    with pytest.raises(PluginUnavailable, match=r"configures no provider aws\.east"):
        _configuration(tmp_path, "east")
    with pytest.raises(PluginUnavailable, match="override file"):
        _configuration(tmp_path, "", override='provider "aws" {\n  region = "x"\n}\n')


def test_the_name_in_a_state_is_split() -> None:
    assert split_provider(f'provider["{AWS}"]') == (AWS, "")
    assert split_provider(f'provider["{AWS}"].west') == (AWS, "west")
    with pytest.raises(PluginUnavailable, match="root module"):
        split_provider(f'module.a.provider["{AWS}"]')
