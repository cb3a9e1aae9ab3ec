"""Changes that are one: a new resource and what refers to it, or the narrower rule and the wider one that went. All of it is written, or nothing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Final

from tree_sitter import Node

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from gateway.terraform.address import parse_address, type_of_named
from gateway.terraform.config.module import Module
from gateway.terraform.lang import expression as e
from gateway.terraform.lang.grammar import read_attribute
from gateway.terraform.lang.hcl import Document, parse
from reconciler.adoption.adoption import WHOLE_OR_NOTHING
from reconciler.adoption.links import is_chosen_by_aws
from reconciler.adoption.model import LeftCreation
from reconciler.model import (
    COMES_WITH,
    NAMING,
    OWNERS,
    Drift,
    Left,
    Wanted,
    is_gone,
    is_new,
    is_replacement,
    unified_diff,
)
from reconciler.proof.code_copies import bytes_before, temporarily_written
from reconciler.proof.proofs import Explain
from reconciler.proof.proved_edit import ProofContext, prove_edits
from reconciler.rewrite.new_references import is_named_in, names_resource
from reconciler.terraform.plan import ResourceChange

Key = tuple[str, str]
"""(address, attribute)."""
Place = tuple[str, str]
"""A block of a resource: the module's address and `type.name`."""
Live = Mapping[str, Mapping[str, Json]]
"""Attributes by address."""
_OFFERED: Final = (
    "The diff in `diff` writes all of it that holds alone: a plan of the code with it shows nothing but what is left."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composites:
    """Which wanted values are one change."""

    groups: tuple[frozenset[Key], ...] = ()
    missing: Mapping[Key, str] = field(default_factory=dict)
    """The values that name something that was created and is not written, each with its identity."""

    def of(self, key: Key) -> frozenset[Key]:
        """The other values of the change that one belongs to."""
        return next((group - {key} for group in self.groups if key in group), frozenset())


def composites(
    code: Module, drifts: Sequence[Drift], unwritten: Sequence[LeftCreation], live: Live | None = None
) -> Composites:
    """The changes of which the drifts are parts. `unwritten` is what was created and no block is planned for, `live` are attributes by address.

    Two are parts of one change if the same actor made them, as far as events say who, and one of them makes a resource that the other names,
    or that names the same resource as it; or if both are gone, and one referred to the other. What took the place of a declared resource is not new: the code has its block.
    """
    groups: list[set[Key]] = []
    new = [drift for drift in drifts if is_new(drift.wanted) and not is_replacement(drift.wanted)]
    gone = [drift for drift in drifts if is_gone(drift.wanted)]
    referred = {drift.wanted.key: _referred(code, drift.wanted) for drift in (drifts if new else gone)}
    for drift in gone if new else ():
        referred[drift.wanted.key] |= _named_places(drift.wanted, live or {})
    linked = [pair for pair in product(new, drifts) if _is_linked(pair[0].wanted, pair[1].wanted, referred)]
    linked += [pair for pair in product(gone, gone) if _place(pair[1].wanted.address) in referred[pair[0].wanted.key]]
    for one, other in linked:
        if one is other or not (_may_be_of_one_actor(one, other) or _is_of_one_entry(one.wanted, other.wanted)):
            continue
        keys = {one.wanted.key, other.wanted.key}
        for group in [group for group in groups if group & keys]:
            groups.remove(group)
            keys |= group
        groups.append(keys)
    missing = {
        drift.wanted.key: each.identity
        for drift, each in product(drifts, unwritten)
        if not is_new(drift.wanted) and names_resource(drift.wanted, each.resource_type, each.names)
    }
    return Composites(groups=tuple(map(frozenset, groups)), missing=missing)


def _may_be_of_one_actor(one: Drift, other: Drift) -> bool:
    return one.origin is None or other.origin is None or one.origin.actor == other.origin.actor


def _is_of_one_entry(one: Wanted, other: Wanted) -> bool:
    """Whether one entry of the code makes both new resources."""
    return any(_member(first, COMES_WITH) == second.address for first, second in ((one, other), (other, one)))


def _member(wanted: Wanted, name: str) -> Json:
    return wanted.value.get(name) if isinstance(wanted.value, Mapping) else None


def _is_linked(new: Wanted, other: Wanted, referred: Mapping[Key, frozenset[Place]]) -> bool:
    """Whether another value names a new resource, or is of the resource that this is a part of, or of another part of that one."""
    if new.address == other.address:
        return False
    naming = _member(other, NAMING)
    if (isinstance(naming, list) and new.address in naming) or _is_of_one_entry(new, other):
        return True
    if _place(new.address) in referred[other.key] or (not is_new(other) and is_named_in(other, new)):
        return True
    if _shares_owner(new, other, referred[other.key]):
        return True
    owners = {_place(other.address), *(each for each in referred[other.key] if _is_part(other.address, each))}
    return any(owner in owners for owner in referred[new.key] if _is_part(new.address, owner))


_SHARED_BY_ALL: Final = frozenset({"aws_vpc", "aws_subnet", "aws_kms_key", "aws_ecs_cluster"})
"""Types that resources name without having to do with each other."""


def _shares_owner(new: Wanted, other: Wanted, referred: frozenset[Place]) -> bool:
    """Whether a new resource names a declared one that another new one names too, or that a resource which is gone referred to."""
    owners = {each for each in _owners(new) if type_of_named(each) not in _SHARED_BY_ALL}
    if is_gone(other):
        return any(_place(each) in referred for each in owners)
    return is_new(other) and not owners.isdisjoint(_owners(other))


def _named_places(gone: Wanted, live: Live) -> frozenset[Place]:
    """The resources that something which is gone named, by what it had."""
    had = gone.before if isinstance(gone.before, Mapping) else live.get(gone.address, {})
    texts = {value for value in had.values() if isinstance(value, str) and is_chosen_by_aws(value)}
    return frozenset(
        _place(address)
        for address, own in live.items()
        if not texts.isdisjoint({own.get("id"), own.get("arn")} - {None})
    )


def _owners(wanted: Wanted) -> list[str]:
    named = _member(wanted, OWNERS)
    return [str(each) for each in named] if isinstance(named, list) else []


def _is_part(address: str, owner: Place) -> bool:
    return type_of_named(address).startswith(f"{owner[1].partition('.')[0]}_")


def _place(address: str) -> Place:
    parsed = parse_address(address)
    return (parsed.module, f"{parsed.resource_type}.{parsed.name}") if parsed is not None else ("", address)


def _referred(code: Module, wanted: Wanted) -> frozenset[Place]:
    """The resources that a block refers to."""
    module, value = _place(wanted.address)[0], wanted.value
    if is_new(wanted) and isinstance(value, Mapping) and "text" in value:
        document = parse(Path("new.tf"), str(value["text"]).encode())
        blocks = [(document, block) for block in document.blocks(document.root)]
    else:
        like = (
            str(value["like"]) if is_new(wanted) and isinstance(value, Mapping) and "like" in value else wanted.address
        )
        instance = code.instance(like)
        blocks = [(instance.document, instance.block)] if instance is not None else []
    return frozenset(
        (module, f"{steps[0]}.{steps[1][0]}")
        for document, block in blocks
        for attribute in _attributes(document, block)
        for part in e.walk(read_attribute(document, attribute))
        if (steps := e.steps_of(part)) is not None and steps[1] and isinstance(steps[1][0], str)
    )


def _attributes(document: Document, block: Node) -> Iterator[Node]:
    """The arguments of a block and of the blocks in it."""
    yield from document.attributes(block).values()
    for inner in document.blocks(block):
        yield from _attributes(document, inner)


def parted(found: Composites, drifts: Sequence[Drift], left: Sequence[Left]) -> list[Left]:
    """What is not written either, because another part of the same change is left."""
    reasons = {entry.wanted.key: entry.reason for entry in left}
    entries: list[Left] = []
    for wanted in (drift.wanted for drift in drifts if drift.wanted.key not in reasons):
        if lost := sorted(found.of(wanted.key) & reasons.keys()):
            reason = f"It is one change with {_name(lost[0])}, which is left. {WHOLE_OR_NOTHING}"
            entries.append(Left(wanted=wanted, reason=reason))
        elif wanted.key in found.missing:
            reason = f"It names {found.missing[wanted.key]}, which was created with it and is not written. {WHOLE_OR_NOTHING}"
            entries.append(Left(wanted=wanted, reason=reason))
    return entries


def _name(key: Key) -> str:
    return key[0] if key[1] == WHOLE else ".".join(key)


def _unexplained(_: ResourceChange) -> str:
    return ""


async def offered(
    context: ProofContext,
    kept: Sequence[Left],
    left: Sequence[Left],
    files: Mapping[Path, bytes],
    *,
    explain: Explain = _unexplained,
) -> tuple[Left, ...]:
    """All that is left, with the diff of those parts of a change that hold without its rest. `kept` are these parts, `files` all other edits.

    `explain` says which other changes a plan may show.

    Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    if not kept:
        return tuple(left)
    first, wanted = kept[0].wanted.key, [entry.wanted for entry in kept]
    keys = {entry.wanted.top_key for entry in left if entry not in kept}
    with temporarily_written(context.root, files):
        proved = await prove_edits(
            replace(context, keep_plan=False),
            wanted,
            explain=lambda change: (
                "left to a human" if {change.top_key, (change.address, WHOLE)} & keys else explain(change)
            ),
        )
        if proved.left or not proved.proofs:
            return tuple(left)
        edited = proved.edited.files
        before = bytes_before(context.root, edited)
        diff = "".join(unified_diff(path, before.get(path, b""), new) for path, new in sorted(edited.items()))
    return tuple(
        replace(entry, reason=f"{entry.reason} {_OFFERED}", diff=diff) if entry.wanted.key == first else entry
        for entry in left
    )
