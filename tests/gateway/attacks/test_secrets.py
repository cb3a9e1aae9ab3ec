"""Secrets sent through any door are in no stored file and in no output."""

from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

CANARY = "swordfish-canary-7731"


def _try(call: Any, **parameters: Any) -> None:
    try:
        call(**parameters)
    except ClientError as error:
        assert CANARY not in str(error.response)  # noqa: PT017  it may pass as well


def _kept(gate: Gate) -> bytes:
    """Every byte that the gateway wrote to disk."""
    return b"".join(path.read_bytes() for path in sorted((gate.directory / "data").rglob("*")) if path.is_file())


def test_secrets_sent_through_the_aws_door_are_kept_nowhere(gate: Gate, capfd: pytest.CaptureFixture[str]) -> None:
    for actor in ("agent", "human", "pipeline"):
        _try(gate.client("rds", actor).modify_db_instance, DBInstanceIdentifier="reports", MasterUserPassword=CANARY)
        _try(
            gate.client("ssm", actor).put_parameter,
            Name="/db/password",
            Value=CANARY,
            Type="SecureString",
            Overwrite=True,
        )
        _try(gate.client("secretsmanager", actor).put_secret_value, SecretId="db", SecretString=CANARY)
        _try(gate.client("secretsmanager", actor).create_secret, Name="db2", SecretString=CANARY)
        # No table understands this one, so the call itself is all that an approver sees of it.
        _try(
            gate.client("events", actor).create_connection,
            Name="c",
            AuthorizationType="API_KEY",
            AuthParameters={"ApiKeyAuthParameters": {"ApiKeyName": "k", "ApiKeyValue": CANARY}},
        )
    shown = capfd.readouterr()
    assert CANARY not in shown.out + shown.err
    assert CANARY.encode() not in _kept(gate)
    assert gate.records()


@pytest.mark.parametrize(
    "parameters",
    [
        {"DBInstanceIdentifier": "reports", "MasterUserPassword": CANARY},
        {"DBInstanceIdentifier": "reports", "MasterUserPassword": [CANARY]},
        {"DBInstanceIdentifier": "reports", "AllocatedStorage": CANARY},
        {"DBInstanceIdentifier": {"MasterUserPassword": CANARY}},
    ],
)
def test_an_invalid_proposal_is_refused_without_its_values(gate: Gate, parameters: dict[str, Any]) -> None:
    body = {"service": "rds", "operation": "ModifyDBInstance", "parameters": parameters}
    reply = httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer("human"))
    assert CANARY not in reply.text
    assert CANARY.encode() not in _kept(gate)


def test_issued_secrets_are_kept_nowhere(gate: Gate) -> None:
    kept = _kept(gate).replace((gate.directory / "data" / "master.key").read_bytes(), b"")
    for key in gate.keys.values():
        assert key.secret not in repr(key)
        assert key.secret.encode() not in kept


def test_a_real_aws_key_sent_by_mistake_is_not_stored(gate: Gate) -> None:
    client = gate.client("sqs")
    client._request_signer._credentials.access_key = "AKIAIOSFODNN7EXAMPLE"
    with pytest.raises(ClientError):
        client.purge_queue(QueueUrl="http://127.0.0.1/123456789012/orders")
    assert b"AKIAIOSFODNN7EXAMPLE" not in _kept(gate)
