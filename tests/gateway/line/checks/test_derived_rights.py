"""Every derived row that ships: a call about rights, or one that does more than write settings, waits, whatever its row knows."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import pytest

from gateway.aws.models.call_classes import shipped
from gateway.aws.models.routing_index import models
from gateway.core.derived_rows import Confidence, DerivedRow, derived_rows, operations_of, services
from gateway.core.model.caller import ActorKind
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.verdict import Verdict
from gateway.effects.attribute_classes import AttributeClass, class_of, is_map
from gateway.effects.registry import SERVICES
from gateway.line.checks.dangerous_parts import dangerous_parts
from gateway.line.checks.derived_rows import DerivedRowsCheck
from tests.kit import nouns
from tests.tools.effect_sources.iam import IamService, iam_services

_KINDS = (ActorKind.HUMAN, ActorKind.PIPELINE, ActorKind.SERVICE)
_WHOLE = (EffectAction.DELETE, EffectAction.CREATE)
_DOES_MORE = re.compile(
    r"(?:Accept|Cancel|Copy|Execute|Export|Failover|Import|Invoke|Issue|Promote|Publish|Purge|Reboot|Reset|Restore|Run|Send|Share|Start|Stop|Switch)(?![a-z])"
)


@lru_cache(maxsize=1)
def rows() -> tuple[DerivedRow, ...]:
    """The rows that say something about a call alone."""
    return tuple(
        row
        for service in services()
        for operation in operations_of(service)
        if operation not in SERVICES.get(service, {})
        for row in derived_rows(service, operation)
        if row.confidence is not Confidence.TYPE and row.resource_type.startswith("aws_")
    )


@lru_cache(maxsize=1)
def about_rights() -> tuple[DerivedRow, ...]:
    """The rows of operations that IAM lists as management of permissions: a source that the check does not know."""
    iam = iam_services()
    metadata = {service: model["metadata"] for service, model in models()}
    names = {
        service: {service, *(metadata[service].get(name) for name in ("signingName", "endpointPrefix"))}
        for service in {row.service for row in rows()}
    }
    return tuple(row for row in rows() if any(_manages(iam[name], row) for name in names[row.service] if name in iam))


def _manages(service: IamService, row: DerivedRow) -> bool:
    action = service.actions.get(row.operation.lower())
    return action is not None and "Permissions" in action.level


def effects(row: DerivedRow) -> tuple[Effect, ...]:
    """What the row says about a call that gives every parameter a value, and of which no code has anything."""
    address = f"{row.resource_type}.x"
    if row.confidence is Confidence.RESOURCE:
        return (nouns.effect(address, WHOLE, action=EffectAction.INVOKE, basis=Basis.RESOURCE),)
    action = next((each for each in _WHOLE if each in row.actions), EffectAction.SET)
    whole = nouns.effect(address, WHOLE, action=action, basis=Basis.DERIVED, declared=False)
    if action is EffectAction.DELETE:
        return (whole,)
    names = {*(source.attribute for source in row.attributes.values()), *row.removes.values()}
    values = tuple(nouns.effect(address, name, "x", action=action, basis=Basis.DERIVED) for name in sorted(names))
    return (whole, *values) if action is EffectAction.CREATE else values


async def passing(found: Iterable[DerivedRow], kind: ActorKind) -> list[str]:
    """The calls that the check lets through."""
    passed = []
    for row in found:
        touched = effects(row)
        call, kind_of_call = (
            Call(service=row.service, operation=row.operation),
            shipped().of(row.service, row.operation),
        )
        caller = nouns.caller("me", kind)
        mutation = nouns.mutation(*touched, caller=caller, call=call, call_class=kind_of_call)
        opinion = await DerivedRowsCheck().examine(mutation, nouns.facts(*map(nouns.subject, touched)))
        if touched and all(finding.verdict is not Verdict.HOLD for finding in opinion.findings):
            passed.append(f"{row.service}:{row.operation} {row.resource_type}")
    return passed


@pytest.mark.slow
@pytest.mark.parametrize("kind", _KINDS)
async def test_what_iam_calls_management_of_permissions_is_held(kind: ActorKind) -> None:
    assert len(about_rights()) > 100
    assert await passing(about_rights(), kind) == []


@pytest.mark.parametrize("kind", _KINDS)
async def test_what_is_no_plain_change_by_its_class_is_held(kind: ActorKind) -> None:
    table = shipped()
    found = [row for row in rows() if table.of(row.service, row.operation) is not CallClass.MUTATION]
    assert found
    assert await passing(found, kind) == []


@pytest.mark.parametrize("kind", _KINDS)
async def test_what_starts_restores_shares_or_copies_something_is_held(kind: ActorKind) -> None:
    """Where only the resource is known. Of the others `gateway.effects.derived_operations` takes none with such a name."""
    found = [row for row in rows() if row.confidence is Confidence.RESOURCE and _DOES_MORE.match(row.operation)]
    assert len(found) > 50
    assert await passing(found, kind) == []


def test_what_runs_by_a_derived_row_is_shown_to_policies_as_by_a_hand_made_one() -> None:
    running = [
        effect
        for row in rows()
        for effect in effects(row)
        if effect.action is not EffectAction.INVOKE
        and class_of(effect.resource_type, effect.attribute) is AttributeClass.RUNS_CODE
        and not is_map(effect.resource_type, effect.attribute)
    ]
    assert len(running) > 100
    for effect in running:
        shown: list[Any] = dangerous_parts(nouns.subject(effect), "123456789012")
        assert [part["class"] for part in shown] == ["runs_code"], (effect.address, effect.attribute)
