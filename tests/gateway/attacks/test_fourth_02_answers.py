"""Fourth audit, 2: the answer to a change hands out a secret, or opens a session.

The attack: an agent changes a VPN connection and reads its keys in the configuration that AWS answers with; anyone starts a session and gets its
token. What must hold: of the answer to a change, an agent gets nothing that AWS marks as sensitive but names and descriptions; and what opens a
session is sent for nobody.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gateway.core.model.mutation import Call
from gateway.core.model.outcome import Applied, Reply
from gateway.line.withheld import outcome_for_agent, withheld_names
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

SECRET = "top-secret-key"
CONFIGURATION = f"<customerGatewayConfiguration>&lt;pre_shared_key&gt;{SECRET}&lt;/pre_shared_key&gt;</customerGatewayConfiguration>"


@pytest.mark.parametrize("operation", ["CreateVpnConnection", "ModifyVpnConnectionOptions", "ModifyVpnTunnelOptions"])
def test_an_agent_gets_no_keys_of_a_tunnel(operation: str) -> None:
    inside = f"<vpnConnectionId>vpn-1</vpnConnectionId>{CONFIGURATION}"
    body = f"<{operation}Response><vpnConnection>{inside}</vpnConnection></{operation}Response>".encode()
    outcome = Applied(request_id="r", reply=Reply(status=200, headers=(("content-type", "text/xml"),), body=body))
    call = Call(service="ec2", operation=operation, parameters={}, region="us-east-1")
    seen = outcome_for_agent(call, outcome)
    assert isinstance(seen, Applied)
    assert seen.reply is not None
    assert SECRET.encode() not in seen.reply.body
    assert b"vpn-1" in seen.reply.body
    assert withheld_names(seen.reply) == ["customerGatewayConfiguration"]


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    with Gate(tmp_path_factory.mktemp("gate")) as running:
        yield running


SESSIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("ssm", "start_session", {"Target": "i-1"}),
    ("ssm", "resume_session", {"SessionId": "s"}),
    ("ecs", "execute_command", {"task": "t", "command": "sh", "interactive": True}),
    ("sagemaker", "start_session", {"ResourceIdentifier": "arn:aws:sagemaker:us-east-1:123456789012:space/d/s"}),
    ("iotsecuretunneling", "open_tunnel", {}),
]


@pytest.mark.parametrize("actor", ["agent", "human"])
@pytest.mark.parametrize(("service", "method", "parameters"), SESSIONS)
def test_nobody_opens_a_session(gate: Gate, actor: str, service: str, method: str, parameters: dict[str, Any]) -> None:
    gate.upstream.asked.clear()
    with pytest.raises(ClientError, match="never\\.credential"):
        getattr(gate.client(service, actor), method)(**parameters)
    assert gate.upstream.asked == []
