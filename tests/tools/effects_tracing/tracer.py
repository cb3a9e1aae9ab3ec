"""Traces one resource type: creates it, changes it as a whole and attribute by attribute, leaves attributes out, and deletes it."""

import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from reconciler.errors import PluginUnavailable
from tests.tools.effects_tracing.applying import Attempt, Patience, Setting, Way, apply
from tests.tools.effects_tracing.configuration import Configuration
from tests.tools.effects_tracing.provider import Broken, Diagnostic, Plan, Provider, packed, unpacked
from tests.tools.effects_tracing.repairs import Repairs
from tests.tools.effects_tracing.seeds import Seed, seeds
from tests.tools.effects_tracing.slots import RUNS, Path
from tests.tools.effects_tracing.states import completed, proposed
from tests.tools.effects_tracing.stub import Stub
from tests.tools.effects_tracing.traces import Phase, RecordedCall, Run, Summary, Trace

BUDGET: Final = 30.0
"""Seconds for one type."""
_MOST_REPAIRS: Final = 120
_MOST_ATTEMPTS: Final = 40
_MOST_OF_A_PATH: Final = 60
_MOST_LEAVES: Final = 80
_WANTED: Final = re.compile(r"wanted target '([^']+)'")
_MISSING_FIELD: Final = re.compile(r"missing required field, ([\w.\[\]]+)")
_ENDS: Final = re.compile(
    r"(Batch)?(Delete|Terminate|Deregister|Release|Remove|Destroy|Disassociate|Detach|Revoke|Disable|Schedule)"
)
_NEEDED: Final = re.compile(r"must|required|missing|specif|need")


class GivenUp(Exception):
    """Why a type is not traced further."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Created:
    """A create that was applied, as configured and planned."""

    attempt: Attempt
    values: dict[str, Any]
    plan: Plan


class TypeTracer:
    """The trace of one type. The provider may have died at the end."""

    def __init__(
        self,
        provider: Provider,
        stub: Stub,
        resource_type: str,
        *,
        variant: int = 1,
        prefer: Sequence[str] = (),
        patience: float = 1.0,
    ) -> None:
        """`prefer` are attributes to set where only one of several can be; `patience` multiplies all times."""
        self._provider, self._stub, self._kind = provider, stub, resource_type
        self._schema = provider.types[resource_type]
        wanted = [tuple(name.split(".")) for name in prefer]
        self._config = Configuration(resource_type, self._schema, wanted, variant=variant)
        self._only = frozenset({"tags", *(path[0] for path in wanted)}) if variant > 1 else None
        self._repairs = Repairs(self._config)
        self._patience = patience
        self._deadline = time.monotonic() + BUDGET * patience
        self._seed = seeds(variant).get(resource_type, Seed())
        self._setting = Setting(status=self._seed.status, answers=self._seed.answers)
        self._dropped: list[Path] = []
        self._restored: Counter[Path] = Counter()
        self._runs: list[Run] = []
        self._last = "no time"
        self._summary = Summary(resource_type=resource_type, variant=variant)

    async def trace(self) -> Trace:
        """The trace, as far as it got."""
        try:
            await self._phases()
        except GivenUp as error:
            self._summary.reason = str(error)
        except (Broken, PluginUnavailable) as error:
            self._summary.reason = f"provider: {error}"[:300]
            await self._provider.is_alive(1.0)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            # A mistake of the tracer with one type must not end the run of all; the traces tell it.
            self._summary.reason = f"tracer: {error!r}"[:300]
        self._summary.is_set = [".".join(path) for path in self._config.slots if not self._config.is_off(path)]
        self._summary.unset = [".".join(path) for path in self._config.slots if self._config.is_off(path)]
        self._summary.seconds = round(BUDGET * self._patience - self._left, 2)
        return Trace(summary=self._summary, runs=self._runs)

    @property
    def _left(self) -> float:
        """Seconds of the type's budget that are left."""
        return self._deadline - time.monotonic()

    async def _phases(self) -> None:
        await self._validate()
        state, private, first = await self._create()
        self._summary.reached = first.changed
        self._summary.create = first.problem
        expected = [request.operation for request in first.requests if request.changes]
        for run in range(1, RUNS):
            if self._left < 15:
                break
            await self._create_again(run, expected)
        if not first.changed:
            return
        base = self._config.values(0)
        changed = await self._update(base, state, private)
        deleted = await self._delete("0", base, state, private)
        stopped = bool(self._runs) and self._runs[-1].problem != ""
        if changed is not None:
            deleted += await self._delete("1", base, changed, private)
        if stopped or not any(_ENDS.match(name) for name in deleted):
            # It waits for something before the delete itself: once more with reads that find what they ask for.
            self._setting = replace(self._setting, finds_deleted=True)
            await self._delete("2", base, state, private)

    # Making a configuration that the provider accepts

    async def _validate(self) -> None:
        """Repair the configuration until validation finds nothing. Raises `GivenUp`."""
        tried: Counter[Path] = Counter()
        found: Sequence[Diagnostic] = ()
        for _ in range(_MOST_REPAIRS * 2):
            found = await self._provider.validate(self._kind, self._config.values(0))
            if not found:
                return
            changed = False
            for path, text in {each.path: each.message for each in found}.items():
                tried[path] += 1
                hopeless = tried[path] >= _MOST_OF_A_PATH
                changed |= self._config.drop(path) if hopeless and path else self._repairs.repair(path, text)
            if self._left < BUDGET * self._patience / 2:
                self._shrink()
            if self._left < 10:
                break
            if not changed and not self._shrink():
                break
        raise GivenUp(f"validate: {'.'.join(found[0].path)}: {found[0].message}"[:400])

    def _shrink(self) -> bool:
        """Keep only what is required. False if that was done before."""
        if self._summary.minimal:
            return False
        self._summary.minimal = True
        self._dropped = self._config.leave_required()
        return True

    def _fix(self, problem: Diagnostic) -> bool:
        """Repair by an error of plan or apply, which often names an attribute only in its text."""
        if problem.path and self._repairs.repair(problem.path, problem.message):
            return True
        return self._bring_back_missing(problem.message) or self._fix_named(problem.message) or self._shrink()

    def _bring_back_missing(self, text: str) -> bool:
        """Set again what the Go SDK requires although the schema does not: the attribute or block whose path is most like the field's."""
        off = {path[:length] for path in self._config.slots for length in range(1, len(path) + 1)}
        off = {path for path in off if self._config.is_off(path) and self._restored[path] < 2}
        for field in _MISSING_FIELD.findall(text):
            steps = [step.lower().rstrip("s") for step in re.sub(r"\[\d+\]", "", field).strip(".").split(".")]
            alike = {path: _likeness(path, steps) for path in off}
            best = max(sorted(off), key=lambda path: alike[path], default=())
            if best and alike[best] > 0:
                self._restored[best] += 1
                self._config.switch_on(best)
                self._config.needed.add(best)
                return True
        return False

    def _fix_named(self, text: str) -> bool:
        named = re.findall(r'[`"\']([a-z][a-z0-9_.]+)[`"\']', text) + re.findall(r"\b([a-z]+_[a-z0-9_]+)\b", text)
        if _NEEDED.search(text):
            named += [word for word in re.findall(r"\b[a-z]{4,}\b", text) if self._config.is_off((word,))]
        for name in named:
            for path in self._config.slots:
                if path[-1] != name and ".".join(path) != name:
                    continue
                if self._config.is_off(path):
                    if self._restored[path] < 3 and _NEEDED.search(text):
                        self._restored[path] += 1
                        self._config.switch_on(path)
                        return True
                    continue
                of_form = re.search(r"invalid|format|pars|valid", text)
                if not self._config.is_required(path) and not of_form and self._config.drop(path):
                    return True
                if self._repairs.repair(path, text):
                    return True
        return False

    async def _grow(self) -> None:
        """After a `_shrink`: set again, one by one, what validation and planning accept."""
        for path in self._dropped:
            if self._left < 12 or path not in self._config.off:
                continue
            self._config.off.discard(path)
            if not await self._accepted(path):
                self._config.off.add(path)

    async def _accepted(self, path: Path) -> bool:
        """Whether validation and planning accept the path, after a few repairs of its own values."""
        for _ in range(6):
            found = await self._provider.validate(self._kind, self._config.values(0))
            if not found:
                found = (await self._plan_create(0))[1].errors
            if not found:
                return True
            where, text = found[0].path, found[0].message
            if where not in self._config.slots or where[: len(path)] != path or not self._repairs.repair(where, text):
                return False
        return False

    # Create

    async def _plan_create(self, run: int) -> tuple[dict[str, Any], Plan]:
        values = self._config.values(run)
        self._stub.begin(status=self._setting.status)
        wanted = proposed(values, None, self._schema)
        return values, await self._provider.plan(self._kind, prior=None, proposed=wanted, config=values)

    async def _create(self) -> tuple[dict[str, Any], bytes, Attempt]:
        """Create until a change is seen, with repairs: the state, the provider's private data, and the attempt. Raises `GivenUp`."""
        best: _Created | None = None
        for _ in range(_MOST_ATTEMPTS):
            if self._left < 8:
                break
            values, plan = await self._plan_create(0)
            if plan.errors:
                if not await self._fixed(plan.errors[0]):
                    break
                continue
            attempt = await self._apply(None, values, plan, 2.0)
            if attempt.changed or best is None:
                best = _Created(attempt=attempt, values=values, plan=plan)
            again = self._wait_for(attempt.problem) if attempt.changed else await self._try_otherwise(attempt.problem)
            if not again:
                break
        if best is None:
            raise GivenUp(f"plan: {self._last}"[:400])
        if best.attempt.changed and self._summary.minimal and self._left > 12:
            best = await self._create_grown(best)
        state = self._state_of(best.attempt, best.plan)
        self._record(Phase.CREATE, "0", best.values, None, best.attempt)
        applied = best.attempt.applied
        return state, applied.private if applied is not None else b"", best.attempt

    async def _fixed(self, problem: Diagnostic) -> bool:
        """Whether the configuration was changed because of the problem, and is valid again. Raises `GivenUp`."""
        self._last = problem.message
        if not self._fix(problem):
            return False
        await self._validate()
        return True

    async def _try_otherwise(self, problem: str) -> bool:
        """Change the answers or the configuration after a create that changed nothing. False if nothing is left to try."""
        if self._answer_otherwise(problem):
            return True
        return bool(problem) and await self._fixed(Diagnostic(path=(), message=problem))

    async def _create_grown(self, small: "_Created") -> "_Created":
        """Create once more with what can be set beside the required attributes; the small create if that reaches no request."""
        before = set(self._config.off)
        await self._grow()
        if self._config.off == before:
            return small
        values, plan = await self._plan_create(0)
        if not plan.errors:
            attempt = await self._apply(None, values, plan, 2.0)
            if attempt.changed:
                return _Created(attempt=attempt, values=values, plan=plan)
        self._config.off = before
        return small

    def _wait_for(self, problem: str) -> bool:
        """Answer from now on with the status that a waiter wants. False if it wants none, or the same as before."""
        wanted = _WANTED.search(problem)
        status = wanted[1].split(",")[0].strip() if wanted else ""
        if not status or status == self._setting.status:
            return False
        self._setting = replace(self._setting, status=status)
        return True

    def _answer_otherwise(self, problem: str) -> bool:
        """Let reads find nothing before the first change, if the provider seems to look first whether the resource is there."""
        if self._setting.absent or not re.search(r"already|exists|import", problem, re.IGNORECASE):
            return False
        self._setting = replace(self._setting, absent=True)
        return True

    def _state_of(self, attempt: Attempt, plan: Plan) -> dict[str, Any]:
        """The state after a create, or the planned one if the provider gave none."""
        state = attempt.applied.state if attempt.applied is not None else None
        if isinstance(state, dict) and state.get("id", state.get("arn", "x")):
            return completed(state, self._schema)
        planned = completed(unpacked(plan.state), self._schema)
        return planned | {"id": self._seed.id.format_map(planned)} if self._seed.id else planned

    async def _create_again(self, run: int, expected: Sequence[str]) -> None:
        values, plan = await self._plan_create(run)
        if not plan.errors:
            attempt = await self._apply(None, values, plan, 1.0, expected)
            self._record(Phase.CREATE, str(run), values, None, attempt)

    # Update

    async def _update(self, base: dict[str, Any], state: dict[str, Any], private: bytes) -> dict[str, Any] | None:
        """Change everything that can be changed in place at once, in several runs; then one attribute at a time.

        Returns the state that a change would lead to; None if there was none.
        """
        frozen: set[str] = set()
        changed: set[str] = set()
        after: dict[str, Any] | None = None
        for run in range(1, RUNS):
            if self._left < 6:
                return after
            values = self._config.values(run)
            plan = await self._plan_in_place(values, base, state, private, frozen)
            differ = {name for name in values if values[name] != base[name]}
            if plan.errors or not differ:
                if plan.errors:
                    self._summary.notes.append(f"update {run}: {plan.errors[0].message}"[:200])
                continue
            changed |= differ
            after = completed(unpacked(plan.state), self._schema)
            attempt = await self._apply(state, values, plan, 1.3 if run == 1 else 0.7)
            if self._wait_for(attempt.problem) and self._left > 6:
                attempt = await self._apply(state, values, plan, 0.7)
            self._record(Phase.UPDATE, str(run), values, state, attempt)
        self._summary.create_only = sorted(frozen)
        # What a variant before has changed alone is known.
        new = changed if self._only is None else changed & self._only
        await self._change_each(base, state, private, sorted(new))
        await self._change_leaves(base, state, private, new)
        await self._omit_each(base, state, private, sorted(new))
        return after

    async def _plan_in_place(
        self, values: dict[str, Any], base: Mapping[str, Any], state: dict[str, Any], private: bytes, frozen: set[str]
    ) -> Plan:
        """Plan the change of `values`, without what would need a replacement; adds these names to `frozen`."""
        for name in frozen:
            values[name] = base[name]
        while True:
            plan = await self._plan_from(state, values, private)
            replaced = {name for name in plan.replaced_by if name in values and values[name] != base[name]}
            if not replaced:
                return plan
            frozen |= replaced
            for name in replaced:
                values[name] = base[name]

    async def _plan_from(self, state: dict[str, Any], values: dict[str, Any], private: bytes) -> Plan:
        wanted = proposed(values, state, self._schema)
        self._stub.begin(status=self._setting.status)
        return await self._provider.plan(self._kind, prior=state, proposed=wanted, config=values, private=private)

    async def _change_each(
        self, base: dict[str, Any], state: dict[str, Any], private: bytes, names: Sequence[str]
    ) -> None:
        values, others = self._config.values(1), self._config.values(2)
        for name in names:
            one = {**base, name: values[name] if values[name] != base[name] else others[name]}
            await self._change_one(Phase.EACH, name, one, state, private)

    async def _change_leaves(
        self, base: dict[str, Any], state: dict[str, Any], private: bytes, changed: set[str]
    ) -> None:
        """Change the attributes of blocks one by one: those with finite values, and those that could be taken for each other."""
        paths = [path for path in self._config.slots if len(path) > 1 and path[0] in changed]
        for path in [path for path in paths if not self._config.is_off(path)][:_MOST_LEAVES]:
            if self._left < 12:
                return
            values = self._config.values_with(path)
            if values != base:
                await self._change_one(Phase.EACH, ".".join(path), values, state, private)

    async def _omit_each(
        self, base: dict[str, Any], state: dict[str, Any], private: bytes, names: Sequence[str]
    ) -> None:
        for name in names:
            if self._config.is_required((name,)) or base[name] in (None, [], {}):
                continue
            empty: Any = [] if name in self._schema.blocks and isinstance(base[name], list) else None
            await self._change_one(Phase.OMIT, name, {**base, name: empty}, state, private)

    async def _change_one(
        self, phase: Phase, name: str, values: dict[str, Any], state: dict[str, Any], private: bytes
    ) -> None:
        if self._left < 5:
            if "no time for every attribute" not in self._summary.notes:
                self._summary.notes.append("no time for every attribute")
            return
        if not await self._provider.is_alive():
            return
        plan = await self._plan_from(state, values, private)
        if not plan.errors and not plan.replaced_by:
            attempt = await self._apply(state, values, plan, 0.3 if "." in name else 0.5)
            self._record(phase, name, values, state, attempt)

    # Delete

    async def _delete(self, run: str, base: dict[str, Any], state: dict[str, Any], private: bytes) -> list[str]:
        """Delete; returns the operations that changed something."""
        if not await self._provider.is_alive():
            return []
        self._stub.begin(status=self._setting.status)
        plan = await self._provider.plan(self._kind, prior=state, proposed=None, config=base, private=private)
        if plan.errors:
            self._summary.notes.append(f"delete: {plan.errors[0].message}"[:200])
        gone = Plan(state=packed(None), private=plan.private, replaced_by=frozenset(), errors=())
        attempt = await self._apply(state, None, gone, 1.5)
        if self._setting.finds_deleted and self._wait_for(attempt.problem):
            attempt = await self._apply(state, None, gone, 1.5)
        self._record(Phase.DELETE, run, None, state, attempt)
        return [request.operation for request in attempt.requests if request.changes]

    async def _apply(
        self,
        prior: dict[str, Any] | None,
        config: dict[str, Any] | None,
        plan: Plan,
        quiet: float,
        expected: Sequence[str] = (),
    ) -> Attempt:
        way = Way(kind=self._kind, prior=prior, config=config, plan=plan)
        patience = Patience(quiet=quiet * self._patience, longest=10.0 * self._patience, expected=expected)
        attempt = await apply(self._provider, self._stub, way, patience, self._setting)
        if attempt.problem.startswith("broken") and not await self._provider.is_alive(1.0):
            self._summary.notes.append(f"crash after {[request.operation for request in attempt.requests][-3:]}")
            await self._provider.restart()
        return attempt

    def _record(
        self,
        phase: Phase,
        run: str,
        values: Mapping[str, Any] | None,
        state: Mapping[str, Any] | None,
        attempt: Attempt,
    ) -> None:
        calls = [
            RecordedCall(
                service=request.service,
                operation=request.operation,
                call_class=request.call_class.value if request.call_class is not None else "",
                parameters=request.parameters,
                problem=request.problem,
            )
            for request in attempt.requests
            if request.changes or request.problem
        ]
        reads = [f"{each.service}:{each.operation}" for each in attempt.requests if not each.changes]
        after = attempt.applied.state if phase is Phase.CREATE and attempt.applied is not None else None
        entry = Run(
            phase=phase,
            run=run,
            config=values,
            state=state,
            after=after,
            calls=calls,
            reads=[*dict.fromkeys(reads)],
            problem=attempt.problem,
        )
        self._runs.append(entry)


def _likeness(path: Path, field: Sequence[str]) -> int:
    """How many steps at the end of a path are those of a field of the Go SDK; 0 if the last is another."""
    count = 0
    for step, name in zip(reversed(path), reversed(field), strict=False):
        if step.replace("_", "").rstrip("s") != name:
            break
        count += 1
    return count
