"""A stack whose state Sentinel does not read is refused, with file, line and what to do; one beside the code is not."""

from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.config.backend import refuse_other_state
from gateway.terraform.config.source import load_sources


def check(directory: Path, **files: str) -> None:
    for name, text in files.items():
        (directory / f"{name}.tf").write_text(text)
    refuse_other_state(load_sources(directory, {}, {})["."], "web")


@pytest.mark.parametrize(
    ("block", "what"),
    [
        ('backend "s3" {\n bucket = "b"\n}', 'backend "s3"'),
        ('backend "gcs" {}', 'backend "gcs"'),
        ('cloud {\n organization = "o"\n}', "HCP Terraform"),
    ],
)
def test_a_state_elsewhere_is_refused(block: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(CodeInvalid) as refused:
        check(tmp_path, main=f'terraform {{\n  required_version = ">= 1.5"\n  {block}\n}}\n')
    assert str(refused.value).startswith(f"main.tf:3: The stack web keeps its state in {what}")
    assert "`terraform state pull > FILE`" in str(refused.value)
    assert "name the file as `state` of the stack web" in str(refused.value)


@pytest.mark.parametrize("path", ['"other.tfstate"', "var.path", '"../terraform.tfstate"'])
def test_a_local_state_in_another_file_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(CodeInvalid, match=r"^main.tf:3: .* Name that file as `state` of the stack web"):
        check(tmp_path, main=f'terraform {{\n  backend "local" {{\n    path = {path}\n  }}\n}}\n')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "terraform {}\n",
        'terraform {\n  backend "local" {}\n}\n',
        'terraform {\n  backend "local" {\n    path = "terraform.tfstate"\n  }\n}\n',
        'resource "aws_lb_target_group" "backend" {}\n',
    ],
)
def test_a_state_beside_the_code_is_read(text: str, tmp_path: Path) -> None:
    check(tmp_path, main=text)


def test_an_override_file_has_the_last_word(tmp_path: Path) -> None:
    local, remote = 'terraform {\n  backend "local" {}\n}\n', 'terraform {\n  backend "s3" {}\n}\n'
    check(tmp_path, main=remote, main_override=local)
    with pytest.raises(CodeInvalid, match=r"^main_override.tf:2: "):
        check(tmp_path, main=local, main_override=remote)
