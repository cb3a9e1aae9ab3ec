"""Which numbers arbitration decided by: the layers in force for the stacks of a change, and a digest of all numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.facts import Facts
from gateway.core.model.json import Json, digest
from gateway.core.ports import PolicyEngine
from gateway.line.checks.policy_answer import member, only

ENTRYPOINT: Final = "sentinel/priorities/result"
_MOST_KEPT: Final = 256
_WITHOUT_BUNDLE: Final = "opa "
"""So begins the revision of an OPA server that runs without a bundle: it stays the same when its data change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrioritiesInForce:
    """The numbers for some stacks."""

    layers: tuple[str, ...]
    """From the lowest to the highest."""
    numbers: Json
    every: Json
    """All layers, with the stacks that they are for."""

    @property
    def revision(self) -> str:
        """The layers and the digest of the numbers, as decisions record it: `dev@3f2a…`, or `base@…` without layers."""
        return f"{'+'.join(self.layers) or 'base'}@{digest(self.numbers)[:16]}"


async def priorities_of(engine: PolicyEngine, stacks: Sequence[str]) -> PrioritiesInForce:
    """What the engine has in force for these stacks. Raises `errors.PolicyUnavailable`, also if its policies have no layers."""
    answer = await engine.ask(ENTRYPOINT, {"stacks": list(stacks)})
    found = only(answer, {"layers", "numbers", "every"})
    layers = tuple(str(member(found, "layers", str)).split())
    return PrioritiesInForce(layers=layers, numbers=member(found, "numbers", dict), every=member(found, "every", dict))


@dataclass(slots=True)
class PrioritiesRevision:
    """Knows the revision of the numbers for each set of stacks; asks the engine only when its policies are others."""

    engine: PolicyEngine
    _kept: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)

    async def of(self, facts: Facts) -> str:
        """The revision for the stacks of a change; empty if the policies have no `sentinel.priorities`.

        On an OPA server without a bundle nothing says whether its data changed, so it is asked each time.
        """
        stacks = facts.stacks or (facts.stack,)
        before = self.engine.revision
        if (known := self._kept.get((before, stacks))) is not None:
            return known
        try:
            revision = (await priorities_of(self.engine, stacks)).revision
        except PolicyUnavailable:
            return ""
        if self.engine.revision == before and not before.startswith(_WITHOUT_BUNDLE):
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[before, stacks] = revision
        return revision


async def idle_layers(engine: PolicyEngine, stacks: Sequence[str]) -> list[str]:
    """A sentence for each layer that holds for none of these stacks, which is probably a misspelt name."""
    try:
        every = (await priorities_of(engine, stacks)).every
    except PolicyUnavailable:
        return []
    patterns = every.items() if isinstance(every, dict) else ()
    return [
        f"The layer {name!r} of the priorities is for the stacks {', '.join(map(str, wanted))}, and the settings have none of them."
        for name, wanted in patterns
        if isinstance(wanted, list) and not any(_fits(str(pattern), stack) for pattern in wanted for stack in stacks)
    ]


def _fits(pattern: str, stack: str) -> bool:
    return stack.startswith(pattern[:-1]) if pattern.endswith("*") else stack == pattern
