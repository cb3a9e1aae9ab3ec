"""An agent reads the value of a variable that the code marks as sensitive, and a pipeline has a contract of its own tell it.

The state marks what was made of such a variable only once that was applied: before, the context showed the declared value to agents, and records
kept it. A contract that is tried in the playground named the variable in a limit or a message, or asked for it letter by letter. What must hold:
the code's own marks count like the state's, and a contract says nothing of a secret and decides nothing by one.
"""

import json
from collections.abc import Iterator

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.settings import StackSettings
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SECRET = "hunter22-of-the-variable"
INSTANCE = "i-0aaaaaaaaaaaaaaaa"
CODE = f"""
provider "aws" {{
  region = "us-east-1"
}}

variable "secret" {{
  type      = string
  sensitive = true
  default   = "{SECRET}"

  validation {{
    condition     = length(var.secret) > 100
    error_message = "It is ${{var.secret}}."
  }}
}}

locals {{
  made = "x-${{var.secret}}"
}}

resource "aws_instance" "it" {{
  instance_type = "t3.micro"
  tags = {{
    Name = "x"
    note = var.secret
  }}
}}
"""
CONTRACT = """
contract "shop" {
  owner = "shop"

  resource "aws_instance" "*" {
    managed_by_agent = true
    mutable          = ["tags"]

    attribute "instance_type" {
      one_of = %s
    }
  }

  enforce {
    condition     = %s
    error_message = %s
  }
}
"""
OPEN = CONTRACT % ('["t3.micro", "t3.small"]', 'self.tags.Name != "y"', '"no"')


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with an instance whose tag was not applied yet."""
    directory = tmp_path_factory.mktemp("gate")
    shop = directory / "shop"
    shop.mkdir()
    attributes = {
        "id": INSTANCE,
        "arn": f"arn:aws:ec2:us-east-1:123456789012:instance/{INSTANCE}",
        "instance_type": "t3.micro",
        "tags": {"Name": "x"},
        "tags_all": {"Name": "x"},
    }
    entry = {
        "mode": "managed",
        "type": "aws_instance",
        "name": "it",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [{"schema_version": 0, "attributes": attributes}],
    }
    state = {"version": 4, "terraform_version": "1.9.0", "serial": 1, "lineage": "shop", "resources": [entry]}
    (shop / "terraform.tfstate").write_text(json.dumps(state))
    (shop / "main.tf").write_text(CODE)
    (shop / "shop.sentinel.hcl").write_text(OPEN)
    with Gate(directory=directory, more_stacks=(StackSettings(name="shop", path=shop),)) as running:
        yield running


def test_no_caller_is_told_and_nothing_is_recorded(gate: Gate) -> None:
    for actor in ("agent", "human"):
        query = {"address": "aws_instance.it"}
        for more in ({}, {"attribute": "tags.note"}, {"attribute": "tags"}):
            answer = httpx.get(f"{gate.url}/v1/context", headers=gate.bearer(actor), params=query | more)
            assert answer.status_code == httpx.codes.OK
            assert SECRET not in answer.text
    gate.client("ec2").create_tags(Resources=[INSTANCE], Tags=[{"Key": "note", "Value": "seen"}])
    with pytest.raises(ClientError) as refused:
        gate.client("ec2").create_tags(
            Resources=[INSTANCE], Tags=[{"Key": "note", "Value": "x"}, {"Key": "Name", "Value": "y"}]
        )
    assert SECRET not in str(refused.value)
    assert SECRET not in repr(gate.records())


def tried(gate: Gate, limit: str, condition: str, message: str) -> str:
    """What the gateway says about a change under an edited contract; not what the edit is."""
    call = {
        "service": "ec2",
        "operation": "ModifyInstanceAttribute",
        "parameters": {"InstanceId": INSTANCE, "InstanceType": {"Value": "t3.large"}},
        "kind": "agent",
    }
    text = CONTRACT % (limit, condition, message)
    body = {"call": call, "contracts": {"stack": "shop", "files": {"shop.sentinel.hcl": text}}}
    answer = httpx.post(f"{gate.url}/v1/playground", headers=gate.bearer("pipeline"), json=body, timeout=300)
    assert answer.status_code == httpx.codes.OK, answer.text
    return json.dumps(answer.json()["decision"])


@pytest.mark.parametrize("read", ["var.secret", "nonsensitive(var.secret)", "upper(var.secret)", "local.made"])
def test_an_edited_contract_does_not_tell_it(gate: Gate, read: str) -> None:
    told = tried(gate, f"[{read}]", "self.id == null", f'"It is ${{{read}}}."')
    assert "bounds.one_of" in told
    assert SECRET not in told.lower()


def test_nor_is_a_guess_confirmed(gate: Gate) -> None:
    right, wrong = (
        tried(gate, '["t3.large"]', f'substr(var.secret, 0, 1) == "{letter}"', '"no"') for letter in ("h", "q")
    )
    without_ids = [json.loads(each)["new"] for each in (right, wrong)]
    assert [(each["rule"], each["reason"]) for each in without_ids[0]] != []
    assert [each["rule"] for each in without_ids[0]] == [each["rule"] for each in without_ids[1]]


def test_what_is_no_secret_is_read_as_before(gate: Gate) -> None:
    assert "t3.large" in tried(gate, '["t3.micro"]', "self.id != null", '"no"')
