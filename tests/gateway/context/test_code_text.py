"""The text of a resource's block, without what is a secret in it."""

from pathlib import Path

from gateway.context.code_text import MOST_LINES, code_text
from gateway.context.lookup import resource_at
from gateway.core.model.verdict import Mode
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.stacks import Stacks

CODE = """# Another block.
locals { x = 1 }

resource "aws_db_instance" "main" {
  identifier = "orders"
  password   = "hunter22"
  tags       = { Token = "abcdefgh", "api_key" : "zzz", Name = "orders" }
}

resource "aws_lambda_function" "f" {
  function_name = "f"
  environment {
    variables = {
      MODE = "live"
    }
  }
  dynamic "vpc_config" {
    for_each = []
    content {
      subnet_ids = [aws_db_instance.main.id, "AKIAIOSFODNN7EXAMPLA"]
    }
  }
}
"""


def texts(directory: Path, code: str, *names: str) -> list[str]:
    (directory / "main.tf").write_text(code)
    stacks = Stacks.load([StackSettings(name="prod", path=directory)], default_mode=Mode.ENFORCE)
    found = [code_text(resource_at(stacks, name)) for name in names]
    assert all(found)
    return [str(each["text"]) for each in found if each]


def test_the_block_is_told_without_its_secrets(tmp_path: Path) -> None:
    database, function = texts(tmp_path, CODE, "aws_db_instance.main", "aws_lambda_function.f")
    assert database.splitlines() == [
        'resource "aws_db_instance" "main" {',
        '  identifier = "orders"',
        "  password   = (not shown)",
        '  tags       = { Token = (not shown), "api_key" : (not shown), Name = "orders" }',
        "}",
    ]
    assert "variables = (not shown)" in function
    assert "live" not in function
    assert "subnet_ids = [aws_db_instance.main.id" in function


def test_a_long_block_is_cut_and_says_so(tmp_path: Path) -> None:
    lines = "\n".join(f'    n{number} = "v"' for number in range(200))
    [text] = texts(tmp_path, f'resource "aws_sqs_queue" "q" {{\n  tags = {{\n{lines}\n  }}\n}}\n', "aws_sqs_queue.q")
    assert len(text.splitlines()) == MOST_LINES
