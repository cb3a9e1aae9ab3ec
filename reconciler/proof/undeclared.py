"""Finds which wanted values the code does not declare yet; most are told without terraform, the rest by one plan for many."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from reconciler.drift.applied import AppliedMutation
from reconciler.model import Wanted
from reconciler.proof.declared import Declaration, read_declared
from reconciler.proof.propose import ProofContext
from reconciler.terraform.plan import TerraformPlan


@dataclass(slots=True)
class DeclaredCache:
    """The last plan made of a branch without any edit, and when and of what it was made."""

    head: str = ""
    at: datetime = field(default_factory=lambda: datetime.min.replace(tzinfo=UTC))
    plan: TerraformPlan | None = None


async def undeclared(
    ground: ProofContext, glance: DeclaredCache, applied: AppliedMutation, wanted: Sequence[Wanted], *, head: str
) -> tuple[Wanted, ...]:
    """Those of the wanted values that the code does not declare.

    Where the expression hangs on the live system, or where Terraform itself sent what its code leaves unset, only a plan
    can tell; a plan of the same commit (`head`) made after the mutation serves again, so that a whole `terraform apply`
    costs one. Raises `errors.TerraformFailed`, `errors.TerraformMissing`.
    """
    said = list(zip(wanted, read_declared(ground.root, wanted), strict=True))
    unsure = {Declaration.UNSURE, *([Declaration.OTHER, Declaration.NOTHING] if applied.kind == "pipeline" else [])}
    missing = [want for want, code in said if code.says is not Declaration.THIS and code.says not in unsure]
    asked = [want for want, code in said if code.says in unsure]
    if asked:
        plan = await _look(ground, glance, after=applied.settled_at, head=head)
        missing += [want for want in asked if _differs(plan, want)]
    return tuple(missing)


async def _look(ground: ProofContext, glance: DeclaredCache, *, after: datetime, head: str) -> TerraformPlan | None:
    if glance.head != head or glance.at <= after:
        began = datetime.now(UTC)
        glance.plan = await ground.plan()
        glance.head, glance.at = head, began
    return glance.plan


def _differs(plan: TerraformPlan | None, want: Wanted) -> bool:
    top = want.attribute.partition(".")[0]
    return plan is not None and any(
        change.address == want.address and change.top in {top, "*"} for change in plan.changes
    )
