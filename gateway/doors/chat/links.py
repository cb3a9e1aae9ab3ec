"""Who is who in a chat: each user there is linked to a person's own key. Both sides prove it: the person asks with the key, and gets a code,
which the user types in the chat. The links are records of the ledger.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.ids import digest_id, new_id
from gateway.core.ports import Clock, KeyRing, RecordQuery
from gateway.core.records.codec import body_of
from gateway.core.records.keys import ChatLinkAskedBody, ChatLinkBody, ChatLinkedBody
from gateway.core.records.record import Record, Stage

OPERATOR: Final = "operator"
"""The role of people who may end the link of another."""
CODE: Final = "lnk"
"""What a code begins with."""
CODE_LASTS: Final = timedelta(minutes=10)
_MOST: Final = 1_000
_BAD_CODE: Final = "This code is not yours, is older than ten minutes, or was used. Nothing was done; `sentinel chat link {user}` makes another."


class LinkLedger(Protocol):
    """The ledger, as far as links need it."""

    async def records(self, query: RecordQuery) -> Sequence[Record]:
        """The matching records."""
        ...

    async def record_event(
        self, record: Record, *, resources: Sequence[tuple[str, str]] = (), repeat: bool = False
    ) -> bool:
        """Append a record."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatLinks:
    """The links of one workspace."""

    team: str
    ledger: LinkLedger
    keys: KeyRing
    clock: Clock

    async def ask(self, caller: Caller, user: str) -> dict[str, Any]:
        """Ask to be a user of the chat, with the caller's own key; the code that this user must type there. Raises `errors.NotAllowed`.

        A user that is another person's stays so: else clicks of one person would count as another's.
        """
        if caller.kind is not ActorKind.HUMAN or caller.in_session:
            raise NotAllowed(
                "Only a person can be linked, with their own standing key: a link must not outlast its key."
            )
        known = await self._last(user)
        if known is not None and known.linked and known.actor != caller.actor:
            raise NotAllowed(
                f"The chat user {user} is linked to another person. That person, or one with the role `{OPERATOR}`, must end it first."
            )
        code, now = new_id(CODE), self.clock.now()
        until = (now + CODE_LASTS).isoformat()
        body = ChatLinkAskedBody(team=self.team, user=user, actor=caller.actor, key=caller.key_id, until=until)
        asked = self._asked_id(user, code)
        record = Record(at=now, mutation_id=asked, actor=caller.actor, body=body)
        await self.ledger.record_event(record)
        return {**body.members, "code": code}

    async def confirm(self, user: str, code: str) -> dict[str, Any]:
        """Link the user, who typed this code in the chat, to the person who asked for it; the link. Raises `errors.NotAllowed`.

        The link ends with the key. A code is worth nothing to other users of the chat, and nothing after its use or a later change of the link.
        """
        query = RecordQuery(mutation_id=self._asked_id(user, code), stage=Stage.CHAT_LINK_ASKED, limit=1)
        found = await self.ledger.records(query)
        last = await self._last_record(user)
        used = bool(found and last and last.seq > found[0].seq)
        if not found or used:
            raise NotAllowed(_BAD_CODE.format(user=user))
        link = body_of(found[0], ChatLinkAskedBody)
        if datetime.fromisoformat(link.until) <= self.clock.now():
            raise NotAllowed(_BAD_CODE.format(user=user))
        person = await self._holder(link, user)
        return await self._append(person, user, actor=person.actor, key=person.key_id, linked=True, asked=found[0].seq)

    async def unlink(self, caller: Caller, user: str) -> dict[str, Any]:
        """End a link; the link as it was. Raises `errors.NotFound`, `errors.NotAllowed`."""
        known = await self._last(user)
        if known is None or not known.linked:
            raise NotFound(f"The chat user {user} is not linked to anyone.")
        if caller.kind is not ActorKind.HUMAN or (known.actor != caller.actor and OPERATOR not in caller.roles):
            raise NotAllowed(f"Only the linked person, or one with the role `{OPERATOR}`, may end this link.")
        return await self._append(caller, user, actor=known.actor, key=known.key, linked=False)

    async def person(self, user: str) -> Caller:
        """The person whose clicks those of this user are. Raises `errors.NotAllowed` with what to do."""
        known = await self._last(user)
        if known is None or not known.linked:
            raise NotAllowed(
                f"Your chat user is not linked to a person, so nothing was done. Run `sentinel chat link {user}` with your own key, and type here what it says."
            )
        return await self._holder(known, user)

    async def all(self) -> list[dict[str, Any]]:
        """The links that hold, newest first."""
        records = await self.ledger.records(RecordQuery(stage=Stage.CHAT_LINKED, limit=_MOST))
        latest: dict[str, dict[str, Any]] = {}
        for record in records:
            if body_of(record, ChatLinkedBody).team == self.team:
                latest.setdefault(record.mutation_id, _told(record))
        return [link for link in latest.values() if link["linked"]]

    async def _holder(self, link: ChatLinkBody, user: str) -> Caller:
        """The person of a link, as long as the key lives that it was asked for with. Raises `errors.NotAllowed`."""
        key = await self.keys.find(link.key)
        if key is None or key.ended(self.clock.now()) or key.kind is not ActorKind.HUMAN or key.actor != link.actor:
            raise NotAllowed(
                f"The key that your chat user was linked with has ended, so nothing was done. Run `sentinel chat link {user}` with your new one."
            )
        return key.caller

    async def _last(self, user: str) -> ChatLinkedBody | None:
        found = await self._last_record(user)
        return body_of(found, ChatLinkedBody) if found else None

    async def _last_record(self, user: str) -> Record | None:
        found = await self.ledger.records(RecordQuery(mutation_id=self._id(user), stage=Stage.CHAT_LINKED, limit=1))
        return found[0] if found else None

    async def _append(
        self, caller: Caller, user: str, *, actor: str, key: str, linked: bool, asked: int | None = None
    ) -> dict[str, Any]:
        body = ChatLinkedBody(team=self.team, user=user, actor=actor, key=key, linked=linked, asked=asked)
        made = Record(at=self.clock.now(), mutation_id=self._id(user), actor=caller.actor, body=body)
        await self.ledger.record_event(made, repeat=True)
        return _told(made)

    def _asked_id(self, user: str, code: str) -> str:
        """Found by this, a code needs no place in a record, and is none of another user's."""
        return digest_id("chc", self.team, user, code)

    def _id(self, user: str) -> str:
        return digest_id("cht", self.team, user)


def _told(record: Record) -> dict[str, Any]:
    """A link as people see it."""
    return {**record.body.members, "at": record.at.isoformat(), "by": record.actor}
