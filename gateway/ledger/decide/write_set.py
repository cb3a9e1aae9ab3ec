"""Prepares everything that a decision stores, outside the transaction, so that the single writer thread only runs statements.

An effect carries the value asked for, the one before and the one in the code, and a finding may quote all three: a denied call of 64 kB
became a record of 717 kB. Such a call changed nothing, so an investigator needs who asked for what and why it was refused, not every
value. The call itself, which an approver reads, is kept.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from gateway.core.errors import CallTooLarge, PolicyInvalid
from gateway.core.model.caller import ActorKind
from gateway.core.model.claim import Claim
from gateway.core.model.facts import Facts, Subject, reach
from gateway.core.model.ids import new_id
from gateway.core.model.json import Json
from gateway.core.model.motive import Motivation
from gateway.core.model.mutation import Effect, EffectAction, Mutation
from gateway.core.model.path import WHOLE
from gateway.core.model.stop import Reach
from gateway.core.model.verdict import Decision, Verdict
from gateway.core.quick_init import quick_init
from gateway.core.records.asked import VERSION
from gateway.core.records.codec import encode
from gateway.core.records.decided import DecidedBody, LeftOut, RecordedInnerCalls
from gateway.core.records.record import Record, to_members
from gateway.ledger.decide.decided_body import decided_body
from gateway.ledger.store.serialize import binding_text

MAX_DENIED: Final = 32 * 1024
"""Characters of the body of a denied call's record. A larger one is cut to its first effects and findings, without values."""
MAX_HELD: Final = 128 * 1024
"""The same for a held call, whose record also keeps the parameters (at most 64 KiB) for the approver."""
MAX_HELD_PLAN: Final = 2 * 1024 * 1024
"""The same for a held plan of a pipeline or person: a thousand attributes and 256 KiB of values are judged at once, and who approves sees them all."""

_KEPT: Final = 12
"""Effects and findings that a summary keeps, and items of any other list."""
_TEXT: Final = 240
"""Characters of a text that a summary keeps."""
_ORDER: Final = tuple(Verdict)

_Part = TypeVar("_Part", bound=msgspec.Struct)


def refused_body(body: DecidedBody[Any]) -> DecidedBody[Any]:
    """The body of the record of a call that is not carried out: as it is if it is small, otherwise a summary that says what it leaves out."""
    decision = body.decision
    held = decision.verdict is Verdict.HOLD
    if len(encode(body)) <= (_most_held(body) if held else MAX_DENIED):
        return body
    effects, findings = body.effects, decision.findings
    objections = sorted(findings, key=lambda finding: _ORDER.index(finding.verdict))
    # The hold's row keeps the whole binding.
    digest = hashlib.sha256(binding_text(decision.binding).encode()).hexdigest()
    return replace(
        body,
        call=body.call if held else _shortened(body.call),
        effects=tuple(
            _shortened(replace(effect, value=None, before=None, declared=None)) for effect in effects[:_KEPT]
        ),
        decision=replace(
            _shortened(replace(decision, findings=(), warned=(), binding=None)),
            findings=tuple(_shortened(replace(finding, offer=None)) for finding in objections[:_KEPT]),
            binding_sha256=digest,
        ),
        inner=_without_parameters(body.inner),
        cut=LeftOut(effects=max(0, len(effects) - _KEPT), findings=max(0, len(findings) - _KEPT)),
    )


def _most_held(body: DecidedBody[Any]) -> int:
    return MAX_HELD_PLAN if body.call.service == "terraform" and body.caller.kind is not ActorKind.AGENT else MAX_HELD


def _without_parameters(inner: RecordedInnerCalls | None) -> RecordedInnerCalls | None:
    """The inner calls by their names: what they were given stands in the call that makes them."""
    if inner is None:
        return None
    calls = tuple(replace(_shortened(each), parameters={}, whole=False) for each in inner.calls)
    return replace(inner, calls=calls)


def _shortened(part: _Part) -> _Part:
    """A part of a body with long texts and lists cut."""
    return msgspec.convert(_cut(to_members(part)), type(part))


def _cut(value: Any) -> Any:
    match value:
        case str() if len(value) > _TEXT:
            return f"{value[:_TEXT]}…"
        case list():
            return [_cut(item) for item in value[:_KEPT]]
        case Mapping():
            return {str(name)[:_TEXT]: _cut(item) for name, item in list(value.items())[: 2 * _KEPT]}
    return value


_LONGEST_CLAIM: Final = 1e12
"""Seconds; some 30,000 years."""
_AT_ONCE: Final = timedelta(microseconds=1)
"""A claim that is to end with the outcome, and was no mere restatement. An unsettled claim does not expire."""
MAX_NAME: Final = 2_000
"""Longest address and attribute together that can be recorded, in bytes."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class WriteSet:
    """One decision, ready to be stored."""

    mutation: Mutation
    facts: Facts
    decision: Decision
    claims: tuple[Claim, ...]
    """The claims to take; empty if the mutation is not carried out."""
    body: DecidedBody[Any]
    """The details of its record."""
    call_digest: str
    owner: str = ""
    """The gateway that will send it."""

    @property
    def setting(self) -> list[Effect]:
        """The effects that set something. Invoking a resource as a whole sets nothing."""
        effects = self.mutation.effects
        return [each for each in effects if each.action is not EffectAction.INVOKE or each.attribute != WHOLE]

    @property
    def reach(self) -> Reach:
        """What stops can be about."""
        return reach(self.mutation, self.facts)

    @property
    def resources(self) -> list[tuple[str, str]]:
        """The (address, attribute) pairs that the record is about: those of the effects that it holds."""
        return [effect.key for effect in self.body.effects]

    @property
    def record(self) -> Record:
        """The DECIDED record."""
        return Record(
            at=self.facts.now,
            mutation_id=self.mutation.id,
            actor=self.mutation.caller.actor,
            stack=self.facts.stack,
            body=self.body,
        )


def write_set(
    mutation: Mutation, facts: Facts, decision: Decision, *, owner: str = "", asked_version: int = VERSION
) -> WriteSet:
    """Everything that a decision stores; `owner` is the gateway that will send the call, `asked_version` that of the packed questions.

    Raises `errors.PolicyInvalid` for an invalid obligation, `errors.CallTooLarge` for a name that no index can hold.
    """
    _check_names(mutation)
    subjects: Sequence[Subject | None] = facts.subjects
    if len(subjects) != len(mutation.effects):
        subjects = [None] * len(mutation.effects)
    claims = _claims(mutation, facts, decision, subjects) if decision.carried_out else ()
    body = decided_body(mutation, facts, decision, subjects, claims, owner=owner, asked_version=asked_version)
    return WriteSet(
        mutation=mutation,
        facts=facts,
        decision=decision,
        claims=claims,
        body=body if decision.carried_out else refused_body(body),
        call_digest=mutation.call.digest,
        owner=owner,
    )


def _check_names(mutation: Mutation) -> None:
    """PostgreSQL refuses an index entry of more than 2,700 bytes, in which address and attribute stand together."""
    if any(len(f"{effect.address}.{effect.attribute}".encode()) > MAX_NAME for effect in mutation.effects):
        raise CallTooLarge(f"names a resource or an attribute in more than {MAX_NAME} bytes")


def _claims(
    mutation: Mutation, facts: Facts, decision: Decision, subjects: Sequence[Subject | None]
) -> tuple[Claim, ...]:
    """One claim for each attribute that is set, and one on the whole of each deleted resource.

    A call of a plan's session takes none. A routine apply sets what the code declares, so its claims end with the outcome: else two
    pipelines that apply one after the other would keep each other out.

    A claim by which the actor takes its own change back to what the code declares expires with the outcome: nobody needs it. A claim on an attribute that is only restated ends as soon as the outcome is known: it keeps others from
    setting the attribute while this call is under way, and nobody from it afterwards.
    """
    if mutation.part is not None:
        return ()  # its plan has taken them
    until = _until(mutation, facts.now, decision)
    motive = mutation.motive
    lasting = motive is not None and motive.wanted_for is None and mutation.opens is None
    if motive is not None and lasting and is_routine_apply(mutation.caller.kind, motive.motivation):
        until = facts.now + _AT_ONCE
    wanted: dict[tuple[str, str], tuple[Effect, datetime | None]] = {}
    for effect, subject in zip(mutation.effects, subjects, strict=True):
        if effect.action is EffectAction.DELETE:
            wanted[effect.address, WHOLE] = effect, until
        elif effect.action is EffectAction.SET:
            ends = until if subject is None or subject.changes else facts.now
            if subject is not None and _takes_back(mutation, facts, subject):
                ends = facts.now + _AT_ONCE
            if mutation.puts_back is not None:
                ends = facts.now  # nobody wants to hold what was there before: its claim ends with the outcome
            wanted[effect.address, effect.attribute] = effect, ends
    return tuple(
        Claim(
            id=new_id("clm"),
            mutation_id=mutation.id,
            address=address,
            attribute=attribute,
            value=effect.value,
            actor=mutation.caller.actor,
            kind=mutation.caller.kind,
            motive=mutation.motive,
            since=facts.now,
            until=ends,
            proof=facts.proof.by_address.get(address, ()),
        )
        for (address, attribute), (effect, ends) in wanted.items()
    )


def is_routine_apply(kind: ActorKind, motivation: Motivation | None) -> bool:
    """Whether a pipeline applies code as it does every day."""
    return kind is ActorKind.PIPELINE and motivation is Motivation.ROUTINE


def _takes_back(mutation: Mutation, facts: Facts, subject: Subject) -> bool:
    """Whether the actor sets an attribute that it holds to the value that the code declares."""
    effect = subject.effect
    if subject.hidden or effect.sensitive or not subject.changes or subject.declared is None:
        return False
    own = {
        (standing.claim.address, standing.claim.attribute)
        for standing in facts.claims
        if standing.claim.actor == mutation.caller.actor
    }
    return (effect.address, effect.attribute) in own and effect.value == subject.declared


def _until(mutation: Mutation, now: datetime, decision: Decision) -> datetime | None:
    """When the claims end: the earlier of what policy grants and what the caller wants; None if neither sets a time."""
    spans = [mutation.motive.wanted_for] if mutation.motive and mutation.motive.wanted_for is not None else []
    granted = decision.obligations.get("claim_seconds")
    if granted is not None:
        spans.append(_granted(granted))
    try:
        return now + min(spans) if spans else None
    except OverflowError:
        # Later than a datetime can be: the claim does not end.
        return None


def _granted(seconds: Json) -> timedelta:
    if not isinstance(seconds, bool) and isinstance(seconds, int | float) and 0 < seconds < _LONGEST_CLAIM:
        return timedelta(seconds=seconds)
    message = f"The policy's obligation claim_seconds must be a positive number of seconds, not {seconds!r}. Nothing was sent."
    raise PolicyInvalid(message)
