"""Third audit, 08: a revoked approver's approval was still used.

The attack: somebody has a person's key for a minute, approves what an agent of theirs asks for, and waits. The key is revoked; the approval
is used a day later. What must hold is the list of `docs/operators.md`, "Revoke a key": for everything that a key leaves behind there is one
test here. Signing out and renewing a key are no distrust: what was approved stays approved.
"""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.errors import NotAllowed
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.records.record import Stage
from gateway.core.settings.signals import SignalForm, SignalSourceSettings
from gateway.core.times import SystemClock
from tests.gateway.doors.api.test_waiting import act, cancel_replay, mutation_of
from tests.kit.applying import Applying, ask, planned, refused
from tests.kit.chat import Chat, chatting
from tests.kit.console import visitor
from tests.kit.gate import ASG, Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("clean")]
SOURCE = SignalSourceSettings(name="alerts", form=SignalForm.ALERTMANAGER, secret="a-secret-of-the-monitoring")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway with a source of signals."""
    with Gate(directory=tmp_path_factory.mktemp("gate"), signals=(SOURCE,)) as running:
        yield running


def person(gate: Gate, *roles: str) -> str:
    """A new person with these roles, or an approver."""
    return gate.issue(f"person-{uuid4().hex[:8]}", kind=ActorKind.HUMAN, roles=roles or ("approver",))


def held(gate: Gate) -> tuple[str, str]:
    """A call of the agent that waits, by the name that it is repeated with, and its mutation."""
    name = f"n{uuid4().hex[:12]}"
    return name, mutation_of(cancel_replay(gate, name))


def status_of(reply: dict[str, Any]) -> int:
    """The status that AWS's client was answered with."""
    return int(reply["ResponseMetadata"]["HTTPStatusCode"])


def state(gate: Gate, mutation: str) -> Any:
    """How far a mutation is, as people are told."""
    return httpx.get(f"{gate.url}/v1/mutations/{mutation}", headers=gate.bearer("human"), timeout=300).json()["state"]


# Approvals -------------------------------------------------------------------------------------------------------------


def test_an_approval_ends_with_the_key_it_was_given_with(gate: Gate) -> None:
    thief = person(gate)
    name, mutation = held(gate)
    assert act(gate, thief, mutation, "approve").status_code == 200
    gate.revoke(thief)
    assert status_of(cancel_replay(gate, name)) == 403
    assert gate.upstream.asked == []
    assert state(gate, mutation) == "held"
    assert act(gate, "human", mutation, "approve").status_code == 200
    assert status_of(cancel_replay(gate, name)) == 200
    assert gate.upstream.asked == ["CancelReplay"]


def test_the_records_say_what_ended_and_why(gate: Gate) -> None:
    thief = person(gate)
    _, mutation = held(gate)
    approval = act(gate, thief, mutation, "approve").json()["approval_id"]
    gate.revoke(thief)
    [withdrawn] = gate.records(stage=Stage.WITHDRAWN, mutation_id=mutation)
    body: Any = withdrawn.body
    key = gate.keys[thief].id
    assert (body.approval, body.approvers, body.key, body.requester) == (approval, (thief,), key, "agent")
    revoked: Any = gate.records(stage=Stage.KEY_REVOKED)[-1].body
    assert (revoked.key, revoked.withdrawn) == (key, (approval,))
    assert [each.stage for each in gate.records(key_id=key)] == [Stage.APPROVED], "found by the key it was given with"
    told = httpx.get(f"{gate.url}/v1/mutations/{mutation}/explanation", headers=gate.bearer("human"), timeout=300)
    assert f"key {key} was revoked" in told.json()["text"]


def test_of_two_who_must_approve_the_first_counts_no_more(gate: Gate) -> None:
    thief, second, third = person(gate), person(gate), person(gate)

    def delete() -> dict[str, Any]:
        client = gate.client("rds", "pipeline")
        try:
            return dict(client.delete_db_instance(DBInstanceIdentifier="kafka-reports", FinalDBSnapshotIdentifier="s"))
        except ClientError as error:
            return dict(error.response)

    mutation = mutation_of(delete())
    assert act(gate, thief, mutation, "approve").json()["missing"] == 1
    gate.revoke(thief)
    again = act(gate, second, mutation, "approve").json()
    assert (again["missing"], again["approvers"]) == (1, [second])
    assert status_of(delete()) == 403
    assert act(gate, third, mutation, "approve").json()["missing"] == 0
    gate.revoke(second)
    assert status_of(delete()) == 403, "a whole approval ends with any of its keys"
    assert gate.upstream.asked == []


def test_what_was_passed_in_an_emergency_ends_too(gate: Gate) -> None:
    thief = person(gate, "break-glass")
    name, mutation = held(gate)
    assert act(gate, thief, mutation, "break-glass", {"reason": "Now."}).status_code == 200
    gate.revoke(thief)
    assert status_of(cancel_replay(gate, name)) == 403
    assert (gate.upstream.asked, state(gate, mutation)) == ([], "held")


def test_a_gateway_that_still_knows_the_key_takes_no_word_of_it(gate: Gate) -> None:
    """A gateway looks a key up once a second. What it is told in between would last for hours."""
    thief = person(gate, "approver", "break-glass", "operator")
    key = gate.keys[thief]
    known = Caller(actor=thief, kind=ActorKind.HUMAN, key_id=key.id, roles=key.roles)
    _, mutation = held(gate)
    gate.revoke(thief)
    now = SystemClock().now()
    for word in (
        gate.ledger.break_glass(mutation, human=known, reason="Now.", at=now),
        gate.ledger.reject(mutation, approver=known, reason="No.", at=now),
        gate.ledger.resume("stp_any", by=known, reason="Over.", at=now),
        gate.ledger.settle_by_hand(mutation, approver=known, carried_out=False, reason="I looked.", at=now),
    ):
        with pytest.raises(NotAllowed, match="was revoked"):
            gate.run(word)


def test_signing_out_is_no_distrust_and_neither_is_a_renewal(gate: Gate) -> None:
    boss = person(gate)
    browser = visitor(gate, boss)
    name, mutation = held(gate)
    approved = browser.post(f"/console/mutations/{mutation}/approve", data={"lasts": "1h", "reason": "The lag grows"})
    assert approved.status_code == 303
    assert browser.post("/console/sign-out").status_code == 303
    gate.run(gate.ring.issue(actor=boss, kind=ActorKind.HUMAN, roles=("approver",)))  # what `sentinel key renew` does
    gate.run(gate.ring.revoke(gate.keys[boss].id, distrust=False))  # and `sentinel key revoke --keep-approvals`
    assert status_of(cancel_replay(gate, name)) == 200
    assert gate.upstream.asked == ["CancelReplay"]


def test_what_was_approved_in_a_session_ends_with_its_standing_key(gate: Gate) -> None:
    """Also if the session is over: signing out hides nothing from a later revocation."""
    thief = person(gate)
    browser = visitor(gate, thief)
    name, mutation = held(gate)
    browser.post(f"/console/mutations/{mutation}/approve", data={"lasts": "1h", "reason": "The lag grows"})
    browser.post("/console/sign-out")
    assert state(gate, mutation) == "approved"
    gate.revoke(thief)
    assert status_of(cancel_replay(gate, name)) == 403
    assert gate.upstream.asked == []


# Sessions --------------------------------------------------------------------------------------------------------------


def ended(gate: Gate, bearer: dict[str, str]) -> bool:
    """Whether a key is refused, within the time that a gateway knows it."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        if httpx.get(f"{gate.url}/v1/claims", headers=bearer, timeout=300).status_code == 401:
            return True
        time.sleep(0.1)
    return False


def test_sessions_end_with_their_key(gate: Gate) -> None:
    thief = person(gate)
    body = {"motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]}}
    given = httpx.post(f"{gate.url}/v1/sessions", headers=gate.bearer(thief), json=body, timeout=300).json()
    browser = visitor(gate, thief)
    gate.revoke(thief)
    assert ended(gate, {"Authorization": f"Bearer {given['access_key_id']}.{given['secret_access_key']}"})
    end = time.monotonic() + 300
    while browser.get("/console/approvals").status_code == 200:
        assert time.monotonic() < end


def test_a_plan_s_session_ends_with_the_key_that_opened_it_and_with_the_one_that_approved_it(gate: Gate) -> None:
    group = planned("aws_autoscaling_group.kafka_consumer", "update", values={"desired_capacity": 4})
    why = {"intent": "cost", "motivation": "routine"}
    opener = gate.issue(f"pipeline-{uuid4().hex[:8]}", kind=ActorKind.PIPELINE)
    for revoked_first in ("opener", "approver"):
        thief = person(gate)
        actor = opener if revoked_first == "opener" else "pipeline"
        gate.client("autoscaling", "agent", ("cost", "experiment")).set_desired_capacity(
            AutoScalingGroupName=ASG, DesiredCapacity=5
        )
        status, report = ask(gate, actor, group, motive=why)
        assert (status, report["session"]) == (200, None), report
        assert act(gate, thief, report["mutation"], "approve").status_code == 200
        _, report = ask(gate, actor, group, motive=why)
        applying = Applying(gate, report)
        gate.upstream.asked.clear()
        gate.revoke(opener if revoked_first == "opener" else thief)
        message = refused(
            applying.client("autoscaling").set_desired_capacity, AutoScalingGroupName=ASG, DesiredCapacity=4
        )
        assert message
        assert gate.upstream.asked == []
        assert ended(gate, applying.bearer())
        plan_ended: Any = gate.records(stage=Stage.PLAN_ENDED, mutation_id=applying.plan)[-1].body
        assert plan_ended.end == "revoked"
        gate.release_all()


# Chat links ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def chat(tmp_path: Path) -> Iterator[Chat]:
    """A chat whose users alice and bob are linked."""
    with chatting(tmp_path) as made:
        yield made


def test_a_click_counts_no_more_and_what_was_clicked_waits_again(chat: Chat) -> None:
    gate = chat.gate
    chat.refresh(100)
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    chat.click("alice", "approve", mutation)
    assert chat.state(mutation) == "approved"
    gate.revoke("alice")
    assert chat.state(mutation) == "open"
    end = time.monotonic() + 300
    while "has ended" not in str(chat.click("alice", "approve", mutation)):
        assert time.monotonic() < end
    assert chat.state(mutation) == "open"
    assert chat.refresh(100)["ResponseMetadata"]["HTTPStatusCode"] == 403
    chat.click("bob", "approve", mutation)
    assert chat.refresh(100)["ResponseMetadata"]["HTTPStatusCode"] == 200


# Open streams ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_stream_of_the_console_ends(gate: Gate) -> None:
    thief = person(gate)
    browser = visitor(gate, thief)
    seen: list[str] = []
    opened = threading.Event()

    def read() -> None:
        with (
            httpx.Client(base_url=gate.url, cookies=browser.cookies, timeout=300) as client,
            client.stream("GET", "/console/feed/stream?after=0") as reply,
        ):
            for part in reply.iter_text():
                seen.append(part)
                opened.set()

    reader = threading.Thread(target=read)
    reader.start()
    assert opened.wait(300)
    gate.revoke(thief)
    reader.join(300)
    assert not reader.is_alive(), "it ends by itself"


def test_a_request_that_waits_is_told_nothing(gate: Gate) -> None:
    waiter = gate.issue(f"waiter-{uuid4().hex[:8]}")
    mutation = mutation_of(cancel_replay(gate, f"n{uuid4().hex[:12]}", waiter))
    replies: list[httpx.Response] = []
    url = f"{gate.url}/v1/mutations/{mutation}?wait=60s"
    thread = threading.Thread(target=lambda: replies.append(httpx.get(url, headers=gate.bearer(waiter), timeout=300)))
    thread.start()
    end = time.monotonic() + 300
    while not gate.waits_for(mutation):
        assert time.monotonic() < end
        time.sleep(0.01)
    gate.revoke(waiter)
    time.sleep(1.1)  # the longest that a gateway knows a key
    act(gate, "human", mutation, "reject", {"reason": "No."})
    thread.join(300)
    assert replies[0].status_code == 401


# Changes for a time, stops, signals, claims ----------------------------------------------------------------------------


def test_a_change_for_a_time_is_set_back_all_the_same(gate: Gate) -> None:
    scaler = gate.issue(f"scaler-{uuid4().hex[:8]}", kind=ActorKind.HUMAN, roles=("approver",))
    client = gate.client("autoscaling", scaler, ("availability", "incident; evidence=A-1; for=1s"))
    client.set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    gate.revoke(scaler)
    end = time.monotonic() + 300
    while (reply := act(gate, "reconciler", mutation, "put-back")).status_code == 403 and "The end of" in reply.text:
        assert time.monotonic() < end, reply.text
        time.sleep(0.1)
    assert reply.status_code == 200, reply.text
    assert gate.upstream.asked == ["SetDesiredCapacity"] * 2


def test_a_stop_stays_and_another_person_ends_it(gate: Gate) -> None:
    thief, chief = person(gate, "operator"), person(gate, "operator")
    body = {"scope": "service", "name": "autoscaling", "reason": "It runs amok."}
    stop = httpx.post(f"{gate.url}/v1/stops", json=body, headers=gate.bearer(thief), timeout=300).json()["id"]
    try:
        gate.revoke(thief)
        with pytest.raises(ClientError, match="runs amok"):
            gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
        assert ended(gate, gate.bearer(thief))
        url = f"{gate.url}/v1/stops/{stop}"
        assert httpx.delete(url, headers=gate.bearer(thief), timeout=300).status_code == 401
    finally:
        reply = httpx.delete(f"{gate.url}/v1/stops/{stop}", headers=gate.bearer(chief), timeout=300)
    assert reply.status_code == 200
    assert gate.upstream.asked == []


def test_no_key_sends_a_signal(gate: Gate) -> None:
    """So a revoked one leaves none behind: a source proves itself with a secret of its own."""
    operator = person(gate, "operator", "approver")
    alert = {"status": "firing", "labels": {"alertname": "Lag"}, "startsAt": SystemClock().now().isoformat()}
    message = {"version": "4", "status": "firing", "alerts": [{**alert, "fingerprint": "1", "annotations": {}}]}
    url = f"{gate.url}/v1/signals/alerts"
    reply = httpx.post(url, json=message, headers=gate.bearer(operator), timeout=300)
    assert reply.status_code == 401, reply.text
    assert gate.records(stage=Stage.SIGNALLED) == []


def test_claims_stay_until_their_end_or_until_an_approver_ends_them(gate: Gate) -> None:
    """The change is there: what it set must not be taken for free by whoever comes first."""
    agent = gate.issue(f"agent-{uuid4().hex[:8]}")
    gate.client("autoscaling", agent).set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    mutation = gate.records(stage=Stage.DECIDED)[-1].mutation_id
    gate.revoke(agent)
    assert [claim.actor for claim in gate.run(gate.ledger.claims())] == [agent]
    assert act(gate, "human", mutation, "release").status_code == 200
    assert not gate.run(gate.ledger.claims())
