"""Plans the other roots of a repository that use an edited module: none of them may change."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reconciler.errors import TerraformFailed
from reconciler.model import Proof
from reconciler.proof.plan_difference import new_changes
from reconciler.proof.proofs import Verified, describe
from reconciler.rewrite.surroundings import Surroundings, module_directories, reached_directories
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import TerraformPlan, plan_of


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherRoot:
    """Another root of the repository that uses a module of the stack, in the copy that may be edited, and what its plan needs."""

    name: str
    root: Path
    state: Path | None
    terraform: Terraform

    async def plan(self) -> TerraformPlan | None:
        """Its plan; None if it is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
        return await plan_of(self.terraform, self.root, self.state)


def other_roots(
    around: Surroundings, source: Path, terraform: Terraform, states: Mapping[Path, Path] | None = None
) -> tuple[OtherRoot, ...]:
    """The other roots that have a state; `source` is the user's own directory of the repository that `around.top` is a copy of.

    `states` names state files by the user's directory of a root, where they are not `terraform.tfstate` in it.

    A root without a state has nothing that a plan could show to change; our evaluator has looked at it.
    """
    found = []
    for root in around.roots:
        if around.top is None:
            continue
        name = root.relative_to(around.top).as_posix()
        state, data = (
            (states or {}).get(source / name, source / name / "terraform.tfstate"),
            source / name / ".terraform",
        )
        if state.is_file() or (data / "terraform.tfstate").is_file():
            own = replace(
                terraform,
                workdir=terraform.workdir / "others" / name,
                shared_data=data if data.is_dir() else None,
            )
            found.append(OtherRoot(name=name, root=root, state=state if state.is_file() else None, terraform=own))
    return tuple(found)


def roots_using(others: Sequence[OtherRoot], root: Path, files: Iterable[Path]) -> tuple[OtherRoot, ...]:
    """The roots that use the directory of any of the files, which are named relative to `root`."""
    paths = [Path(os.path.normpath(root.resolve() / file)) for file in files]
    directories = {directory for path in paths for directory in module_directories(path)}
    return tuple(other for other in others if not directories.isdisjoint(reached_directories(other.root)))


Plans = Mapping[str, TerraformPlan | str | None]
"""By root: its plan, None if that is empty, or why there is none."""


async def plans(others: Sequence[OtherRoot]) -> Plans:
    """The plan of each root as its code is now. Raises `errors.TerraformMissing`."""
    return {other.name: await _plan(other) for other in others}


async def _plan(other: OtherRoot) -> TerraformPlan | str | None:
    try:
        return await other.plan()
    except TerraformFailed as error:
        return str(error)


def unsettled(others: Sequence[OtherRoot], after: Plans) -> list[OtherRoot]:
    """The roots whose plan with the edit has to be compared with the one without it."""
    return [other for other in others if after.get(other.name) is not None]


def with_others(verified: Verified, after: Plans, before: Plans) -> Verified:
    """The proofs, of which `nothing_else` holds only if the edit changes no plan of another root."""
    broken = [text for name, plan in after.items() if (text := _moved(name, plan, before.get(name)))]
    detail = " ".join(broken) or f"nor anything in {', '.join(after)}" if after else ""
    return replace(verified, proofs=tuple(_joined(proof, broken, detail) for proof in verified.proofs))


def _joined(proof: Proof, broken: Sequence[str], detail: str) -> Proof:
    if proof.name != "nothing_else" or not detail:
        return proof
    return replace(proof, held=proof.held and not broken, detail=f"{proof.detail}; {detail}")


def _moved(name: str, after: TerraformPlan | str | None, before: TerraformPlan | str | None) -> str:
    """What the edit changes in the plan of another root; empty if nothing."""
    if after is None:
        return ""
    if isinstance(after, str):
        return "" if isinstance(before, str) else f"With the edit, {name} cannot be planned: {after}"
    if isinstance(before, str):
        return f"Without the edit, {name} cannot be planned: {before}"
    new = new_changes(after.changes, after, before, ())
    return f"In {name}, {describe(new)}." if new else ""
