"""Writes drift back into any working copy, without a gateway: plan, classify the drift, edit a copy, prove the edits."""

import difflib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os.path import commonpath
from pathlib import Path

from gateway.errors import CodeInvalid
from reconciler.drift.classify import classify_foreign_drift
from reconciler.drift.cloudtrail import Event, origins
from reconciler.model import Drift, Edited, Left, Proof, Wanted
from reconciler.proof.proofs import Verified, describe
from reconciler.proof.propose import ProofContext, attempt
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_ROUNDS = 4
_MODULE = re.compile(rb'^\s*source\s*=\s*"(\.\.?/[^"]*)"', re.MULTILINE)
_NOT_COPIED = (".git", ".terraform", "*.tfstate", "*.tfstate.*", "node_modules", ".venv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of reconciling a working copy."""

    drifts: tuple[Drift, ...] = ()
    """The drift that the edits write back; all of it is proved."""
    edited: Edited = field(default_factory=Edited)
    before: Mapping[Path, bytes] = field(default_factory=dict)
    """The previous bytes of the edited files."""
    left: tuple[Left, ...] = ()
    proofs: tuple[Proof, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether nothing is left, so that the plan with the edits is empty."""
        return not self.left

    @property
    def diff(self) -> str:
        """The unified diff of all edits."""
        return "".join(_diff(path, self.before[path], new) for path, new in sorted(self.edited.files.items()))


async def reconcile_copy(
    terraform: Terraform, path: Path, *, state: Path | None, events: Sequence[Event], workdir: Path
) -> Report:
    """The drift of the stack at `path`, as proved edits; `path` itself is only read.

    Raises `errors.TerraformFailed`, `errors.TerraformMissing`, `gateway.errors.CodeInvalid`.
    """
    root = copy_code(path, workdir / "copy")
    context = ProofContext(terraform=terraform, root=root, state=state)
    plan = await context.plan()
    if plan is None or not plan.changes:
        return Report()
    drifts, left = classify_foreign_drift(plan, origins(events, plan))
    return await _prove(replace(context, live=plan.live_values), list(drifts), list(left), events, path)


def write(path: Path, report: Report) -> None:
    """Write the edited files into the working copy, each atomically.

    Raises `gateway.errors.CodeInvalid`, and writes nothing, if one of them changed since it was read.
    """
    for name, before in report.before.items():
        if (path / name).read_bytes() != before:
            message = f"{path / name} was changed while Sentinel worked on it, so nothing was written. Run it again."
            raise CodeInvalid(message)
    for name, content in report.edited.files.items():
        target = (path / name).resolve()
        temporary = target.with_name(f".{target.name}.sentinel")
        temporary.write_bytes(content)
        shutil.copymode(target, temporary)
        temporary.replace(target)


def copy_code(path: Path, target: Path) -> Path:
    """Copy the stack and the local modules it uses, without state and plug-ins. Returns the root module of the copy."""
    path = path.resolve()
    top = Path(commonpath([path, *_modules(path, set())]))
    shutil.copytree(top, target, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)
    return target / path.relative_to(top)


async def _prove(
    context: ProofContext, drifts: list[Drift], left: list[Left], events: Sequence[Event], path: Path
) -> Report:
    """Edit and prove in rounds: add drift that only the plan of the edited code shows, drop drift that cannot be proved."""
    for _ in range(_ROUNDS):
        if not drifts:
            break
        wanted = [drift.wanted for drift in drifts]
        edited, verified = await attempt(context, wanted, explain=lambda _: "", own_left=left)
        left += _new(edited.left, left)
        drifts = _without(drifts, left)
        if verified is None:
            break
        if verified.holds:
            before = {name: (path / name).read_bytes() for name in edited.files}
            return Report(drifts=tuple(drifts), edited=edited, before=before, left=tuple(left), proofs=verified.proofs)
        more, unproved = _next_round(verified, drifts, events)
        left += _new(unproved, left)
        drifts = [*_without(drifts, left), *more]
    left += _new([Left(wanted=drift.wanted, reason="No edit of it could be proved.") for drift in drifts], left)
    return Report(left=tuple(left))


def _next_round(verified: Verified, drifts: Sequence[Drift], events: Sequence[Event]) -> tuple[list[Drift], list[Left]]:
    """After a round that did not hold: drift that shows only now, and the values that cannot be proved."""
    if verified.plan is None:
        return [], [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    found, left = classify_foreign_drift(verified.plan, origins(events, verified.plan))
    edited = {drift.wanted.top_key for drift in drifts}
    still_drifted = {drift.wanted.top_key for drift in found} & edited
    unproved = [
        Left(
            wanted=drift.wanted,
            reason=f"It was not written: with the edit, {describe(_changes_of(drift.wanted, verified.plan))}.",
        )
        for drift in drifts
        if drift.wanted.top_key in still_drifted
    ]
    more = [drift for drift in found if drift.wanted.top_key not in edited]
    if not unproved and not more and not left:
        unproved = [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    return more, [*left, *unproved]


def _changes_of(wanted: Wanted, plan: TerraformPlan) -> list[ResourceChange]:
    return [change for change in plan.changes if change.top_key == wanted.top_key]


def _new(entries: Sequence[Left], known: Sequence[Left]) -> list[Left]:
    keys = {entry.wanted.key for entry in known}
    return [entry for entry in entries if entry.wanted.key not in keys]


def _without(drifts: Sequence[Drift], left: Sequence[Left]) -> list[Drift]:
    keys = {entry.wanted.key for entry in left}
    return [drift for drift in drifts if drift.wanted.key not in keys]


def _modules(directory: Path, seen: set[Path]) -> Iterator[Path]:
    """The directories of the local modules that the code in a directory calls, directly or indirectly."""
    seen.add(directory)
    for file in directory.glob("*.tf"):
        for source in _MODULE.findall(file.read_bytes()):
            module = (directory / source.decode()).resolve()
            if module.is_dir() and module not in seen:
                yield module
                yield from _modules(module, seen)


def _diff(path: Path, old: bytes, new: bytes) -> str:
    before, after = (content.decode(errors="replace").splitlines(keepends=True) for content in (old, new))
    lines = difflib.unified_diff(before, after, fromfile=f"a/{path}", tofile=f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
