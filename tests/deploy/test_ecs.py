"""The Terraform module for ECS: its own tests, and a plan by the real provider in front of a simulated AWS."""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.terraform.provider_mirror import terraform_environment
from tests.kit.moto import MotoUpstream

MODULE = Path(__file__).parent.parent.parent / "deploy" / "ecs"

pytestmark = [
    pytest.mark.terraform,
    pytest.mark.allow_hosts(["127.0.0.1"]),
    pytest.mark.usefixtures("slim_environment"),
]


def terraform(place: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run terraform in a directory, with the provider mirror of this machine if there is one."""
    environment = terraform_environment(mirror=None, workdir=place / ".cli", base={**os.environ, **more})
    return subprocess.run(
        ["terraform", *arguments], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the module."""
    copy = tmp_path_factory.mktemp("ecs") / "module"
    shutil.copytree(MODULE, copy, ignore=shutil.ignore_patterns(".terraform*"))
    return copy


def test_the_code_is_formatted_and_passes_its_own_tests(module: Path) -> None:
    assert terraform(MODULE, "fmt", "-check", "-recursive").stdout == ""
    done = terraform(module, "init", "-no-color", "-input=false")
    assert done.returncode == 0, done.stderr
    done = terraform(module, "test", "-no-color")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Success! 5 passed, 0 failed." in done.stdout


@pytest.fixture
async def aws() -> AsyncIterator[MotoUpstream]:
    upstream = MotoUpstream()
    runner = await upstream.start()
    yield upstream
    await runner.cleanup()


ROOT_MODULE = """
provider "aws" {
  region     = "us-east-1"
  access_key = "simulated"
  secret_key = "simulated"
}

module "sentinel" {
  source                    = "./module"
  vpc_id                    = "%(vpc)s"
  private_subnet_ids        = %(subnets)s
  load_balancer_subnet_ids  = %(subnets)s
  client_cidrs              = ["10.0.0.0/8", "192.168.0.0/16"]
  certificate_arn           = "arn:aws:acm:us-east-1:123456789012:certificate/1"
  public_url                = "https://sentinel.example"
  gateway_image             = "registry.example/gateway@sha256:1"
  reconciler_image          = "registry.example/reconciler@sha256:2"
  master_key_secret_arn     = "arn:aws:secretsmanager:us-east-1:123456789012:secret:master"
  reconciler_key_secret_arn = "arn:aws:secretsmanager:us-east-1:123456789012:secret:key"
  code_repository           = "https://git.example/infra.git"
  gateway_policy_arns       = ["arn:aws:iam::aws:policy/PowerUserAccess"]
  settings                  = { SENTINEL_STACKS = jsonencode([{ name = "prod", path = "/srv/infra" }]) }
}
"""


@pytest.mark.long
async def test_a_user_plans_it_with_the_real_provider(module: Path, tmp_path: Path, aws: MotoUpstream) -> None:
    ec2 = aws.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"us-east-1{zone}")["Subnet"][
            "SubnetId"
        ]
        for number, zone in enumerate("ab")
    ]
    shutil.copytree(module, tmp_path / "module", ignore=shutil.ignore_patterns(".terraform*", "tests"))
    (tmp_path / "main.tf").write_text(ROOT_MODULE % {"vpc": vpc, "subnets": json.dumps(subnets)})
    assert terraform(tmp_path, "init", "-no-color", "-input=false").returncode == 0
    planned = terraform(tmp_path, "plan", "-no-color", "-input=false", "-out=plan", AWS_ENDPOINT_URL=aws.url)
    assert planned.returncode == 0, planned.stderr
    shown = terraform(tmp_path, "show", "-json", "plan")
    changes = json.loads(shown.stdout)["resource_changes"]
    assert {tuple(change["change"]["actions"]) for change in changes if change["mode"] == "managed"} == {("create",)}
    kinds = Counter(change["type"] for change in changes)
    assert (kinds["aws_db_instance"], kinds["aws_lb_listener"], kinds["aws_ecs_service"]) == (1, 1, 2)
    assert kinds["aws_ecs_task_definition"] == 3
    after: dict[str, Any] = {change["address"]: change["change"]["after"] for change in changes}
    ingress = {
        (rule.get("cidr_ipv4"), rule["from_port"], rule["to_port"])
        for address, rule in after.items()
        if ".aws_vpc_security_group_ingress_rule." in address
    }
    # From outside only HTTPS, and only from the named networks.
    assert {rule for rule in ingress if rule[0]} == {("10.0.0.0/8", 443, 443), ("192.168.0.0/16", 443, 443)}
    assert "0.0.0.0/0" not in {rule[0] for rule in ingress}
