"""Answers about resources: which there are, the context of one of them, its history, and what was applied and is not in the code yet."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from gateway.context.answer_parts import (
    code_sources,
    dependant_entry,
    header,
    history_entry,
    left_off,
    live_target,
    signal_entry,
    written_names,
)
from gateway.context.attributes import MOST_ATTRIBUTES, AttributesOf
from gateway.context.code_text import code_text
from gateway.context.excerpt import excerpt
from gateway.context.health import DataHealth, DataSource, ReadStatus
from gateway.context.live_values import LiveAnswer, LiveReadThrough
from gateway.context.lookup import FoundResource, ResourceQuery, find_resources, resource_at
from gateway.context.ports import AppliedValue, ContextLedger, HistoryQuery, KnownResource
from gateway.core.errors import Ambiguous
from gateway.core.model.caller import Caller
from gateway.core.model.equality import equal
from gateway.core.model.json import Json, to_json
from gateway.core.model.masking import holds_mask
from gateway.core.model.path import WHOLE, AttributePath, put_all
from gateway.core.model.signal import Signal
from gateway.core.off_loop import off_loop
from gateway.core.ports import Clock, PolicyEngine
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

APPLIED: Final = "applied"
FOREIGN: Final = "foreign"
MOST_APPLIED: Final = 500
"""Applied values in one answer."""
_PAGE: Final = 1_000
_MOST_JUDGED: Final = 50_000
"""Applied values whose judgement is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftQuery:
    """Which drift to list. Empty members do not restrict the result."""

    stack: str = ""
    cause: str = ""
    """`applied` or `foreign`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedDrift:
    """One value by which live and code differ because Sentinel applied it."""

    stack: str
    declared: Json
    applied: AppliedValue

    def to_json(self, caller: Caller) -> dict[str, Any]:
        """The members that every drift has."""
        at: datetime = self.applied.at
        return {
            "cause": APPLIED,
            "since": to_json(at),
            "stack": self.stack,
            "address": self.applied.address,
            "attribute": self.applied.attribute,
            "live": excerpt(self.applied.value, caller),
            "declared": excerpt(self.declared, caller),
            "sensitive": holds_mask(self.applied.value),
            "origin": {"mutation_id": self.applied.mutation_id},
            "proposal": {"branch": self.applied.branch, "commit": self.applied.commit} if self.applied.commit else None,
        }


@dataclass(slots=True)
class JudgedValues:
    """Whether the code declares applied values, each judged once for a revision: what was applied again has another `seq`."""

    _stacks: tuple[Stack, ...] = ()
    _drift: dict[tuple[str, str, int], AppliedDrift | None] = field(default_factory=dict)

    def of(self, stacks: Stacks, value: AppliedValue) -> AppliedDrift | None:
        """The drift by an applied value in this snapshot; None if the code declares it, or no stack has the resource."""
        if len(self._drift) >= _MOST_JUDGED or list(map(id, stacks.all)) != list(map(id, self._stacks)):
            self._stacks, self._drift = stacks.all, {}
        key = value.address, value.attribute, value.seq
        if key not in self._drift:
            self._drift[key] = _drift(stacks, value)
        found = self._drift[key]
        return None if found is None else replace(found, applied=value)


async def find_applied_drift(
    stacks: Stacks, ledger: ContextLedger, query: DriftQuery, judged: JudgedValues | None = None
) -> tuple[list[AppliedDrift], bool]:
    """The applied values that the code does not declare, by address, and whether there are more. Raises `errors.LedgerUnavailable`."""
    found: list[AppliedDrift] = []
    judged = judged or JudgedValues()
    after = ("", "")
    while page := await ledger.applied(after=after, limit=_PAGE):
        for value in page:
            drift = judged.of(stacks, value)
            if drift is None or query.stack not in ("", drift.stack):
                continue
            if len(found) == MOST_APPLIED:
                return found, True
            found.append(drift)
        after = (page[-1].address, page[-1].attribute)
    return found, False


def _drift(stacks: Stacks, value: AppliedValue) -> AppliedDrift | None:
    """The drift by an applied value; None if the code declares it, or no stack has the resource."""
    try:
        stack = stacks.declaring(value.address)
    except Ambiguous:
        return None
    if stack is None or value.attribute == WHOLE:
        return None
    declared = stack.declared(value.address, value.attribute)
    if declared is not None and equal(declared, value.value):
        return None
    if declared is None and _terraform_has_it(stack, value):
        return None
    return AppliedDrift(stack=stack.name, declared=declared, applied=value)


def _terraform_has_it(stack: Stack, value: AppliedValue) -> bool:
    """Whether the code leaves the value to the provider, and Terraform's state has the applied one, as after a clean apply: nothing differs then.

    Nothing, set where Terraform has nothing, is no difference either.
    """
    recorded = AttributePath(value.attribute).value_at(stack.recorded(value.address) or {})
    return equal(recorded, value.value) or (recorded in _NOTHING and value.value in _NOTHING)


_NOTHING: Final[tuple[Json, ...]] = (None, "", [], {})


MOST_DEPENDANTS: Final = 50
"""Dependants in one answer, the nearest first."""
_BYTES_OF_A_RESOURCE: Final = 80
"""Size that a resource counts as, to decide whether they are looked through in a thread."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReader:
    """Reads what callers ask before they act. Changes and records nothing."""

    stacks: Stacks
    ledger: ContextLedger
    policy: PolicyEngine
    live: LiveReadThrough
    clock: Clock
    signals: Callable[[str, str], Sequence[Signal]] = lambda _stack, _address: ()
    """The open signals that concern a resource, by its stack and address."""
    seeks_drift: bool = False
    """Whether the reconciler looks for changes from outside."""
    judged: JudgedValues = field(default_factory=JudgedValues)

    async def context(
        self, caller: Caller, name: str, attribute: str = "", max_age: float | None = None
    ) -> dict[str, Any]:
        """Everything known about a resource, or about one attribute of it. Raises `errors.NotFound`, `errors.Malformed`."""
        loaded = self.stacks.snapshot()
        found = resource_at(loaded, name)
        dependants = found.stack.dependants(found.address)
        shown = dependants[:MOST_DEPENDANTS]
        needs = found.stack.needs(found.address)
        now = self.clock.now()
        known = await self.ledger.known(
            addresses=self._names(loaded, found),
            others=[each.address for each in shown],
            now=now,
            flips_from=now - self.policy.flip_window,
        )
        live = await self.live.of(live_target(found), caller.actor, max_age)
        parts = _attributes(caller, found, known, live, {each.address for each in shown})
        names = [attribute] if attribute else parts.names()
        return {
            **header(found),
            "attributes": [parts.entry(each) for each in names[:MOST_ATTRIBUTES]],
            "attributes_left_off": left_off(len(names) - MOST_ATTRIBUTES, "attributes", "Ask with attribute=…"),
            "dependants": [dependant_entry(each, known, caller) for each in shown],
            "dependants_left_off": left_off(len(dependants) - MOST_DEPENDANTS, "dependants", "The nearest are shown."),
            "needs": list(needs[:MOST_DEPENDANTS]),
            "needs_left_off": left_off(len(needs) - MOST_DEPENDANTS, "resources that it needs", "The first are shown."),
            "code": code_text(found) if caller.sees_all else None,
            "signals": [signal_entry(each) for each in self._signals(caller, found)],
            "data_health": self._health(caller, found, live, attribute, max_age).to_json(),
        }

    async def resources(self, caller: Caller, query: ResourceQuery) -> dict[str, Any]:
        """The resources that fit, a page of them. Raises `errors.NotFound` for a stack that there is not."""
        loaded = self.stacks.snapshot()
        size = _BYTES_OF_A_RESOURCE * sum(
            len(stack.state.resources) + len(stack.code.instances) for stack in loaded.all
        )
        found, more = await off_loop(size, lambda: find_resources(loaded, query))
        next_after = f"{found[-1].stack.name}:{found[-1].address}" if more else ""
        health = DataHealth(
            read_at=self.clock.now(), sources=code_sources(self.stacks, "", caller), code_revision=loaded.revision
        )
        return {
            "resources": [each.summary() for each in found],
            "next_after": next_after,
            "left_off": "There are more; ask again with after=<next_after>." if more else "",
            "data_health": health.to_json(),
        }

    async def history(self, caller: Caller, name: str, query: HistoryQuery) -> dict[str, Any]:
        """The changes of a resource, newest first, a page of them. Raises `errors.NotFound`, `errors.Malformed`."""
        loaded = self.stacks.snapshot()
        found = resource_at(loaded, name)
        page = replace(query, addresses=self._names(loaded, found), limit=query.limit + 1)
        changes = await self.ledger.history(page)
        entries = [history_entry(change, caller) for change in changes[: query.limit]]
        more = len(changes) > query.limit
        health = DataHealth(
            read_at=self.clock.now(),
            sources=(DataSource(name="ledger"),),
            code_revision=found.stack.revision,
            state_serial=found.stack.state.serial,
        )
        return {
            "address": found.name,
            "attribute": query.attribute,
            "history": entries,
            "next_before_seq": changes[query.limit - 1].seq if more else 0,
            "left_off": "There are older changes; ask again with before_seq=<next_before_seq>." if more else "",
            "data_health": health.to_json(),
        }

    async def drift(
        self,
        caller: Caller,
        foreign: Sequence[Mapping[str, Any]],
        query: DriftQuery,
        looked: Mapping[str, datetime] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """By which values live and code differ: the changes from outside that the caller has read, and what Sentinel applied itself.

        `looked` says when each stack was last looked through for changes from outside; nobody ever looked at the others.
        """
        loaded = self.stacks.snapshot()
        applied, more = (
            await find_applied_drift(loaded, self.ledger, query, self.judged) if query.cause != FOREIGN else ([], False)
        )
        shown = [each for each in foreign if query.stack in ("", each["stack"])] if query.cause != APPLIED else []
        names = [stack.name for stack in loaded.all if query.stack in ("", stack.name)]
        error = self._not_looked([name for name in names if name not in looked])
        health = DataHealth(
            read_at=self.clock.now(),
            sources=(
                *code_sources(self.stacks, query.stack, caller),
                DataSource(name="ledger"),
                DataSource(name="drift", status=ReadStatus.NOT_READ if error else ReadStatus.OK, error=error),
            ),
            code_revision=loaded.revision,
        )
        return {
            "drift": [*shown, *(each.to_json(caller) for each in applied)],
            "looked": {name: to_json(looked.get(name)) for name in names},
            "left_off": "More was applied than is shown; ask for one stack." if more else "",
            "data_health": health.to_json(),
        }

    async def applied_drift(self) -> Sequence[str]:
        """The resources that have a value which Sentinel applied and the code does not declare, of so many values as one answer has."""
        found, _ = await find_applied_drift(self.stacks.snapshot(), self.ledger, DriftQuery(), self.judged)
        return list(dict.fromkeys(each.applied.address for each in found))

    def _not_looked(self, stacks: Sequence[str]) -> str:
        """Why an empty list proves nothing, as a sentence; empty if somebody looks and has looked at every stack."""
        never = f"Nobody has ever looked for changes from outside of {', '.join(stacks)}" if stacks else ""
        if not self.seeks_drift:
            so_far = f"{never}, and nothing looks" if never else "Nothing looks for changes from outside any more"
            return f"{so_far}: `reconcile.drift_every` is 0. Set it, e.g. to 3600 seconds, for the gateway and the reconciler."
        return f"{never}: the reconciler has not finished its first look. Is it running?" if never else ""

    def ledger_health(self) -> dict[str, Any]:
        """The health of an answer that comes from the ledger alone."""
        sources = (DataSource(name="ledger"),)
        return DataHealth(read_at=self.clock.now(), sources=sources, code_revision=self.stacks.revision).to_json()

    def _names(self, loaded: Stacks, found: FoundResource) -> tuple[str, ...]:
        """The name of the resource, and what it was called before another stack had its address, or while it had."""
        name = found.name
        return (name,) if len(loaded.all) == 1 else (name, found.stack.other_name(name))

    def _signals(self, caller: Caller, found: FoundResource) -> Sequence[Signal]:
        return self.signals(found.stack.name, found.address) if caller.sees_all else ()

    def _health(
        self, caller: Caller, found: FoundResource, live: LiveAnswer, attribute: str, max_age: float | None
    ) -> DataHealth:
        hidden = "" if caller.sees_all else "Only people and pipelines see the open signals."
        query = {"address": found.name, "attribute": attribute, "max_age_seconds": "0"}
        can_read = live.status is not ReadStatus.UNSUPPORTED
        return DataHealth(
            read_at=self.clock.now(),
            sources=(
                *code_sources(self.stacks, found.stack.name, caller),
                DataSource(name="ledger"),
                DataSource(name="live", status=live.status, error=live.error),
                DataSource(name="signals", status=ReadStatus.NOT_SHOWN if hidden else ReadStatus.OK, error=hidden),
            ),
            code_revision=found.stack.revision,
            state_serial=found.stack.state.serial,
            age_seconds=None if live.read_at is None else round(self.live.age(live.read_at), 3),
            max_age_seconds=max_age,
            refresh_with=f"/v1/context?{urlencode({k: v for k, v in query.items() if v})}" if can_read else "",
        )


def _attributes(
    caller: Caller, found: FoundResource, known: KnownResource, live: LiveAnswer, others: set[str]
) -> AttributesOf:
    applied = [(name, each.value) for name, each in known.values.items() if name != WHOLE]
    before = put_all(found.recorded, applied)
    contract = found.stack.contract(found.address)
    return AttributesOf(
        caller=caller,
        stack=found.stack,
        address=found.address,
        contract=contract,
        before=before,
        bounds=contract.evaluate(before, before),
        known=known,
        claims=tuple(claim for claim in known.claims if claim.address not in others),
        live=live,
        declared=written_names(found.stack, found.address),
    )
