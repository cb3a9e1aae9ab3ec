"""Row 7: a secret that a call carries is read in the record, in a claim, in the known values, in blame or in another agent's reply; or a
short one is found by hashing guesses until one fits what was recorded.

What must hold: no secret stands in clear in any file that the gateway writes or in any answer of its API, whoever sent it and in whichever
form; what stands there instead is keyed, so that a guess cannot be checked without the master key; and the secret of the state and the same
secret of a call are still seen as equal.
"""

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from gateway.core.model.json import canonical, digest
from gateway.core.records.record import Stage
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]

CANARY = "swordfish-7-row"
GUESSABLE = "4711"
URL = f"postgres://app:{CANARY}@db.internal:5432/app"
ACTORS = ("agent", "human", "pipeline")

Attack = Callable[[Gate, str], Any]


def _call(service: str, operation: str, **parameters: Any) -> Attack:
    return lambda gate, actor: getattr(gate.client(service, actor), operation)(**parameters)


def _function(**variables: str) -> Attack:
    return _call(
        "lambda", "update_function_configuration", FunctionName="kafka-rebalancer", Environment={"Variables": variables}
    )


def _task(**member: Any) -> Attack:
    definition = {"name": "web", "image": "web:1", "memory": 128, **member}
    return _call("ecs", "register_task_definition", family="web", containerDefinitions=[definition])


LEAKS: dict[str, Attack] = {
    # As listed.
    "a function's environment": _function(DB_PASSWORD=CANARY),
    "a container's environment": _task(environment=[{"name": "DB_PASSWORD", "value": CANARY}]),
    # Neighbours that were not listed.
    "an environment variable with an innocent name": _function(MODE=CANARY),
    "a connection string in a function's environment": _function(DATABASE=URL),
    "the command of a container": _task(command=["serve", "--db-password", CANARY]),
    "the entry point of a container": _task(entryPoint=["sh", "-c", f"API_KEY={CANARY} serve"]),
    "a container's health check": _task(healthCheck={"command": ["CMD-SHELL", f"curl http://a:{CANARY}@localhost"]}),
    "a container's log options": _task(logConfiguration={"logDriver": "splunk", "options": {"splunk-token": CANARY}}),
    "a container's labels": _task(dockerLabels={"license-key": CANARY}),
    "user data of a launch template": _call("ec2", "create_launch_template", LaunchTemplateName="app", LaunchTemplateData={"UserData": CANARY}),
    "user data of an instance": _call("ec2", "modify_instance_attribute", InstanceId="i-1", UserData={"Value": CANARY.encode()}),
    "an option of a container's command": _task(command=["serve", f"--token={CANARY}"]),
    "a plain parameter with a connection string": _call("ssm", "put_parameter", Name="/app/db", Value=URL, Type="String", Overwrite=True),
    "a secure parameter": _call("ssm", "put_parameter", Name="/app/db", Value=CANARY, Type="SecureString", Overwrite=True),
    "a description with a connection string": _call("lambda", "update_function_configuration", FunctionName="kafka-rebalancer", Description=URL),
    "a tag named as a password": _call("sqs", "tag_queue", QueueUrl="https://sqs.us-east-1.amazonaws.com/123456789012/kafka-shard-0", Tags={"db-password": CANARY}),
    "a master password": _call("rds", "modify_db_instance", DBInstanceIdentifier="kafka-reports", MasterUserPassword=CANARY),
}  # fmt: skip


@pytest.mark.parametrize("attack", LEAKS.values(), ids=LEAKS.keys())
def test_no_secret_stands_anywhere_in_clear(gate: Gate, attack: Attack) -> None:
    for actor in ACTORS:
        _try(attack, gate, actor)
    assert gate.records(stage=Stage.DECIDED)
    assert CANARY.encode() not in _kept(gate)
    for path in ("records", "claims"):
        for actor in ACTORS:
            answer = httpx.get(f"{gate.url}/v1/{path}", headers=gate.bearer(actor))
            assert answer.status_code == 200
            assert CANARY not in answer.text


@pytest.mark.parametrize("attack", [_function(PIN=GUESSABLE), _task(environment=[{"name": "PIN", "value": GUESSABLE}])])
def test_a_dry_run_shows_no_secret_either(gate: Gate, attack: Attack) -> None:
    body = {
        "service": "lambda",
        "operation": "UpdateFunctionConfiguration",
        "parameters": {"FunctionName": "kafka-rebalancer", "Environment": {"Variables": {"PIN": CANARY}}},
        "dry_run": True,
    }
    answer = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer("pipeline"))
    assert "environment.variables" in answer.text
    assert CANARY not in answer.text
    _try(attack, gate, "pipeline")


def test_a_short_secret_cannot_be_found_by_hashing_guesses(gate: Gate) -> None:
    """The attacker knows everything of the call but the four digits."""
    _try(_call("rds", "modify_db_instance", DBInstanceIdentifier="kafka-reports", MasterUserPassword=GUESSABLE), gate, "pipeline")  # fmt: skip
    kept = _kept(gate)
    parameters = {"DBInstanceIdentifier": "kafka-reports", "MasterUserPassword": GUESSABLE}
    guesses = (
        digest(GUESSABLE),
        hashlib.sha256(GUESSABLE.encode()).hexdigest(),
        hashlib.sha1(GUESSABLE.encode()).hexdigest(),  # noqa: S324  what an attacker would try
        hmac.new(b"", canonical(GUESSABLE), hashlib.sha256).hexdigest(),
        digest(["rds", "ModifyDBInstance", "", "us-east-1", parameters]),
        digest(["rds", "ModifyDBInstance", "123456789012", "us-east-1", parameters]),
    )
    assert b"hmac_sha256" in kept
    assert [guess for guess in guesses if guess.encode() in kept] == []


def test_an_agent_cannot_compare_its_guesses_with_another_s_secret(gate: Gate) -> None:
    """By dry runs it sees the masks of its guesses; blame shows it none of the pipeline's."""
    _try(_call("rds", "modify_db_instance", DBInstanceIdentifier="kafka-reports", MasterUserPassword=GUESSABLE), gate, "pipeline")  # fmt: skip
    where = {"address": "aws_db_instance.reports", "attribute": "password"}
    seen = {
        actor: httpx.get(f"{gate.url}/v1/blame", params=where, headers=gate.bearer(actor))
        for actor in ("human", "agent")
    }
    assert [answer.status_code for answer in seen.values()] == [200, 200]
    digests = {actor: set(re.findall("[0-9a-f]{64}", answer.text)) for actor, answer in seen.items()}
    assert digests["human"]
    assert digests["agent"] == set()


def test_the_secret_of_the_state_and_the_same_secret_of_a_call_are_equal(observing: Gate) -> None:
    recorded = observing.stack / "terraform.tfstate"
    password = next(
        instance["attributes"]["password"]
        for block in json.loads(recorded.read_text())["resources"]
        if block["type"] == "aws_db_instance"
        for instance in block["instances"]
    )
    for actor, told in (("pipeline", [False, True]), ("agent", [True, True])):
        # An agent's own record must not say whether a guess is right: see test_second_01_secrets.py.
        seen = [_changes(observing, actor, MasterUserPassword=value) for value in (password, f"{password}!")]
        assert seen == told, actor
        observing.release_all()


def _changes(gate: Gate, actor: str, **parameters: str) -> bool:
    before = len(gate.records(stage=Stage.DECIDED))
    _try(_call("rds", "modify_db_instance", DBInstanceIdentifier="kafka-reports", **parameters), gate, actor)
    (decided,) = gate.records(stage=Stage.DECIDED)[before:]
    effects: Any = decided.body.members["effects"]
    (effect,) = effects
    return bool(effect["changes"])


def _try(attack: Attack, gate: Gate, actor: str) -> None:
    try:
        attack(gate, actor)
    except (ClientError, BotoCoreError) as error:
        assert CANARY not in str(error)  # noqa: PT017  it may pass as well


def _kept(gate: Gate) -> bytes:
    """Every byte that the gateway wrote to disk."""
    return b"".join(path.read_bytes() for path in sorted((gate.directory / "data").rglob("*")) if path.is_file())
