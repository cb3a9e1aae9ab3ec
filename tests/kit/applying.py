"""A gateway's sessions of plans, as a pipeline uses them: opened through the API, used by AWS clients, ended."""

from collections.abc import Mapping
from typing import Any

import boto3
import httpx
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from tests.kit.gate import Gate


def planned(address: str, action: str, **members: Any) -> dict[str, Any]:
    """One planned change."""
    return {"address": address, "type": address.split(".")[-2], "action": action, **members}


def ask(gate: Gate, actor: str, *changes: Mapping[str, Any], lasts: str = "10m", **members: Any) -> tuple[int, Any]:
    """Ask for a session in which these changes are applied."""
    headers = {**gate.bearer(actor), "Content-Type": "application/json"}
    body = {"changes": changes, "open_session": {"lasts": lasts}, **members}
    reply = httpx.post(f"{gate.url}/v1/plans", headers=headers, json=body, timeout=300)
    return reply.status_code, reply.json()


class Applying:
    """The clients of one session."""

    def __init__(self, gate: Gate, report: Mapping[str, Any]) -> None:
        assert report["session"], report
        self.gate, self.plan, self.key = gate, report["mutation"], report["session"]

    def client(self, service: str, region: str = "us-east-1") -> Any:
        """A boto3 client with the session's key."""
        return boto3.client(
            service,
            endpoint_url=self.gate.url,
            region_name=region,
            aws_access_key_id=self.key["access_key_id"],
            aws_secret_access_key=self.key["secret_access_key"],
            config=Config(retries={"total_max_attempts": 1}),
        )

    def bearer(self) -> dict[str, str]:
        """Its key at the API."""
        return {"Authorization": f"Bearer {self.key['access_key_id']}.{self.key['secret_access_key']}"}

    def end(self, **body: Any) -> httpx.Response:
        """End the session with its own key."""
        headers = {**self.bearer(), "Content-Type": "application/json"}
        url = f"{self.gate.url}/v1/plans/{self.plan}/session"
        return httpx.request("DELETE", url, headers=headers, json=body, timeout=300)


def opened(gate: Gate, *changes: Mapping[str, Any], actor: str = "pipeline", **members: Any) -> Applying:
    """A session for these changes."""
    status, report = ask(gate, actor, *changes, **members)
    assert status == 200, report
    return Applying(gate, report)


def refused(call: Any, **parameters: Any) -> str:
    """Why a call is refused."""
    with pytest.raises(ClientError) as caught:
        call(**parameters)
    return str(caught.value)
