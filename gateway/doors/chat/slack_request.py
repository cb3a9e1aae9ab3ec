"""A request of Slack: its signature over the bytes, and what a person clicked or typed.

Source: https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from gateway.core.errors import Malformed, NotAllowed, NotAuthenticated
from gateway.core.http.strict_parsers import json_value
from gateway.core.model.ids import is_id
from gateway.doors.chat.links import CODE
from gateway.notices.slack_card import APPROVE, LONGEST_REASON, REASON, REJECT

TIMESTAMP: Final = "x-slack-request-timestamp"
SIGNATURE: Final = "x-slack-signature"
LARGEST_REQUEST: Final = 256 * 1024
"""Bytes. A click brings the message along that it was on."""
_TOLERANCE_SECONDS: Final = 300
_DIGITS: Final = 12
_FIELDS: Final = 40
_UNPROVEN: Final = (
    "The request is not signed with the chat's signing secret, or is older than five minutes, so it was not read."
)


class ChatAction(StrEnum):
    """The acts that a person can ask for, on a held change or on their own link."""

    APPROVE = APPROVE
    REJECT = REJECT
    LINK = "link"
    """To be the person who asked for a code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """One act that a person asks for."""

    team: str
    user: str
    action: ChatAction
    mutation_id: str = ""
    """The held change; empty for `link`."""
    reason: str = ""
    code: str = field(default="", repr=False)
    """The code that proves a `link`."""
    answer_path: str
    """Where the answer goes, at the host of the settings."""
    on_card: bool
    """Whether it was a click on a card, which can be edited; else it was typed."""


def verify_request(raw: bytes, timestamp: str, signature: str, secret: str, now: datetime) -> None:
    """Raise `errors.NotAuthenticated` unless the bytes are signed with the secret, lately. Nothing of them is decoded for that."""
    known = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= _DIGITS
    if not known or abs(int(timestamp) - now.timestamp()) > _TOLERANCE_SECONDS:
        raise NotAuthenticated(_UNPROVEN)
    signed = f"v0:{timestamp}:".encode() + raw
    wanted = f"v0={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"
    if not hmac.compare_digest(wanted.encode(), signature.encode("utf-8", errors="surrogateescape")):
        raise NotAuthenticated(_UNPROVEN)


def read_request(raw: bytes, *, team: str, host: str) -> ChatRequest | None:
    """What a verified request wants; None if it wants nothing of us, such as a click on a link.

    Raises `errors.NotAuthenticated` for bytes that are not UTF-8, which the chat never sends, `errors.NotAllowed` for another workspace or an
    answer to another host, `errors.Malformed`.
    """
    try:
        form = parse_qs(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=_FIELDS)
    except UnicodeDecodeError:
        raise NotAuthenticated(_UNPROVEN) from None
    except ValueError:
        raise Malformed("The request has too many fields.") from None
    if "payload" in form:
        return _click(form["payload"][-1], team, host)
    if "command" in form:
        return _command({name: values[-1] for name, values in form.items()}, team, host)
    return None


def answer_path(url: object, host: str) -> str:
    """The path of an answer's URL, which must be at the host of the settings. Raises `errors.NotAllowed`."""
    text = url if isinstance(url, str) and url.isascii() and url.isprintable() else ""
    try:
        parts, ours = urlsplit(text), urlsplit(host)
    except ValueError:
        parts = ours = urlsplit("")
    same = bool(text) and (parts.scheme, parts.netloc) == (ours.scheme, ours.netloc)
    if not same or not parts.path.startswith("/") or " " in text or "\\" in text:
        raise NotAllowed(
            "The request wants its answer at another host than the chat's of the settings. Nothing was done."
        )
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _click(payload: str, team: str, host: str) -> ChatRequest | None:
    found = json_value(payload.encode())
    if not isinstance(found, Mapping) or found.get("type") != "block_actions":
        return None
    _require_team(team, _text(found, "team", "id"), _text(found, "user", "team_id") or team)
    actions = found.get("actions")
    action = actions[0] if isinstance(actions, list) and actions and isinstance(actions[0], Mapping) else {}
    if action.get("action_id") not in (APPROVE, REJECT):
        return None
    return ChatRequest(
        team=team,
        user=_user(_text(found, "user", "id")),
        action=ChatAction(action["action_id"]),
        mutation_id=_mutation(_text(action, "value")),
        reason=_text(found, "state", "values", REASON, REASON, "value")[:LONGEST_REASON].strip(),
        answer_path=answer_path(found.get("response_url"), host),
        on_card=True,
    )


def _command(form: Mapping[str, str], team: str, host: str) -> ChatRequest | None:
    """`approve ID`, `reject ID REASON` or `link CODE`; None for another text, which gets the help."""
    _require_team(team, form.get("team_id", ""), team)
    word, _, rest = form.get("text", "").strip().partition(" ")
    named, _, reason = rest.strip().partition(" ")
    links = word == ChatAction.LINK and is_id(CODE, named)
    if not links and not (word in (APPROVE, REJECT) and is_id("mut", named)):
        return None
    return ChatRequest(
        team=team,
        user=_user(form.get("user_id", "")),
        action=ChatAction(word),
        mutation_id="" if links else named,
        code=named if links else "",
        reason=reason.strip()[:LONGEST_REASON],
        answer_path=answer_path(form.get("response_url"), host),
        on_card=False,
    )


def _require_team(ours: str, *given: str) -> None:
    """In a channel that two workspaces share, a click may come from a user of the other one."""
    if any(each != ours for each in given):
        raise NotAllowed("The request comes from another workspace than the chat's of the settings. Nothing was done.")


def _user(text: str) -> str:
    if not is_user(text):
        raise Malformed("The request names no user of the chat.")
    return text


def is_user(text: str) -> bool:
    """Whether the text has the form of a user's id in Slack: `U…` or `W…`."""
    return 2 <= len(text) <= 32 and text[0] in "UW" and text.isascii() and text.isalnum() and text.isupper()  # noqa: PLR2004  Slack's ids have 9 to 11


def _mutation(text: str) -> str:
    if not is_id("mut", text):
        raise Malformed("The button names no mutation.")
    return text


def _text(found: Any, *path: str) -> str:
    """The text at a path of members; empty if there is none."""
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else ""
