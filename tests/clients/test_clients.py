"""Every client sees the same verdicts: what works with one SDK and not with another would be found by users only."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

from tests.clients import install
from tests.kit.gate import ASG, Gate
from tests.kit.moto import MotoUpstream

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

HERE = Path(__file__).parent
CALLS = ("read", "allowed", "refused", "held", "upload", "messages", "item", "pages", "waiter", "session")
VERDICTS = dict.fromkeys(CALLS, "ok") | {"refused": "refused", "held": "holds"}
FIFTY = 50 << 20
TEN = 10 << 20
"""Bytes that the client of JavaScript uploads, in both ways: it computes its checksums in JavaScript, five seconds for 50 MB."""


def _boto3(_work: Path) -> list[str]:
    return [sys.executable, str(HERE / "play_boto3.py")]


def _cli1(_work: Path) -> list[str]:
    return [sys.executable, str(HERE / "play_cli.py"), str(install.installed(install.cli1()) / "bin" / "aws")]


def _cli2(_work: Path) -> list[str]:
    return [sys.executable, str(HERE / "play_cli.py"), str(install.installed(install.cli2()) / "aws")]


def _javascript(work: Path) -> list[str]:
    # Node looks for packages beside the program.
    (work / "node_modules").symlink_to(install.installed(install.javascript()) / "node_modules")
    (work / "play.mjs").write_bytes((HERE / "js" / "play.mjs").read_bytes())
    return ["node", str(work / "play.mjs")]


def _go(_work: Path) -> list[str]:
    return [str(install.installed(install.golang()) / "play")]


CLIENTS: Mapping[str, Callable[[Path], list[str]]] = {
    "boto3": _boto3,
    "cli1": _cli1,
    "cli2": _cli2,
    "javascript": _javascript,
    "go": _go,
}


REPEATS = {"cli1", "cli2"}
"""Clients around the library that another one, boto3, is around. What is their own, profiles and credentials, `test_credentials.py` plays."""


@pytest.fixture(params=[pytest.param(each, marks=pytest.mark.long if each in REPEATS else ()) for each in CLIENTS])
def client(request: pytest.FixtureRequest) -> str:
    """The name of a client."""
    return str(request.param)


@pytest.fixture
def played(client: str, environment: Mapping[str, str], tmp_path: Path) -> Mapping[str, Any]:
    """What the client printed, by call. A client that is not installed is a failure in CI, and skipped elsewhere."""
    try:
        command = CLIENTS[client](tmp_path)
    except install.NotInstalled as missing:
        skip_unless_in_ci(missing, os.environ)
    given = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "CLIENT": client, "CLIENT_DIRECTORY": str(tmp_path)}
    done = subprocess.run(
        command, env={**given, **environment}, capture_output=True, text=True, check=False, timeout=900
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, done.stderr
    return {line["call"]: line for line in lines}


def skip_unless_in_ci(missing: install.NotInstalled, environment: Mapping[str, str]) -> NoReturn:
    if "CI" in environment:
        raise missing
    pytest.skip(str(missing))  # outside CI a machine may lack a client's runtime; the others are played all the same


def test_a_client_that_is_not_installed_fails_in_ci() -> None:
    missing = install.NotInstalled("no client")
    with pytest.raises(install.NotInstalled):
        skip_unless_in_ci(missing, {"CI": "true"})
    with pytest.raises(pytest.skip.Exception, match="no client"):
        skip_unless_in_ci(missing, {})


def test_a_client_sees_the_same_verdicts_as_every_other(
    client: str, played: Mapping[str, Any], gate: Gate, upstream: MotoUpstream
) -> None:
    assert {name: line["verdict"] for name, line in played.items()} == VERDICTS, played
    assert played["read"]["value"] == 1
    assert played["pages"]["value"] == 5
    assert played["messages"]["value"] == {
        "url": f"{gate.url}/123456789012/kafka-shard-0",
        "body": f"from {client}",
    }
    _check_simulated_aws(client, upstream)
    _check_records(gate)


def _check_simulated_aws(client: str, upstream: MotoUpstream) -> None:
    """What passed arrived, whole; what did not pass did not arrive."""
    s3 = upstream.client("s3")
    stored = s3.get_object(Bucket="uploads", Key=client)["Body"].read()
    assert (len(stored), stored.strip(b"x")) == (TEN if client == "javascript" else FIFTY, b"")
    item = upstream.client("dynamodb").get_item(TableName="kafka-offsets", Key={"partition": {"S": client}})
    assert "Item" in item
    groups = upstream.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[ASG])
    assert groups["AutoScalingGroups"][0]["DesiredCapacity"] == 7
    assert "WarmPoolConfiguration" not in upstream.client("autoscaling").describe_warm_pool(AutoScalingGroupName=ASG)


def _check_records(gate: Gate) -> None:
    """The last four decisions are those of the client, with the motives of its keys."""
    decided = [record.body.members for record in gate.records() if record.stage == "decided"][-4:]
    found: list[Any] = [(body["decision"], body["motive"]) for body in decided]
    assert [decision["verdict"] for decision, _ in found] == ["allow", "deny", "hold", "allow"]
    assert [motive["evidence"] for _, motive in found] == [["A-1"], ["A-1"], ["A-1"], ["A-2"]]
