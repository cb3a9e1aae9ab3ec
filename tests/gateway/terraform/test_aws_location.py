"""Where a resource is: by its ARN, else by its provider; the same name elsewhere is another resource."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.verdict import Mode
from gateway.core.settings import StackSettings
from gateway.terraform.aws_location import AwsLocation, AwsLocations, location_of
from gateway.terraform.stack_code import load_code
from gateway.terraform.stacks import Stacks
from gateway.terraform.state import parse_state

ACCOUNT = "123456789012"
AWS = 'provider["registry.terraform.io/hashicorp/aws"]'
QUEUE_URL = f"https://sqs.eu-west-1.amazonaws.com/{ACCOUNT}/q"


@pytest.mark.parametrize(
    ("resource_type", "known", "place"),
    [
        ("aws_sqs_queue", {"arn": f"arn:aws:sqs:eu-west-1:{ACCOUNT}:q"}, AwsLocation(account=ACCOUNT, region="eu-west-1")),
        ("aws_ecs_service", {"id": f"arn:aws:ecs:eu-west-1:{ACCOUNT}:service/c/s"}, AwsLocation(account=ACCOUNT, region="eu-west-1")),
        ("aws_sqs_queue_policy", {"queue_url": QUEUE_URL}, AwsLocation(account=ACCOUNT, region="eu-west-1")),
        ("aws_ebs_volume", {"id": "vol-1", "availability_zone": "us-west-2-lax-1a"}, AwsLocation(region="us-west-2")),
        ("aws_sns_topic", {"name": "t", "region": "ap-south-1"}, AwsLocation(region="ap-south-1")),
        ("aws_iam_role", {"arn": f"arn:aws:iam::{ACCOUNT}:role/r"}, AwsLocation(account=ACCOUNT)),
        ("aws_s3_bucket", {"arn": "arn:aws:s3:::b", "region": "eu-west-1"}, AwsLocation()),
        ("aws_sqs_queue", {"arn": 7, "id": "q"}, AwsLocation()),
    ],
)  # fmt: skip
def test_attributes_tell_the_place(resource_type: str, known: dict[str, Any], place: AwsLocation) -> None:
    assert location_of(resource_type, known) == place


def test_what_is_not_known_counts_as_the_same() -> None:
    here = AwsLocation(account=ACCOUNT, region="eu-west-1")
    assert here.may_be(ACCOUNT, "eu-west-1")
    assert here.may_be("", "")
    assert AwsLocation().may_be(ACCOUNT, "eu-west-1")
    assert not here.may_be("999999999999", "eu-west-1")
    assert not here.may_be(ACCOUNT, "us-east-1")


PROVIDERS = """
variable "region" { default = "eu-west-1" }
provider "aws" { region = var.region }
provider "aws" {
  alias  = "west"
  region = "us-west-2"
}
provider "aws" {
  alias  = "open"
  region = var.unset
}
variable "unset" {}
"""
QUEUES = """
resource "aws_sqs_queue" "here" { name = "q" }
resource "aws_sqs_queue" "west" {
  provider = aws.west
  name     = "q"
}
module "west" {
  source    = "./queue"
  providers = { aws = aws.west }
}
module "plain" {
  source = "./queue"
}
"""


def _stack(tmp_path: Path, code: str = PROVIDERS + QUEUES, *resources: dict[str, Any]) -> Path:
    (tmp_path / "queue").mkdir(exist_ok=True)
    (tmp_path / "queue" / "main.tf").write_text('resource "aws_sqs_queue" "inner" { name = "inner" }\n')
    (tmp_path / "main.tf").write_text(code)
    (tmp_path / "terraform.tfstate").write_text(json.dumps({"version": 4, "resources": list(resources)}))
    return tmp_path


def _places(root: Path, *, account: str = "", region: str = "") -> AwsLocations:
    state = parse_state((root / "terraform.tfstate").read_bytes(), "s")
    return AwsLocations(state, load_code(root), account=account, region=region)


def _recorded(name: str, provider: str, resource_type: str = "aws_lambda_permission", **known: Any) -> dict[str, Any]:
    instance = {"attributes": {"statement_id": name, **known}}
    return {"mode": "managed", "type": resource_type, "name": name, "provider": provider, "instances": [instance]}


def test_what_the_code_only_declares_is_where_its_provider_is(tmp_path: Path) -> None:
    places = _places(_stack(tmp_path), account=ACCOUNT)
    assert places.of("aws_sqs_queue.here") == AwsLocation(account=ACCOUNT, region="eu-west-1")
    assert places.of("aws_sqs_queue.west").region == "us-west-2"
    assert places.of("module.west.aws_sqs_queue.inner").region == "us-west-2"
    assert places.of("module.plain.aws_sqs_queue.inner").region == "eu-west-1"
    assert places.of("aws_sqs_queue.unheard") == AwsLocation()


def test_what_the_state_records_without_an_arn_is_where_its_provider_is(tmp_path: Path) -> None:
    resources = (
        _recorded("here", AWS),
        _recorded("west", f"{AWS}.west"),
        _recorded("open", f"{AWS}.open"),
        _recorded("told", f"{AWS}.open", "aws_sqs_queue", arn=f"arn:aws:sqs:sa-east-1:{ACCOUNT}:q"),
        _recorded("odd", "no provider at all"),
    )
    places = _places(_stack(tmp_path, PROVIDERS, *resources), region="ca-central-1")
    of = {name: places.of(f"aws_lambda_permission.{name}").region for name in ("here", "west", "open", "odd")}
    assert of == {"here": "eu-west-1", "west": "us-west-2", "open": "sa-east-1", "odd": "ca-central-1"}
    assert places.of("aws_lambda_permission.here").account == ACCOUNT
    assert places.accounts == {ACCOUNT}


def test_of_a_module_the_provider_in_the_state_says_where(tmp_path: Path) -> None:
    root = _stack(tmp_path, PROVIDERS + 'module "own" { source = "./queue" }\n', _recorded("p", f"module.own.{AWS}"))
    (root / "queue" / "main.tf").write_text('provider "aws" { region = "eu-north-1" }\n')
    assert _places(root).of("aws_lambda_permission.p").region == "eu-north-1"


def test_an_override_of_the_provider_is_not_known(tmp_path: Path) -> None:
    root = _stack(tmp_path)
    (root / "override.tf").write_text('provider "aws" { region = "eu-north-1" }\n')
    assert _places(root, region="eu-south-1").of("aws_sqs_queue.here").region == "eu-south-1"


def test_the_same_name_in_two_regions_is_two_resources(tmp_path: Path) -> None:
    source = StackSettings(name="two", path=_stack(tmp_path), account=ACCOUNT)
    stacks = Stacks.load([source], default_mode=Mode.ENFORCE)

    def located(account: str, region: str) -> str | None:
        return stacks.locate("aws_sqs_queue", {"name": "q"}, account, region)

    assert located(ACCOUNT, "eu-west-1") == "aws_sqs_queue.here"
    assert located(ACCOUNT, "us-west-2") == "aws_sqs_queue.west"
    assert located(ACCOUNT, "us-east-1") is None
    assert located("999999999999", "eu-west-1") is None
    assert stacks.place("aws_sqs_queue.west") == AwsLocation(account=ACCOUNT, region="us-west-2")


def test_a_stack_that_says_nothing_is_in_its_settings_region_then_in_the_default_one(tmp_path: Path) -> None:
    root = _stack(tmp_path, QUEUES)
    for region, expected in (("", "us-east-1"), ("eu-north-1", "eu-north-1")):
        source = StackSettings(name="one", path=root, region=region)
        stacks = Stacks.load([source], default_mode=Mode.ENFORCE, default_region="us-east-1")
        assert stacks.place("aws_sqs_queue.here").region == expected
