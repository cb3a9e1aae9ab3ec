"""What Slack sends when a person clicks or types, signed as Slack's own library checks it, and where it takes answers."""

import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from slack_sdk.signature import SignatureVerifier

SECRET = "a-signing-secret-of-a-slack-app!"
TEAM = "T0001"


@dataclass(frozen=True)
class SlackStub:
    """One workspace; answers go to this origin."""

    origin: str = "https://hooks.slack.com"

    def click(
        self, user: str, action: str, mutation: str, reason: str | None = None, *, home: str = TEAM, **changes: Any
    ) -> bytes:
        """The body of a click on a card's button."""
        payload: dict[str, Any] = {
            "type": "block_actions",
            "team": {"id": TEAM, "domain": "acme"},
            "user": {"id": user, "username": "someone", "team_id": home},
            "response_url": f"{self.origin}/actions/{TEAM}/1/{action}",
            "state": {"values": {"reason": {"reason": {"type": "plain_text_input", "value": reason}}}},
            "actions": [{"action_id": action, "block_id": "decide", "value": mutation, "type": "button"}],
            **changes,
        }
        return urlencode({"payload": json.dumps(payload)}).encode()

    def command(self, user: str, text: str, **changes: str) -> bytes:
        """The body of a slash command."""
        form = {
            "command": "/sentinel",
            "text": text,
            "team_id": TEAM,
            "user_id": user,
            "response_url": f"{self.origin}/commands/{TEAM}/2/x",
            **changes,
        }
        return urlencode(form).encode()


def signed(body: bytes, *, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    """The headers of a body, made by Slack's own library."""
    seconds = str(int(time.time() if at is None else at))
    signature = SignatureVerifier(secret).generate_signature(timestamp=seconds, body=body)
    assert signature
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return {**kind, "x-slack-request-timestamp": seconds, "x-slack-signature": signature}
