"""Applies one plan against the stub, and breaks it off when nothing more can be expected of it."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tests.tools.effects_tracing.provider import Applied, Broken, Plan, Provider, answer_of
from tests.tools.effects_tracing.request_reader import ReadRequest
from tests.tools.effects_tracing.stub import Stub

_SOON: Final = 0.3
"""Seconds without a request, once every call that an earlier run made was seen again."""
_POLL: Final = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What one apply did."""

    applied: Applied | None
    problem: str
    requests: Sequence[ReadRequest]

    @property
    def changed(self) -> bool:
        """Whether a request that changes something was sent."""
        return any(request.changes for request in self.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an apply may take, in seconds."""

    quiet: float
    """Without a request: the provider sleeps in a waiter."""
    longest: float = 10.0
    expected: Sequence[str] = ()
    """The changes that an earlier run made; if all were seen, little is to come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A planned way from one state to another."""

    kind: str
    prior: Mapping[str, Any] | None
    config: Mapping[str, Any] | None
    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How the stub answers during an apply."""

    status: str = ""
    """What every status is, if its enumeration allows it."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Members of answers by their folded names, with their values."""
    absent: bool = False
    """Whether reads find nothing before the first change of a create."""
    finds_deleted: bool = False
    """Whether reads find a resource after the first change of its delete."""


async def apply(provider: Provider, stub: Stub, way: Way, patience: Patience, setting: Setting) -> Attempt:
    """Apply a plan. The caller restarts a provider that died of it."""
    deleting = way.config is None and not setting.finds_deleted
    plain = (str, int, float, bool)
    echo = {name.replace("_", ""): value for name, value in (way.prior or {}).items() if isinstance(value, plain)}
    echo |= setting.answers
    absent = setting.absent and way.prior is None
    stub.begin(echo, status=setting.status, deleting=deleting, absent=absent)
    began = time.monotonic()
    call = provider.apply(
        way.kind,
        prior=way.prior,
        planned=way.plan.state,
        config=way.config,
        private=way.plan.private,
        seconds=patience.longest + 5,
    )
    problem = ""
    while not call.done():
        await asyncio.sleep(_POLL)
        if problem := _give_up(provider, stub, began, patience):
            call.cancel()
            await asyncio.sleep(_POLL)
            return Attempt(applied=None, problem=problem, requests=stub.requests)
    try:
        applied = await answer_of(call)
    except Broken as error:
        return Attempt(applied=None, problem=f"broken: {error}"[:300], requests=stub.requests)
    problem = "; ".join(error.message for error in applied.errors)[:500]
    return Attempt(applied=applied, problem=problem, requests=stub.requests)


def _give_up(provider: Provider, stub: Stub, began: float, patience: Patience) -> str:
    """Why an apply is broken off now; empty if it is not. A provider that calculates, or waits for a processor, is given time."""
    now = time.monotonic()
    quiet = now - stub.last
    if quiet > _SOON and patience.expected:
        seen = Counter(request.operation for request in stub.requests)
        if Counter(patience.expected) <= seen and not provider.is_busy():
            return "cut: every expected change was seen"
    if quiet > patience.quiet and not provider.is_busy():
        return "cut: no request for a while"
    return "cut: it takes too long" if now - began > patience.longest else ""
