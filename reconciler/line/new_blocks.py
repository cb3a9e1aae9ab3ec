"""Writes what a mutation created beside the code: a block with its import, or, in words, what it is, who created it and why no block is written."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, resource_type_of, type_of_named
from reconciler.adoption.adoption import DeclaredStack, adopt_told
from reconciler.adoption.forms import RULES, has_older_rules, inline_owner, mixes_rules
from reconciler.adoption.model import Adoption, LeftCreation
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.classification import ChangePart, ClassifiedDrift
from reconciler.changes.cloudtrail import Event
from reconciler.changes.creating_events import Creation, Place, Told, told
from reconciler.changes.event_creations import Created
from reconciler.changes.event_values import EventValues
from reconciler.changes.mutation_creations import is_of_place
from reconciler.model import DriftOrigin, Left, Wanted
from reconciler.proof.proved_edit import ProofContext
from reconciler.rewrite.create import import_id_of, wanted_creations, with_places
from reconciler.rewrite.edited_code import EditedCode, read_code
from reconciler.rewrite.imports import imports_of
from reconciler.rewrite.resource_identity import is_in_code, is_known
from reconciler.terraform.plugin.import_session import import_session
from reconciler.terraform.state import read_recorded

Live = Mapping[str, Mapping[str, Json]]
_Key = tuple[str, str]
"""Type and import id of a created resource."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewBlocks:
    """Mutations with the blocks of what they created."""

    parts: tuple[ChangePart, ...]
    unwritten: tuple[LeftCreation, ...] = ()
    """What was created and gets no block, although blocks are written: a value that names it cannot be written alone."""


async def with_new_blocks(context: ProofContext, parts: Sequence[ChangePart], how: Adopt) -> NewBlocks:
    """The same mutations, with the blocks of created resources that `how` lets be written. What state or code has already is not left any more.

    What one of them created and another one of them names belongs to the stack. What cannot be read from the records alone is looked for
    with the provider. Raises `errors.TerraformFailed`, `CodeInvalid`.
    """
    if not any(each.classified.created or each.classified.beside_code for each in parts):
        return NewBlocks(parts=tuple(parts))
    stack = _Stack(
        context=context,
        live=with_values(await read_recorded(context.terraform, context.root, context.state), parts),
        code=await asyncio.to_thread(read_code, context.root, {}, context.around),
        how=_allowed(parts, how),
    )
    told_of = [
        (each, created) for each in parts for _, created in each.classified.created if stack.may_tell(each, created)
    ]
    planned = await stack.planned([created for _, created in told_of])
    known = [(part, created) for part, created in told_of if _key(created) in planned or stack.has(created)]
    makers = {_key(created): part.applied.id for part, created in known}
    parts = [_without(each, [created for part, created in known if part is each]) for each in parts]
    looked_at = [(each, rest) for each in parts if (rest := _to_be_looked_for(each)) is not None]
    unwritten: tuple[LeftCreation, ...] = ()
    if looked_at:
        beside = [(created, _origin(part.applied)) for part, created in known if _key(created) in planned]
        adoption = await stack.adoption(looked_at, [created for created, _ in beside])
        made = [each for each in adoption.created if _key(each[0]) not in planned]
        if made or adoption.left:
            adoption, planned = await stack.placed(replace(adoption, created=(*beside, *made)))
        makers |= {_key(each): origin.event_id for each, origin in adoption.created}
        after = {each.applied.id: _after_look(each, rest, adoption) for each, rest in looked_at}
        parts = [after.get(each.applied.id) or _with_left(each, adoption.left) for each in parts]
        unwritten = adoption.left if stack.how is not Adopt.NONE else ()
    return NewBlocks(
        parts=tuple(
            _wanting(each, [want for key, want in planned.items() if makers.get(key) == each.applied.id])
            for each in parts
        ),
        unwritten=unwritten,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stack:
    """The stack, as far as blocks are planned for it."""

    context: ProofContext
    live: Live
    code: EditedCode
    how: Adopt

    def may_tell(self, part: ChangePart, created: Created) -> bool:
        """Whether the record alone may say what the block is."""
        return is_of_place(part.applied, created, self.live) and not _has_another_form(created, self.code, self.live)

    def has(self, created: Created) -> bool:
        """Whether state or code has it already."""
        return is_known(created, self.live) or is_in_code(self.code, created)

    async def planned(self, created: Sequence[Created]) -> Mapping[_Key, Wanted]:
        """The blocks of what may be written."""
        if self.how is Adopt.NONE or not created:
            return {}
        return _by_key(await asyncio.to_thread(self._wanted, created))

    async def placed(self, adoption: Adoption) -> tuple[Adoption, Mapping[_Key, Wanted]]:
        """What the provider identified, as far as it has a place and names nothing that is left, and its blocks."""
        if self.how is Adopt.NONE:
            return adoption, {}
        after, found = await asyncio.to_thread(with_places, adoption, partial(self._wanted, identified=True))
        return after, _by_key(found)

    def _wanted(self, created: Sequence[Created], *, identified: bool = False) -> list[Wanted]:
        return wanted_creations(
            self.context.root, created, self.live, self.context.around,
            identified=identified, anywhere=self.how is Adopt.ALL,
        )  # fmt: skip

    async def adoption(self, parts: Sequence[tuple[ChangePart, Sequence[str]]], beside: Sequence[Created]) -> Adoption:
        """What the provider finds of what was created, `beside` what is written anyway."""
        managed = {
            address: own for address, own in self.live.items() if (parsed := parse_address(address)) and not parsed.data
        }
        module = self.code.module
        stack = DeclaredStack(code=module, declared=managed, imported=imports_of(module), beside=tuple(beside))
        found = _told(parts, Place.of(managed))
        async with import_session(self.context.terraform, self.context.root) as session:
            return await adopt_told(session.open, found, stack, self.how)


def _by_key(found: Sequence[Wanted]) -> Mapping[_Key, Wanted]:
    return {(resource_type_of(each.address), import_id_of(each)): each for each in found}


def _key(created: Created) -> _Key:
    return created.resource_type, created.import_id


def _without(part: ChangePart, created: Sequence[Created]) -> ChangePart:
    """The part with nothing left of what a block is planned for, or what there is already."""
    done = {address for address, each in part.classified.created if each in created}
    return _none_left(part, done)


def _none_left(part: ChangePart, addresses: Collection[str]) -> ChangePart:
    left = tuple(entry for entry in part.classified.left if entry.wanted.address not in addresses)
    return replace(part, classified=replace(part.classified, left=left))


def _wanting(part: ChangePart, more: Sequence[Wanted]) -> ChangePart:
    return replace(part, classified=replace(part.classified, wanted=(*part.classified.wanted, *more)))


def _allowed(parts: Sequence[ChangePart], how: Adopt) -> Adopt:
    """What may be written of these: all that somebody decided to write; of what may be another stack's, only what belongs to this one."""
    making = [each.applied for each in parts if each.classified.created or each.classified.beside_code]
    if all(each.known is not None for each in making):
        return Adopt.ALL
    return Adopt.LINKED if how is Adopt.ALL and any(each.is_shared for each in making) else how


def with_values(live: Live, parts: Sequence[ChangePart]) -> Live:
    """The attributes of the stack's resources, after what the mutations set of them."""
    after = dict(live)
    for want in (each for part in parts for each in part.classified.wanted):
        if want.attribute != WHOLE and want.address in after:
            after[want.address] = want.path.put(after[want.address], want.value)
    return after


def _has_another_form(created: Created, code: EditedCode, live: Live) -> bool:
    """Whether the code may have such parts in another form, so that a block of this type would exclude what is there."""
    kind, own = created.resource_type, created.attributes
    group = own.get("security_group_id")
    rules = kind in RULES and (has_older_rules(group, live, code.module) or mixes_rules(group, live))
    return rules or bool(inline_owner(code.module, kind, own, live))


def _to_be_looked_for(part: ChangePart) -> list[str] | None:
    """The addresses in the record of what was created and no block declares; None if the provider need not be asked."""
    left = {entry.wanted.address for entry in part.classified.left}
    whole = (each for each in part.applied.effects if each.action is EffectAction.CREATE and each.attribute == WHOLE)
    rest = list(dict.fromkeys(each.address for each in whole if not each.declared and each.address in left))
    return rest if part.classified.beside_code and (rest or not part.applied.effects) else None


def _after_look(part: ChangePart, rest: Sequence[str], adoption: Adoption) -> ChangePart:
    """The part after the provider was asked what it created: what is not written is left with the reason."""
    mutation = part.applied.id
    entries = [each for each in (*adoption.left, *adoption.inside) if each.origin.event_id == mutation]
    made = any(origin.event_id == mutation for _, origin in adoption.created)
    if adoption.noted and not (made or entries):
        return replace(part, classified=_explained(part.classified, rest, " ".join(adoption.noted)))
    part = _none_left(part, rest)
    left = tuple(_as_left(each, part.applied, rest[0] if len(rest) == len(entries) == 1 else "") for each in entries)
    return replace(part, classified=replace(part.classified, left=(*part.classified.left, *left)))


def _with_left(part: ChangePart, left: Sequence[LeftCreation]) -> ChangePart:
    """The part, of which is left what names something that another one created and that is left."""
    own = tuple(_as_left(each, part.applied, "") for each in left if each.origin.event_id == part.applied.id)
    return replace(part, classified=replace(part.classified, left=(*part.classified.left, *own)))


def _told(parts: Sequence[tuple[ChangePart, Sequence[str]]], place: Place) -> Told:
    """What the mutations created, as events would tell it; each with the addresses in its record that no block declares yet."""
    calls = [each.applied.call for each, _ in parts if each.applied.known is None and each.applied.call is not None]
    found = told(calls, place)
    by_id = {each.applied.id: (each, rest) for each, rest in parts}
    creations: list[Creation] = []
    for each in found.creations:
        mutation = each.event.origin.event_id
        part, rest = by_id[mutation]
        known = {address: created for address, created in part.classified.created if address in rest}
        own = sum(other.event.origin.event_id == mutation for other in found.creations)
        single = next(iter(known.values())) if own == len(known) == 1 else None
        types = tuple(dict.fromkeys(type_of_named(address) for address in rest))
        creations.append(replace(each, made=single, types=types or each.types))
    return replace(found, creations=(*creations, *(_known(each.applied) for each, _ in parts if each.applied.known)))


def _known(applied: AppliedMutation) -> Creation:
    """What was found before to have been created outside."""
    event = Event(origin=_origin(applied), names=frozenset())
    return Creation(event=event, values=EventValues(service="", operation=""), known=applied.known)


def _origin(applied: AppliedMutation) -> DriftOrigin:
    return DriftOrigin(actor=applied.actor, event=applied.operation, at=applied.at, event_id=applied.id)


def _explained(classified: ClassifiedDrift, rest: Sequence[str], why: str) -> ClassifiedDrift:
    left = tuple(
        replace(each, reason=f"{each.reason} {why}") if each.wanted.address in rest else each
        for each in classified.left
    )
    return replace(classified, left=left)


def _as_left(left: LeftCreation, applied: AppliedMutation, address: str) -> Left:
    kind = left.resource_type or "Something"
    name = left.arn or left.identity
    who = f"{kind}{f' {name}' if name else ''} was created by {applied.actor} ({applied.operation})"
    of = left.resource_type or applied.operation
    named = address or (f"{of}{{{left.identity}}}" if left.identity else of)
    return Left(
        wanted=Wanted(address=named, attribute=WHOLE, value=None), reason=f"{who} and is not written. {left.why}"
    )
