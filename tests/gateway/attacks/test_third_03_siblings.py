"""Third audit, 03: a danger is known by the name of one attribute, and its siblings pass.

The attack: a wrapper is held, and a handler, a command, `PYTHONPATH` and eight more variables pass; a stranger's key is held, and its file
system, queue, layer and image pass; a subscription is held, and a redirect, access logs and DNS to anywhere pass. What must hold: attributes
are classified, all of them; who acts alone changes nothing of a dangerous class unless the contract names that very attribute, and sets
nothing that nobody classified; a stranger's account is recognised in any ARN, host or path of any attribute, whoever asks.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

US, THEM = "123456789012", "999999999999"
FUNCTION = "kafka-rebalancer"
HERE = f"us-east-1:{US}"
LISTENER = f"arn:aws:elasticloadbalancing:{HERE}:listener/app/l/1/2"
CONTRACT = """
contract "siblings" {
  resource "aws_lambda_function" "rebalancer" {
    managed_by_agent = true
    mutable          = ["environment", "file_system_config", "image_config", "image_config.command", "layers", "memory_size"]
  }

  resource "aws_autoscaling_group" "*" {
    managed_by_agent = true
    mutable          = ["launch_template", "mixed_instances_policy"]
  }

  resource "aws_db_instance" "reports" {
    managed_by_agent = true
    mutable          = ["instance_class"]
  }

  resource "aws_sqs_queue" "audit" {
    managed_by_agent = true
    mutable          = ["redrive_policy", "kms_master_key_id"]
  }
}
"""


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway whose contract gives agents whole blocks."""
    made = Gate(directory=tmp_path_factory.mktemp("gate"))
    (made.stack / "siblings.sentinel.hcl").write_text(CONTRACT)
    own = made.stack / "kafka.sentinel.hcl"  # every block that matches must give a resource to agents
    block = 'resource "aws_lambda_function" "*" {'
    own.write_text(own.read_text().replace(block, f"{block}\n    managed_by_agent = true"))
    with made as running:
        yield running


def _decided(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> tuple[str, set[str]]:
    service, _, name = operation.partition(":")
    motive = {"intent": "consistency", "motivation": "routine"}
    call = {"service": service, "operation": name, "parameters": parameters, "motive": motive, "dry_run": True}
    answer = httpx.post(f"{gate.url}/v1/mutations", json=call, headers=gate.bearer(actor), timeout=60)
    decision = answer.json()["decision"]
    return decision["verdict"], {finding["rule"] for finding in decision["findings"]}


def _variables(**variables: str) -> tuple[str, dict[str, Any]]:
    given = {"FunctionName": FUNCTION, "Environment": {"Variables": {"OFFSETS": "kafka-offsets", **variables}}}
    return "lambda:UpdateFunctionConfiguration", given


LOADERS = (
    "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "NODE_PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "JAVA_TOOL_OPTIONS", "CLASSPATH", "PATH",
    "PERL5LIB", "RUBYLIB", "GEM_PATH", "DOTNET_STARTUP_HOOKS", "BASH_ENV", "PHPRC", "HTTPS_PROXY", "AWS_ENDPOINT_URL", "SSL_CERT_FILE",
    "GIT_SSH_COMMAND", "GCONV_PATH",
)  # fmt: skip


@pytest.mark.parametrize("name", LOADERS)
def test_a_variable_from_which_code_is_loaded_is_held(gate: Gate, name: str) -> None:
    for actor in ("agent", "service", "human"):
        verdict, rules = _decided(gate, actor, *_variables(**{name: "/opt/x"}))
        assert (actor, verdict) == (actor, "hold")
        assert "SEN-E004" in rules


def test_a_variable_that_nobody_knows_is_held_for_who_acts_alone(gate: Gate) -> None:
    for actor, wanted in {"agent": "hold", "service": "hold", "human": "allow"}.items():
        assert (actor, _decided(gate, actor, *_variables(PLUGIN_DIRECTORY="/opt/x"))[0]) == (actor, wanted)


def test_a_named_block_grants_no_member_that_runs(gate: Gate) -> None:
    verdict, rules = _decided(gate, "agent", *_function(ImageConfig={"Command": ["serve"], "EntryPoint": ["sh"]}))
    assert verdict == "hold"
    assert "SEN-E003" in rules


def test_a_named_member_is_granted(gate: Gate) -> None:
    given = {"Command": ["serve"]}
    assert _decided(gate, "agent", *_function(ImageConfig=given))[0] == "allow"


def test_everyday_variables_pass(gate: Gate) -> None:
    for actor in ("agent", "human"):
        assert (actor, _decided(gate, actor, *_variables(LOG_LEVEL="debug"))[0]) == (actor, "allow")


def _function(**parameters: Any) -> tuple[str, dict[str, Any]]:
    return "lambda:UpdateFunctionConfiguration", {"FunctionName": FUNCTION, **parameters}


RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "a handler": _function(Handler="other.main"),
    "a command": _function(ImageConfig={"Command": ["sh", "-c", "x"], "EntryPoint": ["sh"]}),
    "an entry point": _function(ImageConfig={"EntryPoint": ["sh"]}),
    "where a command runs": _function(ImageConfig={"WorkingDirectory": "/mnt/x"}),
    "a runtime": _function(Runtime="provided.al2023"),
    "a version of a template": (
        "autoscaling:UpdateAutoScalingGroup",
        {"AutoScalingGroupName": ASG, "LaunchTemplate": {"LaunchTemplateId": "lt-12345678", "Version": "9"}},
    ),
    "an instance of a template with its own image": (
        "ec2:RunInstances",
        {"MinCount": 1, "MaxCount": 1, "LaunchTemplate": {"LaunchTemplateName": "kafka-consumer"}, "ImageId": "ami-0feedbeef"},
    ),
    "an instance of a template with its own key pair": (
        "ec2:RunInstances",
        {"MinCount": 1, "MaxCount": 1, "LaunchTemplate": {"LaunchTemplateName": "kafka-consumer"}, "KeyName": "mine"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("actor", ["agent", "service", "human"])
@pytest.mark.parametrize(("operation", "parameters"), RUNS.values(), ids=RUNS.keys())
def test_what_runs_is_held(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> None:
    verdict, rules = _decided(gate, actor, operation, parameters)
    assert verdict != "allow"
    assert rules & {"SEN-E003", "SEN-C001", "bounds.not_mutable", "bounds.undeclared_create"}


def _strangers() -> dict[str, tuple[str, dict[str, Any]]]:
    there = f"us-east-1:{THEM}"
    return {
        "a file system": _function(
            FileSystemConfigs=[{"Arn": f"arn:aws:elasticfilesystem:{there}:access-point/fsap-1", "LocalMountPath": "/mnt/x"}]
        ),
        "a layer": _function(Layers=[f"arn:aws:lambda:{there}:layer:x:1"]),
        "an image": ("lambda:UpdateFunctionCode", {"FunctionName": FUNCTION, "ImageUri": f"{THEM}.dkr.ecr.us-east-1.amazonaws.com/x:1"}),
        "a queue to read": (
            "lambda:CreateEventSourceMapping",
            {"FunctionName": FUNCTION, "EventSourceArn": f"arn:aws:sqs:{there}:q"},
        ),
        "a queue for what fails": _function(DeadLetterConfig={"TargetArn": f"arn:aws:sqs:{there}:q"}),
        "a key by its alias": _function(KMSKeyArn=f"arn:aws:kms:{there}:alias/x"),
        "a service on their behalf": (
            "lambda:AddPermission",
            {"FunctionName": FUNCTION, "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "s3.amazonaws.com", "SourceAccount": THEM},
        ),
        "a rule on their behalf": (
            "lambda:AddPermission",
            {"FunctionName": FUNCTION, "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": f"arn:aws:events:{there}:rule/r"},
        ),
        "a service on anybody's behalf": (
            "lambda:AddPermission",
            {"FunctionName": FUNCTION, "StatementId": "s", "Action": "lambda:InvokeFunction", "Principal": "s3.amazonaws.com"},
        ),
    }  # fmt: skip


@pytest.mark.parametrize("actor", ["agent", "service", "human", "pipeline"])
@pytest.mark.parametrize(("operation", "parameters"), _strangers().values(), ids=_strangers().keys())
def test_a_stranger_is_recognised_in_any_attribute(
    gate: Gate, actor: str, operation: str, parameters: dict[str, Any]
) -> None:
    verdict, rules = _decided(gate, actor, operation, parameters)
    assert verdict != "allow"
    assert rules & {"SEN-T002", "SEN-X007", "SEN-C001"}


def _goes() -> dict[str, tuple[str, dict[str, Any]]]:
    redirect = {"Type": "redirect", "RedirectConfig": {"Host": "evil.example", "StatusCode": "HTTP_301"}}
    record = {"Name": "shop.example.com", "Type": "CNAME", "TTL": 60, "ResourceRecords": [{"Value": "evil.example"}]}
    address = {"Name": "shop.example.com", "Type": "A", "TTL": 60, "ResourceRecords": [{"Value": "203.0.113.9"}]}
    return {
        "a redirect": ("elbv2:ModifyListener", {"ListenerArn": LISTENER, "DefaultActions": [redirect]}),
        "a name": ("route53:ChangeResourceRecordSets", {"HostedZoneId": "Z1", "ChangeBatch": {"Changes": [{"Action": "UPSERT", "ResourceRecordSet": record}]}}),
        "an address": ("route53:ChangeResourceRecordSets", {"HostedZoneId": "Z1", "ChangeBatch": {"Changes": [{"Action": "UPSERT", "ResourceRecordSet": address}]}}),
    }  # fmt: skip


@pytest.mark.parametrize("actor", ["agent", "service", "human", "pipeline"])
@pytest.mark.parametrize(("operation", "parameters"), _goes().values(), ids=_goes().keys())
def test_traffic_goes_nowhere_unseen(gate: Gate, actor: str, operation: str, parameters: dict[str, Any]) -> None:
    verdict, rules = _decided(gate, actor, operation, parameters)
    assert verdict != "allow"
    assert rules & {"SEN-T001", "SEN-T003"}


@pytest.mark.parametrize("actor", ["agent", "service"])
def test_who_acts_alone_sends_no_logs_elsewhere(gate: Gate, actor: str) -> None:
    logs = [{"Key": "access_logs.s3.enabled", "Value": "true"}, {"Key": "access_logs.s3.bucket", "Value": "theirs"}]
    balancer = f"arn:aws:elasticloadbalancing:{HERE}:loadbalancer/app/l/1"
    given = {"LoadBalancerArn": balancer, "Attributes": logs}
    verdict, rules = _decided(gate, actor, "elbv2:ModifyLoadBalancerAttributes", given)
    assert verdict != "allow"
    assert "SEN-T003" in rules


def test_an_agent_does_what_its_contract_names(gate: Gate) -> None:
    layer = _function(Layers=[f"arn:aws:lambda:{HERE}:layer:x:1"])
    assert _decided(gate, "agent", *layer)[0] == "allow"
    resized = ("rds:ModifyDBInstance", {"DBInstanceIdentifier": "kafka-reports", "DBInstanceClass": "db.t3.small"})
    assert _decided(gate, "agent", *resized)[0] == "allow"
