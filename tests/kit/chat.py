"""People who approve in a chat: what Slack sends, signed as its own library checks it, and a gateway that takes it."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import httpx
from botocore.exceptions import ClientError
from slack_sdk.signature import SignatureVerifier

from gateway.core.model.caller import ActorKind
from gateway.core.settings.notices import ChatSettings
from tests.kit.gate import ASG, Gate
from tests.kit.hook import HookStub, receiving

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


USERS = {"alice": "UALICE", "bob": "UBOB", "pipeline": "UPIPE", "nobody": "UNOBODY", "mallory": "UMALLORY"}


@dataclass
class Chat:
    """The gateway, and the host where its answers arrive."""

    gate: Gate
    host: HookStub
    slack: SlackStub

    def post(self, body: bytes, headers: dict[str, str] | None = None) -> httpx.Response:
        """Send a request to the gateway as Slack does."""
        return httpx.post(f"{self.gate.url}/v1/chat/slack", content=body, headers=headers or signed(body))

    def click(self, actor: str, action: str, mutation: str, reason: str | None = None) -> dict[str, Any]:
        """Click a button, and return the answer that arrives at the chat's host."""
        return self._answered(
            "actions", lambda url: self.slack.click(USERS[actor], action, mutation, reason, response_url=url)
        )

    def say(self, actor: str, text: str) -> dict[str, Any]:
        """Type a command, and return the answer that arrives."""
        return self._answered("commands", lambda url: self.slack.command(USERS[actor], text, response_url=url))

    def _answered(self, kind: str, make: Callable[[str], bytes]) -> dict[str, Any]:
        """The answer to one request, which has an address of its own."""
        path = f"/{kind}/{TEAM}/{uuid4()}"
        reply = self.post(make(f"{self.slack.origin}{path}"))
        assert reply.status_code == 200, reply.text
        return self.arrived(path)

    def arrived(self, path: str) -> dict[str, Any]:
        """What arrives at a path of the chat's host."""

        async def wait() -> dict[str, Any]:
            async with asyncio.timeout(300):
                while not (found := [each for each in list(self.host.received) if each.path == path]):  # noqa: ASYNC110  a stub that only keeps
                    await asyncio.sleep(0.01)
            return found[0].document

        return asyncio.run(wait())

    def ask(self, actor: str, user: str = "") -> httpx.Response:
        """Ask for the link of a user with the actor's own key."""
        body = {"user": user or USERS[actor]}
        return httpx.post(f"{self.gate.url}/v1/chat/links", json=body, headers=self.gate.bearer(actor))

    def link(self, actor: str) -> dict[str, Any]:
        """Link an actor's user: asked with the actor's own key, and confirmed in the chat; what the chat says then."""
        said = self.say(actor, f"link {self.ask(actor).json()['code']}")
        assert said["text"].startswith(f"You are {actor} now"), said
        return said

    def held(self, *, days: int | None = None, actor: str = "pipeline") -> str:
        """A call that two people must approve: a database is deleted; with days, its backups are shortened."""
        client = self.gate.client("rds", actor)
        name = "kafka-reports"
        try:
            if days is None:
                client.delete_db_instance(DBInstanceIdentifier=name, FinalDBSnapshotIdentifier=f"s-{uuid4()}")
            else:
                client.modify_db_instance(DBInstanceIdentifier=name, BackupRetentionPeriod=days)
        except ClientError as error:
            return str(error.response["ResponseMetadata"]["HTTPHeaders"]["x-sentinel-mutation"])
        raise AssertionError("the call was not held")

    def refresh(self, warmup: int) -> dict[str, Any]:
        """An application replaces every instance, which one person must approve; boto3's reply or error."""
        client = self.gate.client("autoscaling", "service")
        try:
            return dict(client.start_instance_refresh(AutoScalingGroupName=ASG, Preferences={"InstanceWarmup": warmup}))
        except ClientError as error:
            return dict(error.response)

    def state(self, mutation: str) -> str:
        """What people decided about it."""
        [hold] = self.gate.run(self.gate.ledger.holds(state=None, mutation_id=mutation))
        return str(hold.state.value)


@contextmanager
def chatting(directory: Path) -> Iterator[Chat]:
    """One gateway and one chat; alice and bob are linked."""
    with receiving(HookStub()) as host:
        origin = f"http://127.0.0.1:{host.port}"
        settings = ChatSettings.model_validate(
            {"slack": {"signing_secret": SECRET, "team": TEAM, "host": origin, "webhook_url": f"{origin}/services/x"}}
        )
        with Gate(directory=directory, chat=settings) as gate:
            made = Chat(gate, host, SlackStub(origin))
            for person in ("alice", "bob"):
                gate.issue(person, kind=ActorKind.HUMAN, roles=("approver",))
                made.link(person)
            gate.issue("nobody", kind=ActorKind.HUMAN, roles=())
            gate.issue("chief", kind=ActorKind.HUMAN, roles=("operator",))
            yield made
