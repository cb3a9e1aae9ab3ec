"""What a caller's kind and key id say about it."""

from datetime import UTC, datetime

import pytest

from gateway.core.model.caller import LONGEST_USER_AGENT, ActorKind, Caller, Sender, sender_of
from gateway.core.model.inbound import Inbound
from gateway.core.model.motive import Intent, Motivation, Motive


@pytest.mark.parametrize("kind", ActorKind)
def test_people_and_pipelines_see_every_actors_records(kind: ActorKind) -> None:
    caller = Caller(actor="a", kind=kind, key_id="SNTLAAAAAAAAAAAAAAAA")
    assert caller.sees_all == (kind in {ActorKind.HUMAN, ActorKind.PIPELINE})


@pytest.mark.parametrize(("key_id", "in_session"), [("SNTLAAAAAAAAAAAAAAAA", False), ("SNTSAAAAAAAAAAAAAAAA", True)])
def test_the_key_id_says_whether_it_is_a_session(key_id: str, in_session: bool) -> None:
    assert Caller(actor="a", kind=ActorKind.AGENT, key_id=key_id).in_session is in_session


@pytest.mark.parametrize(("only", "standing", "may"), [(False, False, True), (True, True, False), (True, False, False)])
def test_a_ceiling_lets_no_other_motive_be_stated(only: bool, standing: bool, may: bool) -> None:
    routine = Motive(intent=Intent.CONSISTENCY, motivation=Motivation.ROUTINE)
    other = Motive(intent=Intent.SECURITY, motivation=Motivation.VULNERABILITY)
    caller = Caller(
        actor="a", kind=ActorKind.AGENT, key_id="SNTLA", motive=routine if standing else None, motive_only=only
    )
    assert caller.may_state(other) is may
    assert caller.may_state(routine) is (standing or not only)


async def _no_body() -> bytes:
    return b""


def _inbound(*headers: tuple[str, str]) -> Inbound:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return Inbound(method="GET", target="/", headers=headers, read_body=_no_body, received_at=now, peer="192.0.2.7")


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("Boto3/1.40 md/Botocore#1.40", "Boto3/1.40 md/Botocore#1.40"),
        ("a\x1b[31mred\x00\u202e", "a?[31mred??"),
        ("x" * 10_000, "x" * LONGEST_USER_AGENT),
        ("", ""),
    ],
)
def test_a_user_agent_is_kept_short_and_printable(sent: str, kept: str) -> None:
    assert sender_of(_inbound(("host", "a"), ("user-agent", sent))) == Sender(peer="192.0.2.7", user_agent=kept)


def test_a_request_without_one_has_none() -> None:
    assert sender_of(_inbound()).user_agent == ""
