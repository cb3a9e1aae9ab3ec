"""Changes are really made, and their events say what CloudTrail would: who, where, and whether AWS refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.drift.made import client, make
from tests.bench.drift.scenario import Change, Kind, Scenario, read_kinds
from tests.bench.drift.world import simulated_aws

pytestmark = [pytest.mark.slow, pytest.mark.allow_hosts(["127.0.0.1"])]
KINDS = read_kinds()


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A simulated AWS with nothing in it."""
    with simulated_aws(tmp_path_factory.mktemp("aws") / "log") as world:
        yield world.endpoint
        world.freeze()


def _events(kind: Kind, value: str, endpoint: str, tmp_path: Path, **more: Any) -> list[dict[str, Any]]:
    change = Change(kind=kind, on="", value=value, more=more)
    scenario = Scenario(id="p/x", root=".", origin="creation", shape="s", changes=[change], maker="agent")
    make(scenario, {}, endpoint, tmp_path / "events.json")
    records: list[dict[str, Any]] = json.loads((tmp_path / "events.json").read_text())["Records"]
    return records


def _queues(endpoint: str, **where: str) -> list[str]:
    return [url.rsplit("/")[-1] for url in client("sqs", endpoint, **where).list_queues().get("QueueUrls", [])]


def test_an_event_names_the_call_as_the_service_does(endpoint: str, tmp_path: Path) -> None:
    (event,) = _events(KINDS["database-create"], "spare", endpoint, tmp_path)
    assert (event["eventSource"], event["eventName"]) == ("rds.amazonaws.com", "CreateDBInstance")
    assert (event["userIdentity"]["userName"], event["recipientAccountId"]) == ("agent-ops", "123456789012")


def test_a_refused_call_leaves_an_event_with_its_error(endpoint: str, tmp_path: Path) -> None:
    (event,) = _events(KINDS["policy-create-refused"], "refused", endpoint, tmp_path)
    assert (event["errorCode"], event["responseElements"]) == ("MalformedPolicyDocument", None)


def test_a_call_that_should_be_refused_and_is_not_breaks_the_scenario(endpoint: str, tmp_path: Path) -> None:
    calls = [["sqs", "create_queue", {"QueueName": "$value"}, {"fails": True}]]
    kind = Kind(name="k", sees="nothing", calls=calls, reads=[["sqs", "list_queues", {}, "QueueUrls"]])
    with pytest.raises(RuntimeError, match="CreateQueue was not refused"):
        _events(kind, "allowed", endpoint, tmp_path)


def test_a_call_in_another_account_or_region_is_made_there(endpoint: str, tmp_path: Path) -> None:
    (event,) = _events(KINDS["queue-create-in-account"], "foreign", endpoint, tmp_path)
    assert event["recipientAccountId"] == event["userIdentity"]["accountId"] == "210987654321"
    (far,) = _events(KINDS["queue-create-in-region"], "far", endpoint, tmp_path)
    assert (far["awsRegion"], far["recipientAccountId"]) == ("eu-central-1", "123456789012")
    assert not {"foreign", "far"} & set(_queues(endpoint))
    assert "foreign" in _queues(endpoint, account="210987654321")
    assert "far" in _queues(endpoint, region="eu-central-1")


def test_a_creation_that_cannot_be_read_breaks_the_scenario(endpoint: str, tmp_path: Path) -> None:
    made = KINDS["queue-create"]
    blind = Kind(
        name="k",
        sees="invisible",
        calls=made.calls,
        reads=[["sqs", "list_queues", {}, "Nothing"]],
        creates=made.creates,
    )
    with pytest.raises(RuntimeError, match="changed nothing"):
        _events(blind, "blind", endpoint, tmp_path, visibility=30, tags={})


def test_a_zone_is_named_by_its_id_with_and_without_what_route_53_writes_before_it(
    endpoint: str, tmp_path: Path
) -> None:
    change = Change(kind=KINDS["zone-create"], on="", value="spare.example.org")
    scenario = Scenario(id="p/x", root=".", origin="creation", shape="s", changes=[change])
    (zone,) = make(scenario, {}, endpoint, tmp_path / "events.json").created
    whole, name, own = zone.names
    assert (whole, name) == (f"/hostedzone/{own}", "spare.example.org")
