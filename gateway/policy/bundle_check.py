"""Asks a bundle about sample changes as the gateway does, so that policies that would refuse every change are not loaded."""

import asyncio
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from gateway.core.errors import PolicyInvalid, PolicyUnavailable
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Facts, Subject
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.mutation import Call, CallClass, Effect, EffectAction, Mutation
from gateway.core.model.verdict import Mode
from gateway.line.checks.arbitration import ArbitrationCheck
from gateway.line.checks.policy import GuardrailsCheck
from gateway.policy.bundle import Bundle
from gateway.policy.embedded import Embedded

_DEADLINE_MS, _MEMORY_MB = 1000, 64
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_RESOURCE = "aws_autoscaling_group.trial"


def try_bundle(bundle: Bundle, files: Mapping[str, bytes]) -> None:
    """Load the bundle and ask it, as a gateway does. Raises `errors.PolicyInvalid` if a gateway would not run it."""
    engine = Embedded(bundle, deadline_ms=_DEADLINE_MS, memory_mb=_MEMORY_MB)
    try:
        check_answers(engine, files)
    finally:
        asyncio.run(engine.close())


def check_answers(engine: Embedded, files: Mapping[str, bytes]) -> None:
    """Raise `errors.PolicyInvalid` if the engine cannot answer for changes of several kinds. `files` are the bundle's sources.

    A running gateway would refuse every change, or every change of that kind, for the same reason.
    """
    # In a thread of its own, because the caller may be in an event loop.
    with ThreadPoolExecutor(max_workers=1) as threads:
        try:
            threads.submit(asyncio.run, _ask_all(engine)).result()
        except PolicyUnavailable as error:
            raise PolicyInvalid(
                f"With these policies the gateway would refuse changes that it should decide: {_with_places(str(error), files)}"
            ) from error


async def _ask_all(engine: Embedded) -> None:
    guardrails, arbitration = GuardrailsCheck(engine, engine.packages), ArbitrationCheck(engine)
    for mutation, facts in _samples():
        await guardrails.examine(mutation, facts)
        await arbitration.examine(mutation, facts)


def _samples() -> Iterator[tuple[Mutation, Facts]]:
    """A change that is set, one that is deleted without a motive, and one whose effects are not known, by each kind of actor."""
    motive = Motive(intent=Intent.AVAILABILITY, motivation=Motivation.INCIDENT, evidence=("ALERT-1",))
    for kind in ActorKind:
        yield _sample(kind, EffectAction.SET, "desired_capacity", motive)
        yield _sample(kind, EffectAction.DELETE, "*", None)
        yield _sample(kind, None, "", motive)


def _sample(
    kind: ActorKind, action: EffectAction | None, attribute: str, motive: Motive | None
) -> tuple[Mutation, Facts]:
    effects = () if action is None else (_effect(action, attribute),)
    mutation = Mutation(
        id="mut_trial",
        caller=Caller(actor="trial", kind=kind, key_id="SNTLTRIAL"),
        call=Call(service="autoscaling", operation="SetDesiredCapacity", account="123456789012", region="us-east-1"),
        call_class=CallClass.MUTATION,
        motive=motive,
        effects=effects,
    )
    return mutation, Facts(now=_NOW, stack="trial", mode=Mode.ENFORCE, subjects=tuple(map(_subject, effects)))


def _effect(action: EffectAction, attribute: str) -> Effect:
    value = 2 if action is EffectAction.SET else None
    return Effect(
        address=_RESOURCE, attribute=attribute, action=action, value=value, resource_type="aws_autoscaling_group"
    )


def _subject(effect: Effect) -> Subject:
    return Subject(effect=effect, before=1, declared=1, attributes_before={}, attributes_after={}, contract=Contract())


def _with_places(sentence: str, files: Mapping[str, bytes]) -> str:
    """The sentence, with file and line of every guardrail package that it names."""
    places = [
        f"sentinel.rules.{name} is in {file}:{line}"
        for file, content in sorted(files.items())
        for line, text in enumerate(content.decode(errors="replace").splitlines(), start=1)
        if (clause := re.match(r"package\s+sentinel\.rules\.(\w+)", text))
        and re.search(rf"\b{(name := clause[1])}\b", sentence)
    ]
    return " ".join([sentence, *(f"{place}." for place in places)])
