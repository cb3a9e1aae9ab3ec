"""Makes what a record keeps for the checks by contracts into a mutation and facts again (`core.records.judged`), with the contracts of now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.claim import Claim, Relation, StandingClaim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant, Facts, Subject
from gateway.core.model.json import Json
from gateway.core.model.mutation import Call, Effect, Mutation
from gateway.core.model.path import AttributePath, put_all
from gateway.core.records.decided import DecidedBody, RecordedEffect
from gateway.core.records.record import Record
from gateway.line.survey import wanted_values


class Declaring(Protocol):
    """Code with contracts, by the addresses of resources."""

    def contract(self, address: str) -> Contract:
        """All contracts for the address in one."""
        ...

    def declared(self, address: str, attribute: str) -> Json:
        """The declared value of an attribute, secrets masked; None if it is not declared or not known."""
        ...


class NotKept(LookupError):
    """A record does not have what the checks by contracts decided by."""


def judged_again(
    record: Record,
    body: DecidedBody[Any],
    kept: Mapping[str, Any],
    claims: Sequence[Mapping[str, Any]],
    stack_of: Callable[[str], Declaring | None],
) -> tuple[Mutation, Facts]:
    """The mutation and the facts of then, for the checks by contracts, with the contracts that the code has now.

    `claims` are those of the input of the policies. Raises `NotKept` for a resource that no code has any more, and where `kept` lacks a part.
    """
    effects = tuple(_effect(each, more) for each, more in zip(body.effects, kept["effects"], strict=True))
    mutation = Mutation(
        id=record.mutation_id,
        caller=_caller(record, body),
        call=Call(
            service=body.call.service,
            operation=body.call.operation,
            parameters=body.call.parameters,
            account=body.call.account,
            region=body.call.region,
        ),
        call_class=body.call.call_class,
        motive=None,
        effects=effects,
    )
    wanted = wanted_values(effects)
    subjects = tuple(
        _subject(effect, recorded, {**kept["resources"][effect.address], **more}, wanted[effect.address], stack_of)
        for effect, recorded, more in zip(effects, body.effects, kept["effects"], strict=True)
    )
    facts = Facts(
        now=record.at,
        stack=record.stack,
        mode=body.decision.mode,
        subjects=subjects,
        claims=tuple(_claim(each, record.at) for each in claims),
    )
    return mutation, facts


def _caller(record: Record, body: DecidedBody[Any]) -> Caller:
    given = body.caller
    return Caller(
        actor=record.actor, kind=given.kind, key_id=given.key_id, roles=given.roles, on_behalf_of=given.on_behalf_of
    )


def _effect(recorded: RecordedEffect[Any], more: Mapping[str, Any]) -> Effect:
    return replace(
        recorded.to_effect(),
        implied=recorded.implied,
        by=more.get("by", ""),
        obliged=more.get("obliged", False),
        unrecorded=tuple(more.get("unrecorded", ())),
        untold=more.get("untold", False),
    )


def _subject(
    effect: Effect,
    recorded: RecordedEffect[Any],
    kept: Mapping[str, Any],
    wanted: Sequence[tuple[str, Json]],
    stack_of: Callable[[str], Declaring | None],
) -> Subject:
    """`kept` is what is kept of the effect and its resource, `wanted` what the call gives to this."""
    stack = stack_of(effect.address) if effect.declared else None
    if stack is None and effect.declared:
        raise NotKept(effect.address)
    before: Mapping[str, Json] = kept.get("before", {})
    declared = stack.declared(effect.address, effect.attribute) if stack and effect.sensitive else recorded.declared
    return Subject(
        effect=effect,
        before=AttributePath(effect.attribute).value_at(before) if "before" in kept else recorded.before,
        declared=declared,
        attributes_before=before,
        attributes_after=put_all(before, wanted),
        contract=stack.contract(effect.address) if stack else Contract(),
        dependants=tuple(_dependant(each, stack_of) for each in kept.get("dependants", ())),
        exists=kept["exists"],
        disputed=kept.get("disputed", False),
        hidden=kept.get("hidden", False),
    )


def _dependant(kept: Sequence[Any], stack_of: Callable[[str], Declaring | None]) -> Dependant:
    address, direct, recorded = kept
    stack = stack_of(address)
    contract = stack.contract(address) if stack else Contract()
    return Dependant(
        address=address,
        direct=direct,
        recorded=recorded,
        critical=contract.critical,
        managed_by_agent=contract.managed_by_agent,
    )


def _claim(given: Mapping[str, Any], now: datetime) -> StandingClaim:
    """A claim of the policies' input, as far as the checks look at it: where it is, and whose."""
    claim = Claim(
        id=given["id"],
        mutation_id="",
        address=given["address"],
        attribute=given["attribute"],
        value=given["value"],
        actor=given["actor"],
        kind=ActorKind(given["kind"]),
        motive=None,
        since=now,
    )
    return StandingClaim(claim=claim, relation=Relation(given["relation"]))
