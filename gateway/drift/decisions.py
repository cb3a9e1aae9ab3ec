"""Lets policy decide about each change from outside that the reconciler finds, and knows which resources are quarantined."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import structlog

from gateway.core.drift_book import DriftAction, DriftBook, ForeignDrift
from gateway.core.errors import NotAllowed, NotFound, PolicyUnavailable
from gateway.core.model.approval import drift_objection
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim, Relation, StandingClaim
from gateway.core.model.json import Json, to_json
from gateway.core.model.path import overlaps
from gateway.core.ports import Clock, EventLedger, LedgerQueries, PolicyEngine
from gateway.core.records.drift import DriftDecidedBody
from gateway.core.records.record import Record
from gateway.line.checks.policy_answer import member, only
from gateway.line.checks.policy_input import claim_input
from gateway.terraform.address import split_stack
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

log = structlog.get_logger()

ENTRYPOINT = "sentinel/drift/result"
NO_ANSWER = "SEN-F000"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftAnswer:
    """The decision about a change from outside, with its rule."""

    action: DriftAction
    rule: str
    reason: str
    bundle: str = ""


@dataclass(slots=True, kw_only=True)
class DriftDecisions:
    """Follows the ledger's records of changes from outside."""

    queries: LedgerQueries
    events: EventLedger
    stacks: Stacks
    policy: PolicyEngine
    clock: Clock
    book: DriftBook = field(default_factory=DriftBook)

    async def follow(self) -> None:
        """Read the new records, and record a decision about each change that has none. Raises `errors.LedgerUnavailable`."""
        await self.book.read(self.queries)
        for drift in [each for each in self.book.open.values() if each.action is None]:
            await self._record(drift, await self.answer(drift))
        await self.book.read(self.queries)

    def quarantined(self, address: str) -> str:
        """Why only people may change this resource, as a sentence; empty if others may too."""
        stack, here = split_stack(address)
        held = self.book.quarantined.get(here, ())
        drift = next((each for each in held if stack in ("", each.stack)), None)
        return f"{address} is quarantined ({drift.id}): {drift.reason}" if drift is not None else ""

    async def decide(self, drift_id: str, action: DriftAction, *, caller: Caller, reason: str) -> ForeignDrift:
        """Record what an approver decides; it replaces what was decided before. Raises `errors.NotAllowed`, `errors.NotFound`."""
        if refused := drift_objection(caller):
            raise NotAllowed(refused)
        await self.book.read(self.queries)
        drift = self.book.open.get(drift_id)
        if drift is None:
            raise NotFound(f"There is no change from outside {drift_id[:64]} by which live and code still differ.")
        record = drift_decision(drift, action, at=self.clock.now(), rule="human", reason=reason, actor=caller.actor)
        await self.events.record_event(record, resources=[(drift.address, drift.attribute)], repeat=True)
        await self.book.read(self.queries)
        return self.book.open.get(drift_id, drift)

    async def answer(self, drift: ForeignDrift) -> DriftAnswer:
        """The answer of the policies. If they give none that can be read, or cannot be asked about this change, a human must decide.

        Raises `errors.LedgerUnavailable`.
        """
        claims = await self._claims(drift)
        try:
            document = drift_input(drift, claims, self.stacks, self.clock.now())
            return _read_answer(await self.policy.ask(ENTRYPOINT, document), self.policy.revision)
        except (PolicyUnavailable, ValueError, KeyError, TypeError) as error:
            reason = f"The policies gave no answer, so a human must decide: {error}"
            log.error("drift_not_decided_by_policy", drift=drift.id, error=str(error))  # noqa: TRY400  the sentence is complete without a traceback
            return DriftAnswer(action=DriftAction.HUMAN, rule=NO_ANSWER, reason=reason)

    async def _claims(self, drift: ForeignDrift) -> list[Claim]:
        stack = _stack_of(drift, self.stacks)
        claims = await self.queries.claims(address=stack.named(drift.address) if stack else drift.address)
        return [claim for claim in claims if overlaps(claim.attribute, drift.attribute)]

    async def _record(self, drift: ForeignDrift, answer: DriftAnswer) -> None:
        record = drift_decision(
            drift, answer.action, at=self.clock.now(), rule=answer.rule, reason=answer.reason, bundle=answer.bundle
        )
        # Of several gateways, the first one that decides counts.
        await self.events.record_event(record, resources=[(drift.address, drift.attribute)])
        log.info(
            "drift_decided",
            drift=drift.id,
            address=drift.address,
            attribute=drift.attribute,
            action=answer.action.value,
            rule=answer.rule,
        )


def _read_answer(answer: Json, bundle: str) -> DriftAnswer:
    """The answer of the policies. Raises `errors.PolicyUnavailable` or ValueError for any other form."""
    given = only(answer, {"evaluated", "action", "rule", "message"})
    if given["evaluated"] is not True:
        raise PolicyUnavailable("The policies did not evaluate the change.")
    action, rule, reason = (member(given, name, str) for name in ("action", "rule", "message"))
    return DriftAnswer(action=DriftAction(action), rule=rule, reason=reason, bundle=bundle)


def drift_input(drift: ForeignDrift, claims: list[Claim], stacks: Stacks, now: datetime) -> Mapping[str, Json]:
    """The input of `sentinel/drift`; `policies/README.md` documents it."""
    stack = _stack_of(drift, stacks)
    contract = stack.contract(drift.address) if stack else None
    origin: Json = None
    if drift.origin is not None:
        at = datetime.fromisoformat(drift.origin.at)
        origin = {
            "actor": drift.origin.actor,
            "event": drift.origin.event,
            "at_ns": (at - _EPOCH) // timedelta(microseconds=1) * 1000,
            "service": drift.origin.service,
        }
    standing = [StandingClaim(claim=claim, relation=Relation.SAME) for claim in claims]
    return {
        "now_ns": (now - _EPOCH) // timedelta(microseconds=1) * 1000,
        "stack": drift.stack,
        "stacks": [drift.stack],
        "drift": {
            "id": drift.id,
            "address": drift.address,
            "attribute": drift.attribute,
            "resource_type": drift.resource_type,
            "live": to_json(drift.live),
            "declared": to_json(drift.declared),
            "sensitive": drift.sensitive,
            "origin": origin,
        },
        "contract": {
            "managed_by_agent": contract.managed_by_agent if contract else False,
            "critical": contract.critical if contract else False,
            "prevent_delete": contract.prevent_delete if contract else False,
            "owner": contract.owner if contract else "",
        },
        "claims": [claim_input(each) for each in standing],
    }


def _stack_of(drift: ForeignDrift, stacks: Stacks) -> Stack | None:
    """The stack that the change was found in; None if there is none of its name."""
    return next((stack for stack in stacks.snapshot().all if stack.name == drift.stack), None)


def drift_decision(
    drift: ForeignDrift, action: DriftAction, *, at: datetime, rule: str, reason: str, bundle: str = "", actor: str = ""
) -> Record:
    """The record of a decision by policy, or by the human `actor`."""
    body = DriftDecidedBody(
        address=drift.address,
        attribute=drift.attribute,
        action=action.value,
        rule=rule,
        reason=reason[:2_000],
        bundle=bundle,
    )
    return Record(at=at, mutation_id=drift.id, actor=actor, stack=drift.stack, body=body)
