"""Lists the deliveries of notices from the reconciler's records, and has a notice sent again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.errors import NotAllowed, NotFound
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.ids import digest_id, new_id
from gateway.core.ports import Clock, RecordQuery
from gateway.core.records.codec import body_of
from gateway.core.records.notice import notice_id, seq_of
from gateway.core.records.notices import NotifiedBody, ResendAskedBody
from gateway.core.records.record import Record, Stage, to_members
from gateway.doors.chat.links import OPERATOR, LinkLedger
from gateway.presentation.serialize import time_to_json

FAILED: Final = "failed"
"""Stands for those that are tried again and those that were given up."""
_FAILED: Final = ("retrying", "given_up")
_MOST: Final = 300
"""Records of deliveries that one question reads, newest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryBook:
    """The notices of this ledger."""

    receivers: Sequence[str]
    """The names of the settings."""
    ledger: LinkLedger
    clock: Clock

    async def summary(self) -> list[dict[str, Any]]:
        """Each receiver of the settings: how much waits, and whether it answers. One that was never delivered to has no position."""
        return [await self._summary(name) for name in self.receivers]

    async def listed(self, *, receiver: str, state: str, limit: int) -> list[dict[str, Any]]:
        """The last attempt of each notice, newest first; of one receiver and in one state, if they are given."""
        wanted = digest_id("whk", receiver) if receiver else ""
        query = RecordQuery(stage=Stage.NOTIFIED, mutation_id=wanted, limit=_MOST)
        latest: dict[tuple[Any, ...], dict[str, Any]] = {}
        for record in await self.ledger.records(query):
            for attempt in reversed(_attempts(record)):
                latest.setdefault((attempt["receiver"], attempt["seq"], attempt["id"]), attempt)
        states = _FAILED if state == FAILED else (state,)
        return [each for each in latest.values() if not state or each["state"] in states][:limit]

    async def resend(self, caller: Caller, receiver: str, identifier: str) -> dict[str, Any]:
        """Have a notice sent again, with its id. Raises `errors.NotAllowed`, `errors.NotFound`."""
        if caller.kind is not ActorKind.HUMAN or OPERATOR not in caller.roles:
            raise NotAllowed(f"Only a human with the role `{OPERATOR}` may have a notice sent again.")
        if receiver not in self.receivers:
            known = ", ".join(self.receivers) or "none"
            raise NotFound(f"There is no receiver {receiver[:64]!r} in the settings. Those are: {known}.")
        seq = seq_of(identifier)
        found = (
            await self.ledger.records(RecordQuery(after_seq=max(seq - 1, 0), limit=1, newest_first=False))
            if seq
            else ()
        )
        if not found or found[0].seq != seq or notice_id(found[0]) != identifier:
            raise NotFound(f"There is no notice {identifier[:64]!r}; `sentinel deliveries` lists them.")
        asked = ResendAskedBody(receiver=receiver, seq=seq, id=identifier)
        record = Record(at=self.clock.now(), mutation_id=new_id("rsd"), actor=caller.actor, body=asked)
        await self.ledger.record_event(record)
        return {"asked": record.mutation_id, **asked.members}

    async def _summary(self, name: str) -> dict[str, Any]:
        query = RecordQuery(stage=Stage.NOTIFIED, mutation_id=digest_id("whk", name), limit=1)
        last = await self.ledger.records(query)
        if not last:
            return {"receiver": name, "begun": False, "position": None, "waiting": 0, "failures": 0, "at": None}
        body = body_of(last[0], NotifiedBody)
        return {
            "receiver": name,
            "begun": True,
            "position": body.read,
            "waiting": len(body.open),
            "failures": body.failures,
            "at": time_to_json(last[0].at),
        }


def _attempts(record: Record) -> list[dict[str, Any]]:
    body = body_of(record, NotifiedBody)
    told = {"receiver": body.receiver, "at": time_to_json(record.at)}
    return [{**told, **result} for result in to_members(body.results)]
