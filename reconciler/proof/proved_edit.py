"""Makes the edits for wanted values and proves them; a value that cannot be written or proved is left, with the reason."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.model import Edited, Left, Proof, Wanted, is_new
from reconciler.proof.code_copies import temporarily_written
from reconciler.proof.declarations import Declaration, read_declared
from reconciler.proof.other_roots import OtherRoot, plans, roots_using, unsettled, with_others
from reconciler.proof.plan_errors import refused_by_plan
from reconciler.proof.proofs import CatchUp, Explain, Verified, verify
from reconciler.proof.suggested_edits import SuggestionRounds
from reconciler.rewrite.edits import edit_code
from reconciler.rewrite.surroundings import Surroundings
from reconciler.rewrite.value_edits import Live
from reconciler.terraform.cli import Terraform
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.plan import ResourceChange, TerraformPlan, plan_of
from reconciler.terraform.state import planning_against, state_without

_ROUNDS = 4
"""How often one mutation's edits are planned at most."""
ChangedSince = Callable[[Wanted], str]
"""Which mutation changed a wanted value since, as half a sentence: `mut_2 set it since`; empty if none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofContext:
    """A copy of the code that may be edited and planned, with what a plan needs."""

    terraform: Terraform
    root: Path
    """The stack's root module, in a directory that we may write to."""
    state: Path | None
    """The state file; None lets the code's own backend find the state."""
    catch_up: CatchUp | None = None
    keep_plan: bool = False
    """Whether the plan file of edited code is kept, so that it can be applied to the state. Its maker removes it."""
    changed_since: ChangedSince | None = None
    around: Surroundings | None = None
    """The code around the stack in its repository; None if none of it may be edited."""
    others: tuple[OtherRoot, ...] = ()
    """The roots in it that are planned too if an edited module is theirs as well."""
    asked: SuggestionRounds | None = None
    """Suggestions for values that no editor can write; None: there are none."""
    live: Live = field(default_factory=dict)
    """The attributes of resources and data sources by address, as far as they are known: what the code refers to."""
    recorded: Callable[[], Awaitable[Live]] | None = None
    """Reads from the state what `live` lacks. It is called only for values that no edit leads to without, since large states take time."""

    async def plan(self) -> TerraformPlan | None:
        """The plan of the code as it is now; None if the plan is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
        return await plan_of(self.terraform, self.root, self.state)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedEdit:
    """Edits of which every proof holds, possibly no edits, and the values that are left."""

    edited: Edited = field(default_factory=Edited)
    proofs: tuple[Proof, ...] = ()
    left: tuple[Left, ...] = ()
    noted: tuple[ResourceChange, ...] = ()
    """The changes that the plan has with the edits and without them: differences of others, which stay as they were."""


async def prove_edits(context: ProofContext, wanted: Sequence[Wanted], *, explain: Explain) -> ProvedEdit:
    """Edit and verify with the values of the call, and if that fails again with the values as the provider returns them, and without those that
    an error of the plan is about.

    If the plan of the edited code is not clean, it is held against the plan of the unedited code: what that shows too is only noted.
    Afterwards the files in `context` are as before. Raises `errors.TerraformFailed` only if the unedited code cannot be planned.
    """
    left: list[Left] = []
    for _ in range(_ROUNDS):
        edited, verified = await attempt(context, wanted, explain=explain, own_left=left)
        verified = await _beside_unedited(context, edited, verified, _with_left(explain, edited, left))
        left.extend(edited.left)
        if not edited.edits:
            return ProvedEdit(edited=edited, left=tuple(left))
        if verified and verified.holds:
            return ProvedEdit(edited=edited, proofs=verified.proofs, left=tuple(left), noted=verified.noted)
        if refused := refused_by_plan(verified.broken, edited) if verified and verified.failed else ():
            left.extend(refused)
            wanted = _not_in(left, edited)
        else:
            wanted, changed = _as_provider_sees(edited, verified, context.changed_since)
            left.extend(changed)
        if not wanted:
            break
    return ProvedEdit(left=(*left, *(_unproved(want, edited, verified) for want in _not_in(left, edited))))


async def attempt(
    context: ProofContext, wanted: Sequence[Wanted], *, explain: Explain, own_left: Sequence[Left] = ()
) -> tuple[Edited, Verified | None]:
    """Edit, write and verify once, then restore the files. `Verified` is None if no edit could be made.

    Values that no editor can write are suggested, if the context has suggestions; unless all proofs hold, they are dropped.
    Changes in the plan that belong to values in `own_left` count as explained.
    """
    edited = edit_code(context.root, wanted, context.around, context.live)
    if edited.left and context.recorded is not None:
        edited = edit_code(context.root, wanted, context.around, {**await context.recorded(), **context.live})
    if context.asked is not None and edited.left:
        more = await context.asked.complete(context.root, edited)
        verified = await _verified(context, more.edited, explain, own_left) if more.suggested else None
        if verified and verified.holds:
            context.asked.passed(more.suggested)
            return more.edited, verified
    return edited, await _verified(context, edited, explain, own_left)


async def _verified(
    context: ProofContext, edited: Edited, explain: Explain, own_left: Sequence[Left]
) -> Verified | None:
    if not edited.edits:
        return None
    with temporarily_written(context.root, edited.files) as before:
        verified = await verify(
            context.terraform,
            context.root,
            edited=edited,
            before=before,
            state=context.state,
            explain=_with_left(explain, edited, own_left),
            catch_up=context.catch_up,
            keep_plan=context.keep_plan,
        )
        others = roots_using(context.others, context.root, edited.files) if verified.holds else ()
        after = await plans(others)
    return with_others(verified, after, await plans(unsettled(others, after)))


def _with_left(explain: Explain, edited: Edited, own_left: Sequence[Left]) -> Explain:
    """`explain`, which also knows the values that are left to a human. Of a new resource none may be: its block would change what is there."""
    new = {made.wanted.address for made in edited.edits if is_new(made.wanted)}
    left_keys = {left.wanted.top_key for left in (*edited.left, *own_left) if left.wanted.address not in new}
    return lambda change: "left to a human" if change.top_key in left_keys else explain(change)


async def _beside_unedited(
    context: ProofContext, edited: Edited, verified: Verified | None, explain: Explain
) -> Verified | None:
    """The verdict held against a plan of the unedited code, if that may change it.

    If `plan` failed on the edited code and fails on the unedited code as well, this raises, because the edit is not the cause.
    """
    if verified is None or not (verified.failed or verified.unexplained):
        return verified
    before = await context.plan()
    if context.catch_up is not None:
        await context.catch_up()
    return verified.beside(before, edited, explain)


def _as_provider_sees(
    edited: Edited, verified: Verified | None, changed_since: ChangedSince | None
) -> tuple[tuple[Wanted, ...], list[Left]]:
    """The wanted values in the provider's form (empty if that changes nothing), and those that are no longer the live value."""
    if verified is None or verified.plan is None:
        return (), []
    unexplained = {change.top_key for change in verified.unexplained}
    wanted: list[Wanted] = []
    unsaid = _unsaid(edited, verified.unexplained, verified.plan)
    left: list[Left] = []
    rewritten = False
    for want in _wanted(edited):
        if want.top_key not in unexplained:
            wanted.append(want)
            continue
        live = verified.plan.live(want.address, want.attribute)
        if agrees(want.value, live) and not same(want.value, live):
            wanted.append(replace(want, value=live))
            rewritten = True
        elif not agrees(want.value, live):
            left.append(Left(wanted=want, reason=_not_live(want, live, changed_since)))
    return ((*wanted, *unsaid) if rewritten or left or unsaid else ()), left


def _unsaid(edited: Edited, unexplained: Sequence[ResourceChange], plan: TerraformPlan) -> list[Wanted]:
    """The live attributes of new resources that their blocks lack, as values that are wanted too. Their consequences are not known yet."""
    new = {made.wanted.address for made in edited.edits if is_new(made.wanted)}
    return [
        Wanted(address=change.address, attribute=change.attribute, value=change.live, before=change.other)
        for change in unexplained
        if change.address in new and change.attribute != WHOLE and not (change.sensitive or plan.is_open(change))
    ]


def _not_live(want: Wanted, live: Json, changed_since: ChangedSince | None) -> str:
    cause = (changed_since(want) if changed_since else "") or (
        "no recorded mutation set it since, so it was changed outside of Sentinel, by somebody or by AWS itself"
    )
    return f"Live is {live!r} and not {want.value!r} any more: {cause}."


def _unproved(want: Wanted, edited: Edited, verified: Verified | None) -> Left:
    chain = next((made.chain for made in edited.edits if made.wanted == want), ())
    return Left(wanted=want, reason=f"It was not written. {verified.broken if verified else ''}".strip(), chain=chain)


def _not_in(left: Sequence[Left], edited: Edited) -> list[Wanted]:
    known = {entry.wanted.key for entry in left}
    return [want for want in _wanted(edited) if want.key not in known]


def _wanted(edited: Edited) -> list[Wanted]:
    """The wanted values of the edits, each (address, attribute) once."""
    first: dict[tuple[str, str], Wanted] = {}
    for made in edited.edits:
        first.setdefault(made.wanted.key, made.wanted)
    return list(first.values())


@dataclass(slots=True)
class DeclaredCache:
    """The last plan of a branch without edits."""

    head: str = ""
    """The commit that was planned."""
    at: datetime = field(default_factory=lambda: datetime.min.replace(tzinfo=UTC))
    """When the plan began."""
    plan: TerraformPlan | None = None


async def undeclared_values(
    context: ProofContext, cache: DeclaredCache, applied: AppliedMutation, wanted: Sequence[Wanted], *, head: str
) -> tuple[Wanted, ...]:
    """The wanted values that the code does not declare.

    If the expression depends on the live system, or if Terraform itself sent a value that its code leaves unset, only a plan
    can show it. A plan of the same commit (`head`) that began after the mutation is reused, so a whole `terraform apply`
    costs one plan. Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    declared = list(zip(wanted, read_declared(context.root, wanted), strict=True))
    unsure = {Declaration.UNSURE, *([Declaration.OTHER, Declaration.NOTHING] if applied.kind == "pipeline" else [])}
    missing = [want for want, code in declared if code.says is not Declaration.THIS and code.says not in unsure]
    undecided = [want for want, code in declared if code.says in unsure]
    if undecided:
        plan = await _cached_plan(context, cache, after=applied.settled_at, head=head)
        missing += [want for want in undecided if _differs(plan, want)]
    return tuple(missing)


async def _cached_plan(
    context: ProofContext, cache: DeclaredCache, *, after: datetime, head: str
) -> TerraformPlan | None:
    if cache.head != head or cache.at <= after:
        began = datetime.now(UTC)
        cache.plan = await context.plan()
        cache.head, cache.at = head, began
    return cache.plan


def _differs(plan: TerraformPlan | None, want: Wanted) -> bool:
    return plan is not None and any(
        change.address == want.address and change.top in {want.path.top, WHOLE} for change in plan.changes
    )


@asynccontextmanager
async def without_replaced(context: ProofContext, addresses: Collection[str]) -> AsyncIterator[ProofContext]:
    """The context without the resources at the addresses, until the block ends; the same one if there are none.

    Terraform imports nothing to an address that the state has, so the import of what took its place shows in no other plan.
    Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    if not addresses:
        yield context
        return
    terraform, root, is_file = context.terraform, context.root, context.state is not None
    scratch = await state_without(terraform, root, context.state, addresses)
    with planning_against(terraform, root, scratch, is_file=is_file) as planning:
        yield replace(context, terraform=planning, state=scratch if is_file else None, keep_plan=False)
