"""Finds the wanted values that the code does not declare yet: by our own evaluator if possible, else by one cached `terraform plan`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gateway.model.mutation import WHOLE
from reconciler.drift.applied import AppliedMutation
from reconciler.model import Wanted
from reconciler.proof.declared import Declaration, read_declared
from reconciler.proof.propose import ProofContext
from reconciler.terraform.plan import TerraformPlan


@dataclass(slots=True)
class DeclaredCache:
    """The last plan of a branch without edits."""

    head: str = ""
    """The commit that was planned."""
    at: datetime = field(default_factory=lambda: datetime.min.replace(tzinfo=UTC))
    """When the plan began."""
    plan: TerraformPlan | None = None


async def undeclared(
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
