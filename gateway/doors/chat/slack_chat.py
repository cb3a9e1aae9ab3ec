"""Takes the requests of people in Slack: proves each request, acknowledges it at once, acts as the linked person by the rules of every door,
and sends the answer to the host of the settings.
"""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

import structlog

from gateway.core.errors import Malformed, NotAllowed, NotFound, Overloaded, SentinelError
from gateway.core.model.approval import Hold, HoldState
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Inbound
from gateway.core.model.mutation import Door
from gateway.core.outbound.client import OutboundClient
from gateway.core.outbound.response import OutboundFailure
from gateway.core.ports import Clock, LedgerCommands, LedgerQueries, RecordQuery
from gateway.core.records.approvals import ConsentBody, RejectedBody
from gateway.core.records.codec import body_of
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record, Stage
from gateway.core.settings.notices import SlackSettings
from gateway.doors.chat.links import ChatLinks
from gateway.doors.chat.slack_request import SIGNATURE, TIMESTAMP, ChatAction, ChatRequest, read_request, verify_request
from gateway.line.wakeups import Wakeups
from gateway.notices.change_lines import without_links
from gateway.notices.slack_card import card, no_buttons_reason

_CLIENT: Final = OutboundClient(seconds=10.0, most_bytes=0)
_OK: Final = 200


class ChatUnusable(SentinelError):
    """The chat did not take an answer. What was decided is recorded all the same."""

    code = "chat_host"


class SlackAnswers:
    """The host where the chat takes answers."""

    def __init__(self, host: str) -> None:
        """`host` is a scheme and a host, from the settings."""
        self._host = host.rstrip("/")

    async def answer(self, path: str, document: dict[str, Any]) -> None:
        """Send an answer once. Raises `ChatUnusable`, whose text does not hold the path: it is a secret for half an hour."""
        headers = {"content-type": "application/json"}
        try:
            reply = await _CLIENT.request(
                "POST", f"{self._host}{path}", headers=headers, body=json.dumps(document).encode()
            )
        except OutboundFailure as error:
            raise ChatUnusable(f"The chat could not be answered ({error}).") from None
        if reply.status != _OK:
            raise ChatUnusable(f"The chat answered {reply.status}.")


log = structlog.get_logger()

MOST_AT_ONCE: Final = 32
"""Requests that are worked on at the same time."""
HELP: Final = (
    "Say `approve mut_…`, `reject mut_… WHY`, or `link CODE`. The ids are on the cards; `sentinel holds` lists them."
)
_LASTS: Final = timedelta(hours=1)
_LAST_SECONDS: Final = 10.0
_LEAST_REASON: Final = 8
"""Letters and digits of a reason, so that a dot is none."""


@dataclass(slots=True, kw_only=True)
class SlackChat:
    """The chat of one gateway."""

    settings: SlackSettings
    public_url: str
    links: ChatLinks
    queries: LedgerQueries
    commands: LedgerCommands
    wakeups: Wakeups
    host: SlackAnswers
    clock: Clock
    _running: set["asyncio.Task[None]"] = field(default_factory=set)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Two clicks at the same moment are decided one after the other, so that the first one stays."""

    def require_on(self) -> None:
        """Raise `errors.NotFound` if no chat is set."""
        if not self.settings.on:
            raise NotFound("This gateway has no chat: `chat.slack.signing_secret` is not set.")

    async def take(self, inbound: Inbound) -> str:
        """Verify a request and begin its work, which goes on beside: the chat wants an answer within three seconds. What to say at once.

        Raises `errors.NotFound` if there is no chat here, `errors.NotAuthenticated` before anything is decoded, `errors.NotAllowed`,
        `errors.Malformed`, `errors.Overloaded`.
        """
        self.require_on()
        raw = await inbound.read_body()
        secret = self.settings.signing_secret.get_secret_value()
        timestamp, signature = inbound.only_header(TIMESTAMP), inbound.only_header(SIGNATURE)
        verify_request(raw, timestamp, signature, secret, self.clock.now())
        request = read_request(raw, team=self.settings.team, host=self.settings.host)
        if request is None:
            return HELP if raw.startswith(b"command=") or b"&command=" in raw else ""
        if len(self._running) >= MOST_AT_ONCE:
            raise Overloaded("Too much of the chat is being worked on. Nothing was done; click again.")
        task = asyncio.ensure_future(self._act(request))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return "" if request.on_card else "Working on it."

    async def close(self) -> None:
        """Give what was taken a little time, then let go of it: a click that was lost changed nothing, and can be repeated."""
        if self._running:
            _, late = await asyncio.wait(self._running, timeout=_LAST_SECONDS)
            for task in late:
                task.cancel()

    async def _act(self, request: ChatRequest) -> None:
        """Do what is wanted and say what came of it; every error is an answer that only this person sees."""
        try:
            async with self._turn:
                done = await self._done(request)
            await self._say(request, done)
        except SentinelError as error:
            await self._say(
                request, {"response_type": "ephemeral", "replace_original": False, "text": without_links(str(error))}
            )
        except Exception as error:  # noqa: BLE001  what it says could show a value
            log.error("chat_broke", mutation=request.mutation_id, error=type(error).__name__)  # noqa: TRY400  as above
            text = "Sentinel had an internal error. `sentinel holds` shows whether the change still waits."
            await self._say(request, {"response_type": "ephemeral", "replace_original": False, "text": text})

    async def _say(self, request: ChatRequest, document: dict[str, Any]) -> None:
        try:
            await self.host.answer(request.answer_path, document)
        except SentinelError as error:
            log.error("chat_not_answered", mutation=request.mutation_id, reason=str(error))  # noqa: TRY400  the sentence is enough

    async def _done(self, request: ChatRequest) -> dict[str, Any]:
        """The answer: the card as it is now, or a sentence for what was typed. Raises a `SentinelError`."""
        if request.action is ChatAction.LINK:
            return await self._linked(request)
        person = await self.links.person(request.user)
        hold, record = await self._held(request.mutation_id)
        if hold.state is not HoldState.OPEN:
            return self._answer(request, record, await self._first_decision(hold))
        longest = timedelta(hours=self.settings.longest_grant_hours)
        if request.action is ChatAction.REJECT:
            return self._answer(request, record, await self._rejected(request, person))
        if refused := no_buttons_reason(body_of(record, DecidedBody), longest):
            raise NotAllowed(refused)
        return await self._approved(request, person, record)

    async def _linked(self, request: ChatRequest) -> dict[str, Any]:
        link = await self.links.confirm(request.user, request.code)
        log.info("linked_in_chat", by=link["actor"], user=request.user)
        text = (
            f"You are {link['actor']} now: what you click here counts as theirs. If you are somebody else, have an operator "
            f"end it at once: sentinel chat unlink {request.user}"
        )
        return {"response_type": "ephemeral", "text": without_links(text)}

    async def _approved(self, request: ChatRequest, person: Caller, record: Record) -> dict[str, Any]:
        """An approval by several people leaves the buttons for the others."""
        approval = await self.commands.approve(
            request.mutation_id, approver=person, at=self.clock.now(), lasts=_LASTS, door=Door.CHAT
        )
        self._tell(request, person)
        until = approval.until.isoformat(timespec="seconds")
        if approval.missing:
            given = ", ".join((*approval.others, approval.approver))
            return self._answer(request, record, note=f"Approved by {given}; {approval.missing} more must.")
        return self._answer(
            request, record, f"Approved by {person.actor} until {until}: the identical call passes once."
        )

    async def _rejected(self, request: ChatRequest, person: Caller) -> str:
        if sum(character.isalnum() for character in request.reason) < _LEAST_REASON:
            raise Malformed(
                "Say why in the field `Reason` (or after the id), in a few words: the requester is told. Nothing was done."
            )
        await self.commands.reject(
            request.mutation_id, approver=person, reason=request.reason, at=self.clock.now(), door=Door.CHAT
        )
        self._tell(request, person)
        return f"Rejected by {person.actor}: {request.reason}"

    def _tell(self, request: ChatRequest, person: Caller) -> None:
        self.wakeups.wake(request.mutation_id)
        log.info(
            "decided_in_chat",
            action=request.action.value,
            mutation=request.mutation_id,
            by=person.actor,
            user=request.user,
        )

    async def _held(self, mutation_id: str) -> tuple[Hold, Record]:
        holds = await self.queries.holds(state=None, mutation_id=mutation_id, limit=1)
        records = await self.queries.records(RecordQuery(mutation_id=mutation_id, stage=Stage.DECIDED, limit=1))
        if not holds or not records:
            raise NotFound(f"No mutation {mutation_id} is held.")
        return holds[0], records[0]

    async def _first_decision(self, hold: Hold) -> str:
        """Who decided before; a second click changes nothing."""
        query = RecordQuery(mutation_id=hold.mutation_id)
        for record in await self.queries.records(query):
            if isinstance(record.body, ConsentBody | RejectedBody):
                reason = f": {record.body.reason}" if record.body.reason else ""
                return f"Already {hold.state.value} by {record.actor}{reason}."
        return f"Already {hold.state.value}, with another hold of the same call."

    def _answer(self, request: ChatRequest, record: Record, closing: str = "", note: str = "") -> dict[str, Any]:
        if not request.on_card:
            return {"response_type": "ephemeral", "text": without_links(closing or note)}
        longest = timedelta(hours=self.settings.longest_grant_hours)
        message = card(record, longest_grant=longest, public_url=self.public_url, closing=closing, note=note)
        return {"replace_original": True, **message}
