"""A block that a module makes only if a variable is set is made by setting it at the call."""

from pathlib import Path

import pytest

from gateway.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.edit import edit

MODULE = b"""variable "mode" {
  type    = string
  default = null
}

resource "aws_lambda_function" "this" {
  dynamic "tracing_config" {
    for_each = var.mode == null ? [] : [true]

    content {
      mode = var.mode
    }
  }
}
"""
FILES = {Path("main.tf"): b'module "f" {\n  source = "./vendor/f"\n}\n', Path("vendor/f/main.tf"): MODULE}


def _wanted(value: Json) -> list[Wanted]:
    return [Wanted(address="module.f.aws_lambda_function.this", attribute="tracing_config", value=value)]


def test_the_call_gives_what_the_content_reads() -> None:
    result = edit(Path("/nowhere"), _wanted([{"mode": "Active"}]), FILES)
    assert result.files == {Path("main.tf"): b'module "f" {\n  source = "./vendor/f"\n\n  mode = "Active"\n}\n'}


@pytest.mark.parametrize("value", [[{"mode": "A"}, {"mode": "B"}], [{"other": 1}], "x"])
def test_other_values_are_left(value: Json) -> None:
    result = edit(Path("/nowhere"), _wanted(value), FILES)
    assert (result.files, len(result.left)) == ({}, 1)
