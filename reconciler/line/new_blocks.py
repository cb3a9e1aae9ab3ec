"""Writes what a mutation created beside the code: a block with its import, or, in words, what it is, who created it and why no block is written."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, type_of_named
from reconciler.adoption.adoption import DeclaredStack, adopt_told
from reconciler.adoption.forms import RULES, has_older_rules, inline_owner, mixes_rules
from reconciler.adoption.model import Adoption, LeftCreation
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.classification import ClassifiedDrift
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import Creation, Place, Told, told
from reconciler.changes.event_creations import Created
from reconciler.changes.event_values import EventValues
from reconciler.changes.mutation_creations import is_of_place
from reconciler.model import DriftOrigin, Left, Wanted
from reconciler.proof.proved_edit import ProofContext
from reconciler.rewrite.create import import_id_of, wanted_creations
from reconciler.rewrite.edited_code import EditedCode, read_code
from reconciler.rewrite.imports import imports_of
from reconciler.rewrite.resource_identity import is_in_code, is_known
from reconciler.terraform.plugin.import_session import import_session
from reconciler.terraform.state import read_recorded

Live = Mapping[str, Mapping[str, Json]]
_NO_PLACE: Final = "No place for its block was found in the code."


async def with_new_blocks(
    context: ProofContext, applied: AppliedMutation, classified: ClassifiedDrift, how: Adopt
) -> ClassifiedDrift:
    """The same, with the blocks of created resources that `how` lets be written. What state or code has already is not left any more.

    What cannot be read from the record alone is looked for with the provider. Raises `errors.TerraformFailed`, `CodeInvalid`.
    """
    if not (classified.created or classified.beside_code):
        return classified
    how = Adopt.ALL if applied.known is not None else how
    live = await read_recorded(context.terraform, context.root, context.state)
    code = await asyncio.to_thread(read_code, context.root, {}, context.around)
    for address, created in classified.created:
        if not is_of_place(applied, created, live) or _has_another_form(created, code, live):
            continue
        wanted = await _planned(context, [created], live, how)
        if wanted or is_known(created, live) or is_in_code(code, created):
            classified = classified.with_new(address, wanted)
    rest = _still_left(applied, classified)
    if classified.beside_code and (rest or not applied.effects):
        return await _looked_for(context, applied, classified, rest, live=live, code=code, how=how)
    return classified


async def _planned(
    context: ProofContext, created: Sequence[Created], live: Live, how: Adopt, *, identified: bool = False
) -> list[Wanted]:
    if how is Adopt.NONE:
        return []
    return await asyncio.to_thread(
        wanted_creations, context.root, created, live, context.around,
        identified=identified, anywhere=how is Adopt.ALL,
    )  # fmt: skip


def _has_another_form(created: Created, code: EditedCode, live: Live) -> bool:
    """Whether the code may have such parts in another form, so that a block of this type would exclude what is there."""
    kind, own = created.resource_type, created.attributes
    group = own.get("security_group_id")
    rules = kind in RULES and (has_older_rules(group, live, code.module) or mixes_rules(group, live))
    return rules or bool(inline_owner(code.module, kind, own, live))


def _still_left(applied: AppliedMutation, classified: ClassifiedDrift) -> list[str]:
    """The addresses in the record of what was created and no block declares."""
    left = {entry.wanted.address for entry in classified.left}
    whole = (each for each in applied.effects if each.action is EffectAction.CREATE and each.attribute == WHOLE)
    return list(dict.fromkeys(each.address for each in whole if not each.declared and each.address in left))


async def _looked_for(
    context: ProofContext,
    applied: AppliedMutation,
    classified: ClassifiedDrift,
    rest: Sequence[str],
    *,
    live: Live,
    code: EditedCode,
    how: Adopt,
) -> ClassifiedDrift:
    """What the provider finds of what was created: written, recognised as declared, or left with the reason."""
    managed = {address: own for address, own in live.items() if (parsed := parse_address(address)) and not parsed.data}
    stack = DeclaredStack(code=code.module, declared=managed, imported=imports_of(code.module))
    found = _told(applied, classified, rest, Place.of(managed))
    async with import_session(context.terraform, context.root) as session:
        adoption = await adopt_told(session.open, found, stack, how)
    written = {import_id_of(each) for each in classified.wanted}
    made = [each for each, _ in adoption.created if each.import_id not in written]
    wanted = await _planned(context, made, live, how, identified=True)
    placed = {import_id_of(each) for each in wanted}
    lost = [
        LeftCreation(resource_type=each.resource_type, identity=each.import_id, origin=origin, why=_NO_PLACE)
        for each, origin in adoption.created
        if each.import_id not in placed | written
    ]
    if adoption.noted and not (made or adoption.left or adoption.inside):
        return _explained(classified, rest, " ".join(adoption.noted))
    for address in rest:
        classified = classified.with_new(address, [])
    left = _left(adoption, lost, applied, rest)
    return replace(classified, wanted=(*classified.wanted, *wanted), left=(*classified.left, *left))


def _told(applied: AppliedMutation, classified: ClassifiedDrift, rest: Sequence[str], place: Place) -> Told:
    """What the mutation created, as events would tell it."""
    if applied.known is not None:
        origin = DriftOrigin(actor=applied.actor, event=applied.operation, at=applied.at)
        event = Event(origin=origin, names=frozenset())
        values = EventValues(service="", operation="")
        return Told(creations=(Creation(event=event, values=values, known=applied.known),))
    found = told([applied.call], place) if applied.call is not None else Told()
    types = tuple(dict.fromkeys(type_of_named(address) for address in rest))
    known = {address: created for address, created in classified.created if address in rest}
    single = next(iter(known.values())) if len(found.creations) == len(known) == 1 else None
    return replace(
        found, creations=tuple(replace(each, made=single, types=types or each.types) for each in found.creations)
    )


def _explained(classified: ClassifiedDrift, rest: Sequence[str], why: str) -> ClassifiedDrift:
    left = tuple(
        replace(each, reason=f"{each.reason} {why}") if each.wanted.address in rest else each
        for each in classified.left
    )
    return replace(classified, left=left)


def _left(
    adoption: Adoption, lost: Sequence[LeftCreation], applied: AppliedMutation, rest: Sequence[str]
) -> tuple[Left, ...]:
    """What is not written, each under the address that the record has for it, or else under its type and identity."""
    entries = (*adoption.left, *adoption.inside, *lost)
    return tuple(_as_left(each, applied, rest[0] if len(rest) == len(entries) == 1 else "") for each in entries)


def _as_left(left: LeftCreation, applied: AppliedMutation, address: str) -> Left:
    kind = left.resource_type or "Something"
    name = left.arn or left.identity
    who = f"{kind}{f' {name}' if name else ''} was created by {applied.actor} ({applied.operation})"
    of = left.resource_type or applied.operation
    named = address or (f"{of}{{{left.identity}}}" if left.identity else of)
    return Left(
        wanted=Wanted(address=named, attribute=WHOLE, value=None), reason=f"{who} and is not written. {left.why}"
    )
