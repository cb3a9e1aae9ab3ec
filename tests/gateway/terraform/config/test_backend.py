"""Where a stack keeps its state: beside the code, in S3, or in a backend that Terraform reads. Any other way is refused, with what to do."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.backend import StateBackend, StateObject, StatePlace, state_location, state_places
from gateway.terraform.config.source import load_sources


def check(directory: Path, **files: str) -> None:
    for name, text in files.items():
        (directory / f"{name}.tf").write_text(text)
    assert located(directory) is None


def located(directory: Path, workspace: str = "", **given: str) -> StateObject | StateBackend | None:
    return state_location(load_sources(directory, {}, {})["."], "web", given=given, workspace=workspace)


@pytest.mark.parametrize(
    ("block", "kind", "what"),
    [
        ('backend "gcs" {}', "gcs", 'backend "gcs"'),
        ('cloud {\n organization = "o"\n workspaces {\n  name = "w"\n }\n}', "cloud", "HCP Terraform"),
    ],
)
def test_a_state_in_another_backend_is_for_terraform_to_read(block: str, kind: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(f'terraform {{\n  required_version = ">= 1.5"\n  {block}\n}}\n')
    found = located(tmp_path, "blue", prefix="p")
    assert isinstance(found, StateBackend)
    assert (found.kind, found.code, found.given, found.workspace) == (kind, block, {"prefix": "p"}, "blue")
    assert (found.source, found.url.startswith(what)) == ("main.tf:3", True)
    assert found.blocks == ({"workspaces"} if kind == "cloud" else frozenset())


def test_a_backend_in_json_is_found_too(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text('{"terraform": {"backend": {"pg": {"schema_name": "s"}}}}')
    found = located(tmp_path)
    assert isinstance(found, StateBackend)
    assert (found.kind, found.source) == ("pg", "main.tf.json:1")
    assert found.code == 'backend "pg" {\n    schema_name = "s"\n  }'


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
    for name, text in (("main", local), ("main_override", remote)):
        (tmp_path / f"{name}.tf").write_text(text)
    found = located(tmp_path)
    assert isinstance(found, StateBackend)
    assert found.source == "main_override.tf:2"


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


def places(directory: Path, text: str, workspace: str = "", **given: str) -> tuple[StatePlace, ...]:
    (directory / "main.tf").write_text(text)
    source = load_sources(directory, {}, {})["."]
    return state_places(source, "web", given=given, workspace=workspace, keepers=("ci",))


def test_the_place_of_a_state_is_what_can_be_told(tmp_path: Path) -> None:
    code = """terraform {
  backend "s3" {
    bucket         = "states"
    key            = "web.tfstate"
    region         = "eu-west-1"
    dynamodb_table = "locks"
    kms_key_id     = "alias/states"
    role_arn       = "arn:aws:iam::123456789012:role/states"
  }
}
"""
    (place,) = places(tmp_path, code)
    assert (place.bucket, place.key, place.lock_table, place.kms_key) == (
        "states",
        "web.tfstate",
        "locks",
        "alias/states",
    )
    assert (place.stack, place.keepers, place.object.url) == ("web", ("ci",), "s3://states/web.tfstate")
    assert places(tmp_path, code, "blue")[0].key == "env:/blue/web.tfstate"


def test_what_cannot_be_told_of_a_place_is_left_open(tmp_path: Path) -> None:
    partly = 'terraform {\n  backend "s3" {\n    bucket = "states"\n  }\n}\n'
    assert [(each.bucket, each.key) for each in places(tmp_path, partly)] == [("states", "")]
    assert places(tmp_path, partly, key="a")[0].key == "a"
    assert places(tmp_path, 'terraform {\n  backend "s3" {}\n}\n') == ()
    assert places(tmp_path, 'terraform {\n  backend "s3" {}\n}\n', bucket="states")[0].bucket == "states"
    assert places(tmp_path, 'terraform {\n  backend "gcs" {}\n}\n', bucket="states") == ()
