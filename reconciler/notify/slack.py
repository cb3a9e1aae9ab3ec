"""The chat as a receiver: a card for each held change, which is edited, or else answered, once the change is decided."""

import ipaddress
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from gateway.core.outbound.addresses import Network
from gateway.core.outbound.response import HttpResponse
from gateway.core.records.notice import Notice, NoticeType
from gateway.core.records.record import Record
from gateway.core.settings.notices import CHAT, SlackSettings
from gateway.notices.change_lines import without_links
from gateway.notices.slack_card import card, closing_of, decides
from reconciler.notify.posted_cards import PostedCard
from reconciler.notify.receivers import JSON_HEADERS, Post, PostAnswer, Sending, matches

_SECONDS: Final = 10.0
_POST: Final = "/api/chat.postMessage"
_UPDATE: Final = "/api/chat.update"
_CODE: Final = re.compile(r"[a-z_]{1,64}")
_CHANNEL: Final = re.compile(r"[A-Z0-9]{2,32}")
_TIME: Final = re.compile(r"[0-9]{1,12}\.[0-9]{1,9}")
_GONE: Final = "message_not_found"
_UNAVAILABLE: Final = frozenset(
    {"internal_error", "fatal_error", "service_unavailable", "request_timeout", "ratelimited"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackReceiver:
    """The chat where held changes are shown: with a bot's token through Slack's Web API, else through an incoming webhook."""

    settings: SlackSettings
    public_url: str
    schedule: Sequence[float]

    @property
    def name(self) -> str:
        """One for all chats."""
        return CHAT

    def fits(self, notice: Notice) -> bool:
        """Whether a card is posted, or one that was posted may be stale now."""
        return (notice.type is NoticeType.HELD or _ends(notice)) and matches(notice.stack, self.settings.stacks)

    def ends_cards(self, record: Record) -> bool:
        """Whether cards that were posted are over with this record."""
        return decides(record)

    def sendings(
        self,
        notice: Notice,  # noqa: ARG002  the port
        record: Record,
        now: datetime,  # noqa: ARG002  the port
        posted: Sequence[PostedCard] = (),
    ) -> Sequence[Sending]:
        """The card; or the edits of those that are over, or one answer to them all. Nothing if none was posted."""
        if not decides(record):
            return [self._sending(_POST, self._card(record), channel=self.settings.channel)]
        closing = closing_of(record)
        edits = [self._edit(each, closing) for each in posted if each.message and self._token]
        if len(edits) == len(posted):
            return edits
        return [*edits, self._sending(_POST, _answer(record, closing), channel=self.settings.channel)]

    def open(self) -> Post:
        """What sends to the chat."""
        settings = self.settings
        host = settings.api_host if self._token else settings.host
        networks = [*map(ipaddress.ip_network, settings.private_addresses), *_own(host)]
        if self._token:
            return SlackPost(host.rstrip("/"), networks=networks, seconds=_SECONDS)
        return Post(settings.webhook_url.get_secret_value(), networks=networks, seconds=_SECONDS)

    @property
    def _token(self) -> str:
        return self.settings.bot_token.get_secret_value()

    def _edit(self, posted: PostedCard, closing: str) -> Sending:
        channel, _, time = posted.message.partition("/")
        return self._sending(_UPDATE, self._card(posted.held, closing), channel=channel, ts=time)

    def _card(self, held: Record, closing: str = "") -> dict[str, Any]:
        longest = timedelta(hours=self.settings.longest_grant_hours)
        return card(held, longest_grant=longest, public_url=self.public_url, closing=closing)

    def _sending(self, method: str, document: dict[str, Any], **place: str) -> Sending:
        """One request. Nothing signs it: the URL of an incoming webhook is its secret, or the token is."""
        if not self._token:
            return Sending(body=json.dumps(document, ensure_ascii=False).encode(), headers=JSON_HEADERS)
        whole = {**document, **place, "unfurl_links": False, "unfurl_media": False}
        headers = {**JSON_HEADERS, "content-type": "application/json; charset=utf-8"}
        return Sending(
            body=json.dumps(whole, ensure_ascii=False).encode(),
            headers={**headers, "authorization": f"Bearer {self._token}"},
            path=method,
        )


def _answer(record: Record, closing: str) -> dict[str, Any]:
    """A message below the cards: what an incoming webhook posts cannot be edited."""
    text = f"{record.mutation_id} waits no longer. {closing}"
    return {
        "text": without_links(text),
        "blocks": [{"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}}],
    }


def _own(host: str) -> list[Network]:
    """The network of this machine, if the chat is on it: then the settings say so."""
    if urlsplit(host).scheme == "https":
        return []
    return [ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128")]


class SlackPost(Post):
    """Calls methods of Slack's Web API, which says in the body of its answer whether it took a message, and where it has it."""

    most_bytes = 64 * 1024
    """Slack answers with the message it was sent."""

    def _answer(self, reply: HttpResponse) -> PostAnswer:
        """The answer; of what Slack wrote only a code, a channel and a time, each in its form."""
        answer = super()._answer(reply)
        if answer.error:
            return answer
        document = reply.document()
        said = document if isinstance(document, dict) else {}
        if said.get("ok") is True:
            return PostAnswer(status=answer.status, message=_place(said))
        code = str(said.get("error"))
        if code == _GONE:
            return answer  # somebody deleted the card, so nothing asks any more
        named = code if _CODE.fullmatch(code) else "no known code"
        return PostAnswer(status=0 if code in _UNAVAILABLE else answer.status, error=f"The chat refused it: {named}.")


def _place(said: dict[str, Any]) -> str:
    """Where the chat has the message; empty if it says nothing in that form."""
    channel, time = said.get("channel"), said.get("ts")
    known = _CHANNEL.fullmatch(str(channel)) and _TIME.fullmatch(str(time))
    return f"{channel}/{time}" if known else ""


def _ends(notice: Notice) -> bool:
    """Whether a person's word ended the waiting; the consent of the first of several people does not."""
    rejected = notice.type is NoticeType.DECIDED and "rejected_by" in notice.data
    return rejected or (notice.type is NoticeType.APPROVAL_GIVEN and not notice.data.get("missing"))
