"""Who is who in a chat: each user there is linked to a person's own key, by that person. The links are records of the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gateway.authn.caller import caller_of
from gateway.errors import NotAllowed, NotFound
from gateway.model.caller import ActorKind, Caller
from gateway.model.ids import digest_id
from gateway.model.record import Record, Stage
from gateway.ports import Clock, KeyRing, RecordQuery

OPERATOR: Final = "operator"
"""The role of people who may end the link of another."""
_MOST: Final = 1_000


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

    async def link(self, caller: Caller, user: str) -> dict[str, Any]:
        """Link a user of the chat to the caller's own key; the link. Raises `errors.NotAllowed`.

        It ends with the key. A user that is another person's stays so: else clicks of one person would count as another's.
        """
        if caller.kind is not ActorKind.HUMAN or caller.in_session:
            raise NotAllowed(
                "Only a person can be linked, with their own standing key: a link must not outlast its key."
            )
        known = await self._last(user)
        if known is not None and known["linked"] and known["actor"] != caller.actor:
            raise NotAllowed(
                f"The chat user {user} is linked to another person. That person, or one with the role `{OPERATOR}`, must end it first."
            )
        return await self._append(caller, user, actor=caller.actor, key=caller.key_id, linked=True)

    async def unlink(self, caller: Caller, user: str) -> dict[str, Any]:
        """End a link; the link as it was. Raises `errors.NotFound`, `errors.NotAllowed`."""
        known = await self._last(user)
        if known is None or not known["linked"]:
            raise NotFound(f"The chat user {user} is not linked to anyone.")
        if caller.kind is not ActorKind.HUMAN or (known["actor"] != caller.actor and OPERATOR not in caller.roles):
            raise NotAllowed(f"Only the linked person, or one with the role `{OPERATOR}`, may end this link.")
        return await self._append(caller, user, actor=known["actor"], key=known["key"], linked=False)

    async def person(self, user: str) -> Caller:
        """The person whose clicks those of this user are. Raises `errors.NotAllowed` with what to do."""
        known = await self._last(user)
        if known is None or not known["linked"]:
            raise NotAllowed(
                f"Your chat user is not linked to a person, so nothing was done. Run `sentinel chat link {user}` with your own key."
            )
        key = await self.keys.find(known["key"])
        if key is None or key.ended(self.clock.now()) or key.kind is not ActorKind.HUMAN or key.actor != known["actor"]:
            raise NotAllowed(
                f"The key that your chat user was linked with has ended, so nothing was done. Run `sentinel chat link {user}` with your new one."
            )
        return caller_of(key)

    async def all(self) -> list[dict[str, Any]]:
        """The links that hold, newest first."""
        records = await self.ledger.records(RecordQuery(stage=Stage.CHAT_LINKED, limit=_MOST))
        latest: dict[str, dict[str, Any]] = {}
        for record in records:
            if record.body.get("team") == self.team:
                latest.setdefault(record.mutation_id, _told(record))
        return [link for link in latest.values() if link["linked"]]

    async def _last(self, user: str) -> Mapping[str, Any] | None:
        query = RecordQuery(mutation_id=self._id(user), stage=Stage.CHAT_LINKED, limit=1)
        found = await self.ledger.records(query)
        return found[0].body if found else None

    async def _append(self, caller: Caller, user: str, **members: Any) -> dict[str, Any]:
        body = {"team": self.team, "user": user, **members}
        made = Record(
            stage=Stage.CHAT_LINKED, at=self.clock.now(), mutation_id=self._id(user), actor=caller.actor, body=body
        )
        await self.ledger.record_event(made, repeat=True)
        return _told(made)

    def _id(self, user: str) -> str:
        return digest_id("cht", self.team, user)


def _told(record: Record) -> dict[str, Any]:
    """A link as people see it."""
    return {**record.body, "at": record.at.isoformat(), "by": record.actor}
