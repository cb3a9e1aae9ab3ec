"""An applied mutation, read from the ledger's DECIDED record, and a change from outside in the same form."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import structs

from gateway.core.model.caller import ActorKind
from gateway.core.model.json import Json
from gateway.core.model.mutation import CallClass, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.records.codec import body_of
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.record import Record
from gateway.terraform.address import split_stack, type_of_named
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import KnownCreation
from reconciler.changes.ledger_events import creating_call
from reconciler.changes.unread_call import UnreadCall, is_unread, unread_call

if TYPE_CHECKING:
    # It imports the ports of the ledger, which a run without a gateway need not wait for.
    from gateway.core.drift_book import ForeignDrift


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedMutation:
    """A mutation that was carried out, according to the ledger."""

    id: str
    seq: int
    """Number of its DECIDED record; mutations are written back in this order."""
    stack: str
    actor: str
    kind: str = ""
    """`human`, `agent`, `service` or `pipeline`."""
    on_behalf_of: str = ""
    session: str = ""
    """The id of the key that it was signed with: what one actor does with one key within a short time may be one change."""
    at: datetime
    operation: str
    """`service:Operation`."""
    account: str = ""
    """The AWS account of the call; empty if the record names none."""
    region: str = ""
    effects: tuple[Effect, ...]
    """What was asked for."""
    implied: tuple[Effect, ...] = ()
    """What AWS does as a consequence. Nobody asked for it, so it is not written into code."""
    before: Mapping[tuple[str, str], Json] = field(default_factory=dict)
    """Values before, by (address, attribute)."""
    restated: frozenset[tuple[str, str]] = frozenset()
    """(address, attribute) of values that did not change and that the code leaves to their default: nothing is to be written."""
    intent: str = ""
    motivation: str = ""
    text: str = ""
    evidence: tuple[str, ...] = ()
    wanted_seconds: float | None = None
    puts_back: str = ""
    """The change for a time that it put back; empty for any other mutation."""
    planned: bool = False
    """Whether it is part of the apply of a plan: what it sets comes from the code, so there is nothing to write into it."""
    approver: str = ""
    """Who approved it; empty if no approval was needed."""
    settled_at: datetime
    """When its outcome was recorded; the time of the decision if that is not known."""
    made: str = ""
    """The id that AWS chose for the one resource that it created; empty if it chose none, or before it is settled."""
    together: tuple[str, ...] = ()
    """The mutations that tell one story with it, such as the deletion of what it created again."""
    call: Event | None = None
    """The call as an event, if it may have created something that no block declares; else None."""
    known: KnownCreation | None = None
    """What somebody created outside, and what is to be written now; None for any other mutation."""
    unread: UnreadCall | None = None
    """What is known of a call of which nobody understood what it changes; None of every other one."""
    is_shared: bool = False
    """Whether it may be about another stack as well: nobody knows which one, so the reconciler of each looks at it."""
    elsewhere: str = ""
    """The other stack into whose code it was written, of those that it may have been about; empty while there is none."""
    corrects: int = 0
    """Number of the RECONCILED record that left `effects` to a human and that this write-back corrects; 0 for the first one."""

    @property
    def passing(self) -> bool:
        """Whether it changes nothing for good: it is wanted for a time, or puts such a change back. What the code should say stays as it was."""
        return self.wanted_seconds is not None or bool(self.puts_back)

    @property
    def concerns_code(self) -> bool:
        """Whether the code may have to say something else now. Calls that only do something, or change no value, do not concern it."""
        if self.call is not None or self.known is not None:
            return True
        if self.unread is not None:
            return not self.planned
        return not self.planned and any(
            effect.action is not EffectAction.INVOKE and (effect.address, effect.attribute) not in self.restated
            for effect in self.effects
        )

    @property
    def changed(self) -> tuple[Effect, ...]:
        """The effects, asked for or implied, after which an attribute may have another value."""
        return tuple(
            effect
            for effect in (*self.effects, *self.implied)
            if not (effect.action is EffectAction.INVOKE and effect.attribute == WHOLE)
            and (effect.address, effect.attribute) not in self.restated
        )


def carried_out(record: Record) -> bool:
    """Whether a DECIDED record allowed the mutation."""
    return isinstance(record.body, DecidedBody) and record.body.decision.carried_out


def changes_attributes(record: Record) -> bool:
    """Whether a DECIDED record is of a call that may change an attribute, or create a resource that nobody foresaw. Data-plane traffic does not, and is told apart cheaply; nor does
    a plan, whose calls do.
    """
    body = body_of(record, DecidedBody)
    if body.plan is not None or body.call.call_class is CallClass.DATA:
        return False
    return is_unread(body) or any(
        effect.action is not EffectAction.INVOKE or effect.attribute != WHOLE for effect in body.effects
    )


def applied_mutation(record: Record, approvers: Mapping[str, str]) -> AppliedMutation:
    """The mutation of a DECIDED record; `approvers` maps the id of an approval to the person who gave it.

    Raises TypeError for a record that cannot be read.
    """
    body = body_of(record, DecidedBody)
    call, motive, caller = body.call, body.motive, body.caller
    effects = list(_of_stack(record, body))
    asked = creating_call(record, body) if _creates_beside_code(body, effects) else None
    return AppliedMutation(
        id=record.mutation_id,
        seq=record.seq,
        stack=record.stack,
        actor=record.actor,
        kind=caller.kind.value,
        on_behalf_of=caller.on_behalf_of,
        session=caller.key_id,
        at=record.at,
        operation=call.name,
        account=call.account,
        region=call.region,
        effects=tuple(effect.to_effect() for effect in effects if not effect.implied),
        implied=tuple(effect.to_effect() for effect in effects if effect.implied),
        before={effect.key: effect.before for effect in effects},
        restated=frozenset(effect.key for effect in effects if not effect.changes and effect.declared is None),
        intent=motive.intent.value if motive else "",
        motivation=motive.motivation.value if motive else "",
        text=motive.text if motive else "",
        evidence=motive.evidence if motive else (),
        wanted_seconds=motive.wanted_seconds if motive else None,
        puts_back=body.puts_back.mutation if body.puts_back else "",
        planned=body.part is not None and bool(body.part.uses),
        approver=approvers.get(body.decision.approval, ""),
        settled_at=record.at,
        call=asked,
        unread=unread_call(body, effects),
    )


def _creates_beside_code(body: DecidedBody[Any], effects: Sequence[RecordedEffect[Any]]) -> bool:
    """Whether a call may have created, for good, what the code does not declare. Nobody knows what a call without effects does; what Terraform
    sends comes from its code.
    """
    by_terraform = body.part is not None or body.plan is not None or body.caller.kind is ActorKind.PIPELINE
    passing = body.puts_back is not None or (body.motive is not None and body.motive.wanted_seconds is not None)
    if by_terraform or passing or not body.call.call_class.changes_state or body.call.call_class is CallClass.DATA:
        return False
    return not body.effects or any(
        each.action is EffectAction.CREATE and each.attribute == WHOLE and not each.in_code and not each.implied
        for each in effects
    )


def readable_mutations(records: Iterable[Record], approvers: Mapping[str, str]) -> Iterator[AppliedMutation]:
    """The mutations of the DECIDED records among these. One that cannot be read says nothing; the ledger has logged it."""
    return (applied_mutation(record, approvers) for record in records if isinstance(record.body, DecidedBody))


def _of_stack(record: Record, body: DecidedBody[Any]) -> Iterator[RecordedEffect[Any]]:
    """The effects on the record's stack, each with the address that the resource has there."""
    for effect in body.effects:
        stack, address = split_stack(effect.address)
        if stack in ("", record.stack):
            yield structs.replace(effect, address=address)


def mutation_of_drift(
    drift: "ForeignDrift", *beside: "ForeignDrift", known: KnownCreation | None = None
) -> AppliedMutation:
    """A change from outside in the form in which the line writes changes back; those `beside` it are written back together with it.

    `known` is what was created, if that is the change.
    """
    origin = drift.origin
    told = f" Together with {', '.join(each.id for each in beside)}." if beside else ""
    all_of_it = (drift, *beside)
    return AppliedMutation(
        id=drift.id,
        seq=drift.seq,
        stack=drift.stack,
        actor=(origin.actor if origin else "") or "unknown",
        at=datetime.fromisoformat(origin.at) if origin and origin.at else drift.at,
        operation=(origin.event if origin else "") or "unknown",
        effects=tuple(_effect_of_drift(each) for each in all_of_it) if known is None else (_creation_of_drift(drift),),
        before={(each.address, each.attribute): each.declared for each in all_of_it},
        text=f"It was changed from outside. {drift.rule}: {drift.reason}{told}",
        evidence=tuple(each.origin.event_id for each in all_of_it if each.origin and each.origin.event_id),
        approver=drift.decided_by,
        settled_at=drift.at,
        known=known,
    )


def _effect_of_drift(drift: "ForeignDrift") -> Effect:
    """What was changed. If nothing is live in the place of a resource, that was deleted."""
    gone = drift.attribute == WHOLE and drift.live is None
    return Effect(
        address=drift.address,
        attribute=drift.attribute,
        action=EffectAction.DELETE if gone else EffectAction.SET,
        value=drift.live,
        resource_type=drift.resource_type,
        declared=True,
        sensitive=drift.sensitive,
    )


def _creation_of_drift(drift: "ForeignDrift") -> Effect:
    return Effect(
        address=drift.address,
        attribute=WHOLE,
        action=EffectAction.CREATE,
        resource_type=type_of_named(drift.address),
        declared=False,
    )
