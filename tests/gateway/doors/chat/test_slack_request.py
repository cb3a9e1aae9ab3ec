"""Requests of the chat: signatures, and what they say."""

from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated
from gateway.doors.chat.slack_request import ChatAction, answer_path, is_user, read_request, verify_request
from tests.kit.chat import SECRET, TEAM, SlackStub, signed
from tests.kit.hold_records import HELD

SLACK = SlackStub()
HOST = SLACK.origin
LINK_CODE = HELD.replace("mut", "lnk")
CLICK = SLACK.click("U001", "approve", HELD)
NOW = datetime.now(UTC)


def _verify(body: bytes, headers: dict[str, str], **changes: str) -> None:
    given = {"timestamp": headers["x-slack-request-timestamp"], "signature": headers["x-slack-signature"], **changes}
    verify_request(body, secret=SECRET, now=NOW, **given)


def test_what_slack_signs_is_taken() -> None:
    _verify(CLICK, signed(CLICK, at=NOW.timestamp()))


@pytest.mark.parametrize(
    "changes",
    [
        {"timestamp": ""},
        {"timestamp": "yesterday"},
        {"timestamp": "1e9"},
        {"timestamp": "-5"},
        {"timestamp": "٣٣٣"},
        {"timestamp": "9" * 400},
        {"signature": ""},
        {"signature": "v0="},
        {"signature": "v0=" + "0" * 64},
        {"signature": "v0=\udcff\udc80"},
        {"signature": "v0=ü"},
    ],
)
def test_another_head_is_refused_and_breaks_nothing(changes: dict[str, str]) -> None:
    with pytest.raises(NotAuthenticated):
        _verify(CLICK, signed(CLICK, at=NOW.timestamp()), **changes)


@pytest.mark.parametrize("age", [-301, 301, 86_400])
def test_an_old_request_and_one_of_tomorrow_are_refused(age: int) -> None:
    with pytest.raises(NotAuthenticated):
        _verify(CLICK, signed(CLICK, at=NOW.timestamp() - age))


def test_a_changed_body_and_another_secret_are_refused() -> None:
    with pytest.raises(NotAuthenticated):
        _verify(CLICK.replace(b"approve", b"reject"), signed(CLICK, at=NOW.timestamp()))
    with pytest.raises(NotAuthenticated):
        _verify(CLICK, signed(CLICK, secret="x" * 32, at=NOW.timestamp()))


@pytest.mark.parametrize("body", [b"payload=\xff\xfe", b"\x80"])
def test_bytes_that_are_not_utf_8_are_no_request_of_slack(body: bytes) -> None:
    with pytest.raises(NotAuthenticated):
        _verify(body, {"x-slack-request-timestamp": str(int(NOW.timestamp())), "x-slack-signature": "v0=ab"})
    with pytest.raises(NotAuthenticated):
        read_request(body, team=TEAM, host=HOST)


def test_a_click_and_a_command_say_who_wants_what() -> None:
    click = read_request(SLACK.click("U001", "reject", HELD, " too wide "), team=TEAM, host=HOST)
    assert click is not None
    assert (click.user, click.action, click.mutation_id, click.reason) == ("U001", ChatAction.REJECT, HELD, "too wide")
    assert (click.answer_path, click.on_card) == (f"/actions/{TEAM}/1/reject", True)
    typed = read_request(SLACK.command("W002", f" reject  {HELD} it is too wide"), team=TEAM, host=HOST)
    assert typed is not None
    assert (typed.user, typed.action, typed.reason, typed.on_card) == (
        "W002",
        ChatAction.REJECT,
        "it is too wide",
        False,
    )


def test_a_code_is_read_and_not_shown() -> None:
    typed = read_request(SLACK.command("U001", f"link {LINK_CODE}"), team=TEAM, host=HOST)
    assert typed is not None
    assert (typed.user, typed.action, typed.code, typed.mutation_id) == ("U001", ChatAction.LINK, LINK_CODE, "")
    assert LINK_CODE not in repr(typed)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"ssl_check=1",
        SLACK.click("U001", "open", ""),
        SLACK.click("U001", "approve", HELD, type="view_submission"),
        SLACK.click("U001", "approve", HELD, actions=[]),
        SLACK.command("U001", "help"),
        SLACK.command("U001", "approve"),
        SLACK.command("U001", "approve mut_nosuch"),
        SLACK.command("U001", f"release {HELD}"),
        SLACK.command("U001", "link"),
        SLACK.command("U001", f"link {HELD}"),
        SLACK.command("U001", f"approve {LINK_CODE}"),
        SLACK.click("U001", "link", LINK_CODE),
    ],
)
def test_what_wants_nothing_of_us(body: bytes) -> None:
    assert read_request(body, team=TEAM, host=HOST) is None


@pytest.mark.parametrize(
    "body",
    [
        SLACK.click("U001", "approve", HELD, team={"id": "T9999"}),
        SLACK.click("U001", "approve", HELD, team=None),
        SLACK.click("U001", "approve", HELD, home="T9999"),
        SLACK.command("U001", f"approve {HELD}", team_id="T9999"),
    ],
)
def test_another_workspace_is_refused(body: bytes) -> None:
    with pytest.raises(NotAllowed, match="another workspace"):
        read_request(body, team=TEAM, host=HOST)


@pytest.mark.parametrize(
    "url",
    [
        "", None, 7, "https://evil.example/x", "http://hooks.slack.com/x", "https://hooks.slack.com.evil.example/x",
        "https://hooks.slack.com@evil.example/x", "https://hooks.slack.com:444/x", "https://evil.example\\@hooks.slack.com/x",
        "//hooks.slack.com/x", "https://hooks.slack.com", "https://hooks.slack.com/a b", "https://hooks.slack.com/a\r\nx: y", "https://[::1",
        "https://hooks.slack.com/ü",
    ],
)  # fmt: skip
def test_nothing_in_a_request_chooses_a_host(url: Any) -> None:
    with pytest.raises(NotAllowed, match="another host"):
        answer_path(url, HOST)
    with pytest.raises(NotAllowed):
        read_request(SLACK.click("U001", "approve", HELD, response_url=url), team=TEAM, host=HOST)


def test_the_answer_keeps_path_and_query() -> None:
    assert answer_path("https://hooks.slack.com/actions/T/1/x?a=b", HOST) == "/actions/T/1/x?a=b"


@pytest.mark.parametrize(
    "body",
    [
        b"payload=%7B",
        b"payload=" + b"%5B" * 50_000,
        b"payload=1&" + b"&".join(b"a=1" for _ in range(100)),
        SLACK.click("", "approve", HELD),
        SLACK.click("../x", "approve", HELD),
        SLACK.click("U001", "approve", "mut_nosuch"),
        SLACK.click("U001", "approve", HELD, actions=[{"action_id": "approve", "value": {"a": 1}}]),
    ],
)
def test_what_cannot_be_read_is_a_sentence(body: bytes) -> None:
    with pytest.raises(Malformed):
        read_request(body, team=TEAM, host=HOST)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("U0123ABCD", True), ("W1", True), ("U", False), ("u0123", False), ("B01", False), ("U٣", False)],
)
def test_ids_of_users(text: str, is_one: bool) -> None:
    assert is_user(text) is is_one
