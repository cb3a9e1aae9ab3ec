"""Proves an edit before it may be proposed: every proof of the design, each with what was looked at."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reconciler.errors import TerraformFailed
from reconciler.model import Edit, Edited, Proof, Wanted
from reconciler.proof.declared import Declaration, read_declared
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan, read_plan

Explain = Callable[[ResourceChange], str]
"""Why a change that the plan still shows is not the edit's doing, e.g. the mutation it belongs to; empty where nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The proofs of one edit, and the plan they rest on."""

    proofs: tuple[Proof, ...]
    plan: TerraformPlan | None = None
    """What the plan would still change; None where it is empty or was not reached."""
    unexplained: tuple[ResourceChange, ...] = ()
    failed: bool = False
    """Whether terraform could not plan the edited code at all."""

    @property
    def holds(self) -> bool:
        """Whether every proof holds."""
        return bool(self.proofs) and all(proof.held for proof in self.proofs)

    @property
    def broken(self) -> str:
        """The proofs that do not hold, as sentences."""
        return " ".join(f"Proof {proof.name} does not hold: {proof.detail}" for proof in self.proofs if not proof.held)


async def verify(
    terraform: Terraform,
    root: Path,
    *,
    edited: Edited,
    before: Mapping[Path, bytes],
    state: Path | None,
    explain: Explain,
) -> Verified:
    """Prove that `edited`, already written to `root`, does what is wanted and nothing else.

    `before` holds the bytes of every changed file as they were. The cheap proofs come first; the plan is only made where
    they hold. Raises `errors.TerraformMissing`.
    """
    text = await text_proofs(terraform, edited, before)
    proofs = (*text, captured(root, [edit.wanted for edit in edited.edits]))
    if not all(proof.held for proof in proofs):
        return Verified(proofs=proofs)
    try:
        file = await terraform.plan(root, state=state)
        plan = read_plan(await terraform.show(root, file)) if file else None
    except TerraformFailed as error:
        return Verified(proofs=(*proofs, Proof(name="plan_clean", held=False, detail=str(error))), failed=True)
    unexplained = tuple(change for change in (plan.changes if plan else ()) if not explain(change))
    return Verified(
        proofs=(*proofs, *plan_proofs(plan, unexplained, edited, explain)), plan=plan, unexplained=unexplained
    )


async def text_proofs(terraform: Terraform, edited: Edited, before: Mapping[Path, bytes]) -> tuple[Proof, ...]:
    """parses, formatted, untouched and nothing_hidden. Raises `errors.TerraformMissing`."""
    broken, untidy = [], []
    for path, content in edited.files.items():
        formatted = await terraform.format(content)
        if formatted is None:
            broken.append(str(path))
        elif formatted != content and await terraform.format(before[path]) == before[path]:
            untidy.append(str(path))
    astray = [
        str(path) for path in edited.files if not _only_edits(before[path], edited.files[path], _of(path, edited))
    ]
    hiding = [str(path) for path, new in edited.files.items() if _hidden(new) > _hidden(before[path])]
    return (
        _proof("parses", broken, "terraform fmt reads every edited file", "does not parse after the edit"),
        _proof(
            "formatted",
            untidy,
            "what was formatted still is",
            "was formatted as terraform fmt does and is not any more",
        ),
        _proof("untouched", astray, "every byte outside the edits is as it was", "changed outside the edits"),
        _proof("nothing_hidden", hiding, "no ignore_changes was added", "has a new ignore_changes"),
    )


def captured(root: Path, wanted: Sequence[Wanted]) -> Proof:
    """Whether our own evaluator, reading the edited code, comes to each wanted value.

    This catches what a plan cannot see: an attribute that is Optional and Computed and not set in code. An expression that is
    there and hangs on the live system is for the plan to prove.
    """
    found = list(zip(wanted, read_declared(root, wanted), strict=True))
    missed = [
        f"The code gives {code.value!r} ({code.says.value}) for {want.address}.{want.attribute}, wanted is {want.value!r}."
        for want, code in found
        if code.says not in {Declaration.THIS, Declaration.UNSURE}
    ]
    unsure = [f"{want.address}.{want.attribute}" for want, code in found if code.says is Declaration.UNSURE]
    rest = f"; by the plan alone, since its value hangs on the live system: {', '.join(unsure)}" if unsure else ""
    detail = " ".join(missed) or f"the edited code declares every wanted value{rest}"
    return Proof(name="captured", held=not missed, detail=detail)


def plan_proofs(
    plan: TerraformPlan | None, unexplained: Sequence[ResourceChange], edited: Edited, explain: Explain
) -> tuple[Proof, Proof]:
    """plan_clean and nothing_else, from a plan that is empty (None) or not."""
    ours = {edit.wanted.address for edit in edited.edits}
    at_home = [change for change in unexplained if change.address in ours]
    elsewhere = [change for change in unexplained if change.address not in ours]
    return (
        Proof(name="plan_clean", held=not unexplained, detail=_clean_detail(plan, unexplained, explain)),
        Proof(
            name="nothing_else",
            held=not elsewhere,
            detail=describe(elsewhere) or f"no other address changes{'' if not at_home else ' than those edited'}",
        ),
    )


def describe(changes: Sequence[ResourceChange]) -> str:
    """Changes in words, at most five of them. A secret's values are not shown."""
    said = [_described(change) for change in changes[:5]]
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""  # noqa: PLR2004  as the docstring says
    return "; ".join(said) + more


def _described(change: ResourceChange) -> str:
    values = "" if change.sensitive or change.attribute == "*" else f" from {change.live!r} to {change.other!r}"
    return f"the plan would {' and '.join(change.actions)} {change.address}.{change.attribute}{values}"


def _clean_detail(plan: TerraformPlan | None, unexplained: Sequence[ResourceChange], explain: Explain) -> str:
    if unexplained:
        return describe(unexplained) + "."
    if plan is None:
        return "terraform plan -detailed-exitcode ends with 0"
    if not plan.changes:
        return f"only outputs follow what is live: {', '.join(plan.outputs)}"
    return "; ".join(f"{change.address}.{change.attribute}: {explain(change)}" for change in plan.changes)


def _proof(name: str, failing: Sequence[str], holds: str, fails: str) -> Proof:
    return Proof(name=name, held=not failing, detail=f"{', '.join(failing)} {fails}." if failing else holds)


def _of(path: Path, edited: Edited) -> list[Edit]:
    return [edit for edit in edited.edits if edit.path == path]


def _only_edits(old: bytes, new: bytes, edits: Sequence[Edit]) -> bool:
    """Whether the edits, made one after the other, lead from the old bytes to the new ones."""
    for edit in edits:
        if old[edit.start : edit.end] != edit.old:
            return False
        old = old[: edit.start] + edit.new + old[edit.end :]
    return old == new


def _hidden(source: bytes) -> int:
    return source.count(b"ignore_changes")
