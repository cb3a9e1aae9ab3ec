"""Mutations of one session that are one change: a new resource and what refers to it are proved and committed together, or not at all."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gateway.core.model.adopt import Adopt
from gateway.terraform.config.module import load_module
from reconciler.adoption.model import LeftCreation
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import ChangePart, ClassifiedDrift, classify_mutation
from reconciler.line.new_blocks import with_new_blocks
from reconciler.model import Drift, DriftOrigin, Left, Wanted, is_gone, is_new
from reconciler.proof.composites import Composites, composites, offered, parted
from reconciler.proof.proofs import Explain
from reconciler.proof.proved_edit import ProofContext, ProvedEdit, prove_edits
from reconciler.terraform.plan import ResourceChange

_ROUNDS = 3
"""How often what is left of a change is taken out, and the rest is proved again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneChange:
    """What is proved and committed together: one mutation, or several of one session."""

    parts: tuple[ChangePart, ...]
    """The first is the mutation that is written back; the others go with it."""
    together: Composites = field(default_factory=Composites)

    @property
    def first(self) -> ChangePart:
        """The mutation that is written back."""
        return self.parts[0]

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All wanted values, new resources first, else in the order of the ledger, whichever of the mutations is written back."""
        parts = sorted(self.parts, key=lambda part: part.applied.seq)
        found = [want for part in parts for want in part.classified.wanted]
        return tuple(sorted(found, key=lambda want: not is_new(want)))

    @property
    def whole(self) -> AppliedMutation:
        """All of it in the form of one mutation: as late as its last part."""
        applied = [part.applied for part in self.parts]
        return replace(
            self.first.applied,
            seq=max(each.seq for each in applied),
            settled_at=max(each.settled_at for each in applied),
            effects=tuple(effect for each in applied for effect in each.effects),
            before={key: value for each in reversed(applied) for key, value in each.before.items()},
        )

    def explain(self, change: ResourceChange, backlog: Backlog) -> str:
        """Why a change in a plan is not one of this change; empty if nothing says so."""
        ids = frozenset(part.applied.id for part in self.parts)
        own = (part.classified.explain(change) for part in self.parts)
        return next(filter(None, own), "") or backlog.explain(change, ids)

    def drifts(self, wanted: Sequence[Wanted]) -> list[Drift]:
        """Wanted values with who wants them."""
        actor = self.first.applied
        origin = DriftOrigin(actor=actor.actor, event=actor.operation, at=actor.at)
        return [Drift(wanted=want, before=None, origin=origin) for want in wanted]


async def one_change(
    context: ProofContext,
    first: ChangePart,
    mates: Sequence[AppliedMutation],
    backlog: Backlog,
    how: Adopt,
    *,
    unwritten: Sequence[LeftCreation] = (),
) -> OneChange:
    """The change that a mutation is a part of: with those of `mates` that make or take away what it refers to, or the other way round.

    `unwritten` is what was created outside and is not to be written. Raises `errors.TerraformFailed`, `gateway.core.errors.CodeInvalid`.
    """
    parts = [first, *_others(mates, backlog)]
    if not any(_makes_or_ends(part.classified) for part in parts):
        parts = [first]
    found = await with_new_blocks(context, parts, how)
    change = OneChange(parts=found.parts)
    wanted, lost = change.wanted, (*found.unwritten, *unwritten)
    if not lost and not any(is_new(want) or is_gone(want) for want in wanted):
        return OneChange(parts=found.parts[:1])
    code = await asyncio.to_thread(load_module, context.root)
    together = composites(code, change.drifts(wanted), lost)
    return OneChange(parts=_joined(found.parts, together), together=together)


def _others(mates: Sequence[AppliedMutation], backlog: Backlog) -> list[ChangePart]:
    parts = (
        ChangePart(applied=each, classified=classify_mutation(each, superseded=backlog.superseded(each)))
        for each in mates
    )
    return [part for part in parts if part.classified.concerns_code and not part.classified.again]


def _makes_or_ends(classified: ClassifiedDrift) -> bool:
    return bool(classified.created or classified.beside_code or any(map(is_gone, classified.wanted)))


def _joined(parts: Sequence[ChangePart], together: Composites) -> tuple[ChangePart, ...]:
    """The first part, and all that are one change with it, by whatever steps."""
    joined, rest = [parts[0]], list(parts[1:])
    while True:
        keys = {want.key for part in joined for want in part.classified.wanted}
        related = keys | {key for group in together.groups if group & keys for key in group}
        more = [part for part in rest if any(want.key in related for want in part.classified.wanted)]
        if not more:
            return tuple(joined)
        joined += more
        rest = [part for part in rest if part not in more]


async def prove_together(
    context: ProofContext, change: OneChange, missing: Sequence[Wanted], *, explain: Explain
) -> ProvedEdit:
    """The proofs of what the code does not declare; of values that are one change, all are proved, or none is.

    What holds without the rest of its change is left, with the diff that a person may apply. Raises as `prove_edits`.
    """
    known = [left for part in change.parts for left in part.classified.left]
    kept: list[Left] = []
    wanted, left = list(missing), list[Left]()
    proved = ProvedEdit()
    for _ in range(_ROUNDS):
        kept += (lost := _new(parted(change.together, change.drifts(wanted), [*known, *left]), left))
        left += lost
        wanted = _without(wanted, left)
        proved = await prove_edits(context, wanted, explain=_with_left(explain, left)) if wanted else ProvedEdit()
        left += _new(proved.left, left)
        wanted = _without(wanted, left)
        if not parted(change.together, change.drifts(wanted), [*known, *left]):
            break
    else:
        reason = "It is one change with what is left. All of such a change is written, or nothing of it."
        left += [Left(wanted=want, reason=reason) for want in wanted]
        proved = ProvedEdit()
    offers = await offered(context, kept, left, proved.edited.files, explain=explain) if kept else left
    return replace(proved, left=tuple(offers))


def _with_left(explain: Explain, left: Sequence[Left]) -> Explain:
    """`explain`, which also knows the values that are left."""
    keys = {entry.wanted.top_key for entry in left}
    return lambda change: "left to a human" if change.top_key in keys else explain(change)


def _without(wanted: Sequence[Wanted], left: Sequence[Left]) -> list[Wanted]:
    keys = {entry.wanted.key for entry in left}
    return [want for want in wanted if want.key not in keys]


def _new(entries: Sequence[Left], known: Sequence[Left]) -> list[Left]:
    keys = {entry.wanted.key for entry in known}
    return [entry for entry in entries if entry.wanted.key not in keys]
