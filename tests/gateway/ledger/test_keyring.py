"""A motive that a key was made with `--only` is a ceiling for its calls and sessions, and no session exceeds its key."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import ActorKind
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.ports import Key
from gateway.core.records.record import Stage
from gateway.ledger.keyring import session_within
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ROUTINE = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
INCIDENT = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("A-1",))
STANDING = Key(
    id="SNTLSTANDING",
    secret="s",
    actor="deploy",
    kind=ActorKind.PIPELINE,
    roles=("deployer", "reader"),
    on_behalf_of="ana",
    motive=ROUTINE,
    motive_only=True,
    expires_at=NOON + HOUR,
)
WANTED = replace(STANDING, id="", secret="", expires_at=None, motive_only=False)
EXCEEDING: dict[str, dict[str, Any]] = {
    "another actor": {"actor": "other"},
    "another kind": {"kind": ActorKind.HUMAN},
    "for somebody else": {"on_behalf_of": ""},
    "one role more": {"roles": ("deployer", "approver")},
    "another motive": {"motive": INCIDENT},
    "another intent": {"motive": replace(ROUTINE, intent=Intent.SECURITY)},
    "another motivation": {"motive": replace(ROUTINE, motivation=Motivation.SCHEDULE)},
}


@pytest.mark.parametrize("changes", EXCEEDING.values(), ids=EXCEEDING)
def test_no_session_exceeds_its_key(changes: dict[str, Any]) -> None:
    with pytest.raises(NotAllowed, match="No key was made"):
        session_within(STANDING, replace(WANTED, **changes))


@pytest.mark.parametrize(
    ("wanted", "ends"),
    [(None, NOON + HOUR), (NOON + 2 * HOUR, NOON + HOUR), (NOON, NOON)],
    ids=["no end", "late", "soon"],
)
def test_a_session_ends_with_its_key_at_the_latest(wanted: datetime | None, ends: datetime) -> None:
    assert session_within(STANDING, replace(WANTED, expires_at=wanted)).expires_at == ends


@pytest.mark.parametrize("motive", [None, ROUTINE, replace(ROUTINE, text="nightly", evidence=("T-1",))])
def test_the_ceiling_holds_in_the_session_too(motive: Motive | None) -> None:
    session = session_within(STANDING, replace(WANTED, motive=motive, roles=("reader",)))
    assert (session.motive, session.motive_only, session.roles) == (motive or ROUTINE, True, ("reader",))


@pytest.mark.parametrize(
    ("lasts", "fits"), [(None, False), (2 * HOUR, False), (HOUR, True), (timedelta(minutes=1), True)]
)
def test_a_ceiling_may_say_for_how_long(lasts: timedelta | None, fits: bool) -> None:
    standing = replace(STANDING, motive=replace(ROUTINE, wanted_for=HOUR))
    wanted = replace(WANTED, motive=replace(ROUTINE, wanted_for=lasts))
    if fits:
        assert session_within(standing, wanted).motive == wanted.motive
    else:
        with pytest.raises(NotAllowed, match="at most 1:00:00"):
            session_within(standing, wanted)


def test_without_only_a_standing_motive_is_a_default() -> None:
    session = session_within(replace(STANDING, motive_only=False), replace(WANTED, motive=INCIDENT))
    assert (session.motive, session.motive_only) == (INCIDENT, False)


def test_a_session_makes_no_sessions() -> None:
    with pytest.raises(NotAllowed, match="standing key"):
        session_within(replace(STANDING, id="SNTSSESSION"), WANTED)


# Through the doors ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with an agent that may only do routine work."""
    with Gate(directory=tmp_path_factory.mktemp("bound")) as gate:
        issued = gate.ring.issue(actor="worker", kind=ActorKind.AGENT, motive=ROUTINE, motive_only=True, lasts=HOUR)
        gate.keys["worker"] = gate.run(issued)
        yield gate


def _session(gate: Gate, actor: str, intent: str, motivation: str) -> httpx.Response:
    body = {"motive": {"intent": intent, "motivation": motivation}, "lasts": "10h"}
    return httpx.post(f"{gate.url}/v1/sessions", json=body, headers=gate.bearer(actor))


def _scale(gate: Gate, actor: str, motive: tuple[str, str] | None) -> None:
    gate.upstream.asked.clear()
    gate.client("autoscaling", actor, motive).set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    gate.release_all()


def test_a_header_claims_nothing_beyond_the_ceiling(bound: Gate) -> None:
    with pytest.raises(ClientError, match="no other motive than consistency/routine") as caught:
        _scale(bound, "worker", ("availability", "incident; evidence=A-1"))
    assert caught.value.response["Error"]["Code"] == "AccessDenied"
    assert bound.upstream.asked == []
    refusal = bound.records()[-1]
    assert (refusal.stage, refusal.actor) == (Stage.TURNED_AWAY, "worker")


@pytest.mark.parametrize("motive", [None, ("consistency", "routine; text=nightly")])
def test_within_the_ceiling_calls_are_decided_as_ever(bound: Gate, motive: tuple[str, str] | None) -> None:
    _scale(bound, "worker", motive)
    assert bound.upstream.asked == ["SetDesiredCapacity"]


def test_the_json_api_holds_to_the_ceiling(bound: Gate) -> None:
    body = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 6},
        "motive": {"intent": "availability", "motivation": "incident"},
    }
    answer = httpx.post(f"{bound.url}/v1/mutations", json=body, headers=bound.bearer("worker"))
    assert (answer.status_code, "consistency/routine" in answer.text) == (403, True)


def test_a_session_claims_nothing_beyond_the_ceiling_either(bound: Gate) -> None:
    refused = _session(bound, "worker", "availability", "incident")
    assert (refused.status_code, "No key was made" in refused.text) == (403, True)
    made = _session(bound, "worker", "consistency", "routine").json()
    bound.keys["session"] = bound.run(bound.ring.find(made["access_key_id"]))  # type: ignore[assignment]  # it was just made
    assert bound.keys["session"].expires_at == bound.keys["worker"].expires_at
    with pytest.raises(ClientError, match="no other motive than consistency/routine"):
        _scale(bound, "session", ("security", "vulnerability; evidence=CVE-2026-1"))
    _scale(bound, "session", None)
    assert bound.upstream.asked == ["SetDesiredCapacity"]


def test_the_ceiling_is_in_the_record_of_the_key(bound: Gate) -> None:
    issued = {
        record.body.members["key"]: record.body.members["motive_only"]
        for record in bound.records(stage=Stage.KEY_ISSUED)
    }
    assert issued[bound.keys["worker"].id] is True
    assert issued[bound.keys["agent"].id] is False
