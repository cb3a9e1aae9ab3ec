"""A stack whose state Sentinel does not read is refused, with file, line and what to do; one beside the code is not."""

from pathlib import Path

import pytest

from gateway.errors import CodeInvalid
from gateway.terraform.config.backend import StateObject, state_object
from gateway.terraform.config.source import load_sources


def check(directory: Path, **files: str) -> None:
    for name, text in files.items():
        (directory / f"{name}.tf").write_text(text)
    assert located(directory) is None


def located(directory: Path, workspace: str = "", **given: str) -> StateObject | None:
    return state_object(load_sources(directory, {}, {})["."], "web", given=given, workspace=workspace)


@pytest.mark.parametrize(
    ("block", "what"),
    [
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
    local, remote = 'terraform {\n  backend "local" {}\n}\n', 'terraform {\n  backend "gcs" {}\n}\n'
    check(tmp_path, main=remote, main_override=local)
    with pytest.raises(CodeInvalid, match=r"^main_override.tf:2: "):
        check(tmp_path, main=local, main_override=remote)


S3 = 'terraform {\n  backend "s3" {\n    bucket = "states"\n    key = "shop/terraform.tfstate"\n    region = "eu-west-1"\n    MORE\n  }\n}\n'


@pytest.mark.parametrize(
    ("more", "workspace", "key"),
    [
        ("", "", "shop/terraform.tfstate"),
        ("", "default", "shop/terraform.tfstate"),
        ('dynamodb_table = "locks"\n    encrypt = true', "blue", "env:/blue/shop/terraform.tfstate"),
        ('workspace_key_prefix = "teams"', "blue", "teams/blue/shop/terraform.tfstate"),
    ],
)
def test_a_state_in_s3_is_located(more: str, workspace: str, key: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(S3.replace("MORE", more))
    found = located(tmp_path, workspace)
    assert found == StateObject(bucket="states", key=key, region="eu-west-1")
    assert found is not None
    assert found.url == f"s3://states/{key}"


def test_what_the_code_leaves_to_init_comes_from_the_settings(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('terraform {\n  backend "s3" {\n    key = "k"\n  }\n}\n')
    with pytest.raises(CodeInvalid, match=r"^main.tf:2: .* bucket and region .* `backend_config` of the stack web"):
        located(tmp_path)
    assert located(tmp_path, bucket="b", region="eu-west-1") == StateObject(bucket="b", key="k", region="eu-west-1")


@pytest.mark.parametrize(
    "more", ['role_arn = "arn:x"', 'assume_role = { role_arn = "x" }', 'endpoints = { s3 = "http://x" }']
)
def test_other_credentials_and_hosts_are_not_guessed(more: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(S3.replace("MORE", more))
    with pytest.raises(CodeInvalid, match=f"from S3 with {more.split(maxsplit=1)[0]}, which Sentinel does not do"):
        located(tmp_path)
