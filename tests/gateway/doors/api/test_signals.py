"""Signals at the API: a source proves itself, its open alerts prove motives, and a claim loses its rank when its alert closes."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from gateway.core.records.record import Stage
from gateway.core.settings.signals import ConcernSettings, SignalForm, SignalSourceSettings
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
ADDRESS = "aws_autoscaling_group.kafka_consumer"
SECRET = "a-secret-of-the-monitoring"
CONCERNS = (
    ConcernSettings(labels={"service": "kafka*"}, stack="kafka", addresses=("aws_autoscaling_group.*",)),
    ConcernSettings(labels={"service": "billing"}, stack="{service}"),
)
SOURCES = (
    SignalSourceSettings(name="alerts", form=SignalForm.ALERTMANAGER, secret=SECRET, concerns=CONCERNS),
    SignalSourceSettings(name="hooks", form=SignalForm.STANDARD, secret=SECRET, concerns=CONCERNS),
)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with two sources of signals."""
    with Gate(directory=tmp_path_factory.mktemp("watched"), signals=SOURCES) as running:
        yield running


@pytest.fixture
def watching(watched: Gate) -> Iterator[Gate]:
    """The same, with no claim and no open signal of an earlier test."""
    yield watched
    watched.release_all()
    for each in _signals(watched):
        assert (
            _alert(watched, "resolved", key=each["key"], source=each["source"], labels=each["labels"])["changed"] == 1
        )


def _now(shift: float = 0) -> str:
    return (datetime.now(UTC) + timedelta(seconds=shift)).isoformat()


def _post(gate: Gate, source: str, body: Any, headers: dict[str, str]) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(f"{gate.url}/v1/signals/{source}", content=content, headers=headers, timeout=300)


def _message(status: str, *, key: str, at: str, labels: dict[str, str]) -> dict[str, Any]:
    time = {"startsAt": at, "endsAt": "0001-01-01T00:00:00Z"} if status == "firing" else {"startsAt": at, "endsAt": at}
    alert = {"status": status, "labels": labels, "annotations": {}, "fingerprint": key, "generatorURL": "", **time}
    return {"version": "4", "groupKey": "{}", "status": status, "alerts": [alert]}


def _alert(
    gate: Gate,
    status: str,
    *,
    key: str = "f1",
    at: str = "",
    source: str = "alerts",
    labels: dict[str, str] | None = None,
) -> Any:
    """Send an alert in the form of its source; the receipt."""
    found = labels or {"alertname": "LagTooHigh", "service": "kafka-consumer"}
    if source == "hooks":
        reply = _signed(gate, status == "firing", key=key, at=at or _now(), labels=found)
    else:
        body = _message(status, key=key, at=at or _now(), labels=found)
        reply = _post(gate, source, body, {"Authorization": f"Bearer {SECRET}"})
    assert reply.status_code == 200, reply.text
    return reply.json()


def _signed(gate: Gate, opened: bool, *, key: str, at: str, labels: dict[str, str], **more: str) -> httpx.Response:
    body = {
        "type": "signal.opened" if opened else "signal.closed",
        "timestamp": at,
        "data": {"id": key, "name": "Lag", "labels": labels},
    }
    return _post(gate, "hooks", body, standard_headers(body, **more))


def standard_headers(body: Any, *, identifier: str = "msg_1", sent: str = "", secret: str = SECRET) -> dict[str, str]:
    """The headers by which the Standard Webhooks specification signs a message."""
    time = sent or str(int(datetime.now(UTC).timestamp()))
    signed = f"{identifier}.{time}.".encode() + json.dumps(body).encode()
    signature = base64.b64encode(hmac.digest(secret.encode(), signed, hashlib.sha256)).decode()
    return {"webhook-id": identifier, "webhook-timestamp": time, "webhook-signature": f"v1,AAAA v1,{signature}"}


def _signals(gate: Gate, **query: str) -> list[Any]:
    reply = httpx.get(f"{gate.url}/v1/signals", headers=gate.bearer("human"), params=query, timeout=300)
    assert reply.status_code == 200, reply.text
    return list(reply.json()["signals"])


def _scale(gate: Gate, actor: str, size: int, *, motivation: str = "incident", evidence: str = "LagTooHigh") -> Any:
    """Ask for another size of the group for the sake of availability; the reply."""
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": size},
        "motive": {"intent": "availability", "motivation": motivation, "evidence": [evidence]},
    }
    return httpx.post(f"{gate.url}/v1/mutations", json=body, headers=gate.bearer(actor), timeout=300)


def _claim(gate: Gate) -> Any:
    reply = httpx.get(f"{gate.url}/v1/claims", headers=gate.bearer("human"), timeout=300)
    [claim] = reply.json()["claims"]
    return claim


def test_an_open_alert_that_concerns_the_resource_is_proof(watching: Gate) -> None:
    _alert(watching, "firing")
    assert _scale(watching, "agent", 6).status_code == 200
    [signal] = _signals(watching)
    assert _claim(watching)["proof"] == [signal["id"]]
    # A rival that only claims an incident loses to it; the same words with proof would be a close call.
    refused = _scale(watching, "rival", 5, evidence="something is wrong")
    assert (refused.status_code, "SEN-A001" in refused.text) == (403, True)
    assert _scale(watching, "rival", 5).status_code == 202


def test_a_claim_is_downgraded_when_its_alert_closes_and_a_record_says_so(watching: Gate) -> None:
    _alert(watching, "firing")
    assert _scale(watching, "agent", 6).status_code == 200
    claim = _claim(watching)
    assert _alert(watching, "resolved")["changed"] == 1
    assert _claim(watching)["proof"] == []
    [record] = watching.records(stage=Stage.DOWNGRADED, mutation_id=claim["mutation_id"])
    assert (record.actor, record.body.members["claim"], record.body.members["signal"]) == (
        "agent",
        claim["id"],
        claim["proof"][0],
    )
    # What was refused before now wins: a proven launch outranks an incident that nothing proves.
    assert _scale(watching, "human", 5, motivation="launch", evidence="L-1").status_code == 200


def test_a_claim_keeps_its_rank_while_another_alert_proves_it(watching: Gate) -> None:
    _alert(watching, "firing", key="f1")
    _alert(watching, "firing", key="f2")
    assert _scale(watching, "agent", 6).status_code == 200
    assert len(_claim(watching)["proof"]) == 2
    _alert(watching, "resolved", key="f1")
    assert len(_claim(watching)["proof"]) == 2
    _alert(watching, "resolved", key="f2")
    assert _claim(watching)["proof"] == []


@pytest.mark.parametrize(
    ("labels", "evidence", "proven"),
    [
        ({"alertname": "A", "service": "kafka-consumer"}, "a", True),
        ({"alertname": "A", "service": "kafka-consumer"}, "alerts:f1", True),
        ({"alertname": "A", "service": "kafka-consumer"}, " F1 ", True),
        ({"alertname": "A", "service": "kafka-consumer"}, "B", False),
        ({"alertname": "A", "service": "kafka-consumer"}, "hooks:f1", False),
        # An alert of another stack, one that no setting maps, and one whose label is no name.
        ({"alertname": "A", "service": "billing"}, "A", False),
        ({"alertname": "A"}, "A", False),
        ({"alertname": "A", "service": "*"}, "A", False),
    ],
)
def test_what_the_evidence_must_name(watching: Gate, labels: dict[str, str], evidence: str, proven: bool) -> None:
    _alert(watching, "firing", labels=labels)
    assert _scale(watching, "agent", 6, evidence=evidence).status_code == 200
    assert bool(_claim(watching)["proof"]) == proven


def test_an_alert_that_has_closed_proves_nothing_more(watching: Gate) -> None:
    _alert(watching, "firing")
    _alert(watching, "resolved")
    assert _scale(watching, "agent", 6).status_code == 200
    assert _claim(watching)["proof"] == []


@pytest.mark.parametrize("source", ["alerts", "hooks"])
def test_a_repeated_or_replayed_or_delayed_message_changes_nothing(watching: Gate, source: str) -> None:
    opened, closed = _now(-60), _now(-30)
    send: dict[str, Any] = {"key": "r1", "source": source}
    assert _alert(watching, "firing", at=opened, **send)["changed"] == 1
    assert _alert(watching, "firing", at=opened, **send)["changed"] == 0
    assert _alert(watching, "resolved", at=closed, **send)["changed"] == 1
    for at in (opened, closed, _now(-45)):
        assert _alert(watching, "firing", at=at, **send)["changed"] == 0
    assert _signals(watching) == []
    assert [each["state"] for each in _signals(watching, every="true", source=source) if each["key"] == "r1"] == [
        "closed"
    ]


def test_an_end_that_overtakes_its_begin_keeps_the_alert_closed(watching: Gate) -> None:
    assert _alert(watching, "resolved", key="o1", at=_now(-10))["changed"] == 1
    assert _alert(watching, "firing", key="o1", at=_now(-20))["changed"] == 0
    assert _signals(watching) == []


BODY = {"type": "signal.opened", "timestamp": "2026-01-01T00:00:00Z", "data": {"id": "x"}}
LATE = str(int(datetime.now(UTC).timestamp()) - 3000)


@pytest.mark.parametrize(
    ("source", "headers"),
    [
        ("alerts", {}),
        ("alerts", {"Authorization": "Bearer a-secret-of-somebody-else"}),
        ("alerts", {"Authorization": f"Bearer {SECRET}x"}),
        ("alerts", {"Authorization": "Basic " + base64.b64encode(f"hooks:{SECRET}".encode()).decode()}),
        ("alerts", {"Authorization": "Basic !!!"}),
        ("alerts", standard_headers(BODY)),
        ("hooks", {"Authorization": f"Bearer {SECRET}"}),
        ("hooks", standard_headers(BODY, secret="another-secret-altogether")),
        ("hooks", standard_headers(BODY, sent=LATE)),
        ("hooks", standard_headers({**BODY, "type": "signal.closed"})),
        ("hooks", {**standard_headers(BODY), "webhook-id": "msg_2"}),
        ("hooks", {**standard_headers(BODY), "webhook-signature": "v1a,x"}),
        ("hooks", {**standard_headers(BODY), "webhook-timestamp": "now"}),
        ("nobody", {"Authorization": f"Bearer {SECRET}"}),
        # A key of the gateway is no proof that one is the monitoring system.
        ("alerts", {"Authorization": "agent"}),
        ("alerts", {"Authorization": "human"}),
    ],
)
def test_a_message_without_its_proof_is_turned_away(watching: Gate, source: str, headers: dict[str, str]) -> None:
    before = len(watching.records(stage=Stage.SIGNALLED))
    if (actor := headers.get("Authorization")) in watching.keys:
        headers = watching.bearer(str(actor))
    reply = _post(watching, source, BODY, headers)
    assert (reply.status_code, reply.json()["code"]) == (401, "not_authenticated")
    assert len(watching.records(stage=Stage.SIGNALLED)) == before
    refused = watching.records(stage=Stage.TURNED_AWAY)[-1]
    assert refused.body.members["about"] == f"POST /v1/signals/{source}"
    assert SECRET not in json.dumps(refused.body.members) + reply.text


def test_a_body_that_is_not_proven_is_not_parsed(watching: Gate) -> None:
    assert _post(watching, "hooks", b"{{{", standard_headers(BODY)).status_code == 401
    assert _post(watching, "alerts", b"{{{", {"Authorization": f"Bearer {SECRET}"}).status_code == 400


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"x" * (1024 * 1024 + 1), "larger"),
        (b"[]", "`body`"),
        (b'{"alerts": {}}', "`alerts`"),
        (b'{"alerts": [], "truncatedAlerts": 3}', "truncatedAlerts"),
        (b'{"alerts": [{"status": "firing", "fingerprint": "a", "startsAt": "noon"}]}', "startsAt"),
        (b'{"alerts": [{"status": "firing", "fingerprint": "a", "startsAt": "2999-01-01T00:00:00Z"}]}', "future"),
        (b'{"alerts": [{"status": "firing", "startsAt": "2026-01-01T00:00:00Z"}]}', "`fingerprint`"),
        (b'{"alerts": [], "alerts": []}', "twice"),
        (json.dumps({"alerts": [{"status": "firing", "fingerprint": str(n), "startsAt": "2026-01-01T00:00:00Z"} for n in range(501)]}).encode(), "501"),
    ],
)  # fmt: skip
def test_a_message_that_cannot_be_taken_is_refused_with_a_sentence(watching: Gate, body: bytes, says: str) -> None:
    reply = _post(watching, "alerts", body, {"Authorization": f"Bearer {SECRET}"})
    assert (reply.status_code in (400, 413), says in reply.json()["detail"]) == (True, True), reply.text
    assert _signals(watching) == []


@pytest.mark.parametrize(("actor", "status"), [("human", 200), ("pipeline", 200), ("agent", 403), ("service", 403)])
def test_who_may_list_the_signals(watching: Gate, actor: str, status: int) -> None:
    reply = httpx.get(f"{watching.url}/v1/signals", headers=watching.bearer(actor), timeout=300)
    assert reply.status_code == status
    assert httpx.get(f"{watching.url}/v1/signals", timeout=300).status_code == 401


def test_signals_are_listed_by_stack_and_service(watching: Gate) -> None:
    _alert(watching, "firing", key="k", labels={"alertname": "K", "service": "kafka-consumer"})
    _alert(watching, "firing", key="b", labels={"alertname": "B", "service": "billing"})
    assert {each["key"] for each in _signals(watching)} == {"k", "b"}
    assert [each["key"] for each in _signals(watching, stack="kafka")] == ["k"]
    [billing] = _signals(watching, service="billing")
    assert (billing["name"], billing["concerns"]) == ("B", [{"stack": "billing", "addresses": ["*"]}])


def test_basic_authentication_is_the_name_of_the_source_and_its_secret(watching: Gate) -> None:
    body = _message("firing", key="f1", at=_now(), labels={"alertname": "A"})
    headers = {"Authorization": "Basic " + base64.b64encode(f"alerts:{SECRET}".encode()).decode()}
    assert _post(watching, "alerts", body, headers).json() == {"received": 1, "changed": 1, "unmapped": 1}


def test_without_a_source_the_text_is_proof_as_before(gate: Gate) -> None:
    assert _scale(gate, "agent", 6).status_code == 200
    assert _claim(gate)["proof"] == []
    assert _scale(gate, "rival", 5, evidence="A-7").status_code == 202  # as high, so a human decides
    gate.release_all()
