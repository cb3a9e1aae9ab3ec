"""What `sentinel effects learn` compares: the state and what is live, from the real provider; and the command itself, end to end."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gateway.__main__ import app
from gateway.core.model.mutation import Call, Mutation
from gateway.core.settings import Settings
from gateway.ledger.sealed_ledger import open_sealed_ledger
from reconciler.terraform.live_reads import LiveReads
from reconciler.terraform.observation import observe
from tests.kit.mutations import record_mutation

RED = 'aws_cloudwatch_log_group.team["red"]'
CALL = Call(
    service="logs", operation="PutRetentionPolicy", parameters={"logGroupName": "/team/red", "retentionInDays": 90}
)


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
async def test_a_resource_is_shown_as_it_was_and_as_it_is(calm: Any) -> None:
    calm.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=90)
    async with LiveReads.beside(calm.terraform()) as reads:
        (found,) = await observe(reads, calm.path, state=calm.state, targets=[RED])
    assert (found["address"], found["type"]) == (RED, "aws_cloudwatch_log_group")
    before, after = found["before"], found["after"]
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert (before["retention_in_days"], after["retention_in_days"]) == (7, 90)


@pytest.fixture
def learning(calm: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs `sentinel` where a call was applied that nobody understood, and returns what it prints as JSON."""
    monkeypatch.chdir(tmp_path)
    for name, value in {**calm.environment, "PATH": os.environ["PATH"]}.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "sentinel.toml").write_text(f"""
[reconcile]
endpoint = "{calm.endpoint}"

[effects]
learned = "{tmp_path / "learned"}"

[[stacks]]
name = "fleet"
path = "{calm.path}"
state = "{calm.state}"
""")

    async def record() -> Mutation:
        async with open_sealed_ledger(Settings(data=tmp_path / ".sentinel")) as ledger:
            return await record_mutation(ledger, [], call=CALL, stack="fleet")

    mutation = asyncio.run(record())

    def run(*arguments: str) -> Any:
        done = CliRunner().invoke(app, [*(each.replace("MUTATION", mutation.id) for each in arguments), "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return run


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.allow_hosts(["127.0.0.1"])
def test_what_a_call_did_becomes_a_row_that_a_person_accepts(
    calm: Any, learning: Callable[..., Any], tmp_path: Path
) -> None:
    calm.client("logs").put_retention_policy(logGroupName="/team/red", retentionInDays=90)
    (learned,) = learning("effects", "learn", "MUTATION")["learned"]
    assert learned["reason"] == ""
    (proposal,) = learning("effects", "list")["proposals"]
    assert proposal["id"] == learned["proposal"]
    assert proposal["row"] == {
        "operation": "PutRetentionPolicy",
        "type": "aws_cloudwatch_log_group",
        "actions": ["set"],
        "origin": "learned",
        "confidence": "attributes",
        "identity": {"logGroupName": "name"},
        "attributes": {"retentionInDays": "retention_in_days"},
    }
    assert "90" not in " ".join(proposal["evidence"])
    accepted = learning("effects", "accept", proposal["id"], "--by", "alice")
    assert Path(accepted["file"]) == tmp_path / "learned" / "logs.json"
    assert learning("effects", "list")["proposals"][0]["accepted_by"].startswith("alice (signed in as ")
