"""What is kept of a request's connection is short and can be printed."""

from datetime import UTC, datetime

import pytest

from gateway.model.inbound import Inbound
from gateway.model.sender import LONGEST_USER_AGENT, Sender, sender_of


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
