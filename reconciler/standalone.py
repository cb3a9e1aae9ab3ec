"""Brings any working copy in line with what is live, with no gateway: plan, find what drifted, edit a copy, prove it."""

import difflib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import commonpath
from pathlib import Path

from gateway.errors import CodeInvalid
from reconciler.drift.classify import foreign
from reconciler.drift.cloudtrail import Event, attribute
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
    """What was found and made of it."""

    drifts: tuple[Drift, ...] = ()
    """Written or, with `--diff`, shown; every one is proved."""
    edited: Edited = field(default_factory=Edited)
    before: Mapping[Path, bytes] = field(default_factory=dict)
    """The edited files as they were."""
    left: tuple[Left, ...] = ()
    proofs: tuple[Proof, ...] = ()

    @property
    def clean(self) -> bool:
        """Whether the plan is empty with the edits."""
        return not self.left

    @property
    def diff(self) -> str:
        """The unified diff of all edits."""
        return "".join(_diff(path, self.before[path], new) for path, new in sorted(self.edited.files.items()))


async def reconcile_copy(
    terraform: Terraform, path: Path, *, state: Path | None, events: Sequence[Event], workdir: Path
) -> Report:
    """What drifted in the stack at `path`, as proved edits; `path` itself is only read.

    Raises `errors.TerraformFailed`, `errors.TerraformMissing`, `gateway.errors.CodeInvalid`.
    """
    root = copy_code(path, workdir / "copy")
    ground = ProofContext(terraform=terraform, root=root, state=state)
    plan = await ground.plan()
    if plan is None or not plan.changes:
        return Report()
    drifts, left = foreign(plan, attribute(events, plan))
    return await _settle(ground, list(drifts), list(left), events, path)


def write(path: Path, report: Report) -> None:
    """Write the edited files into the working copy, each whole or not at all.

    Raises `gateway.errors.CodeInvalid` where one of them changed since it was read; then nothing was written.
    """
    for name, before in report.before.items():
        if (path / name).read_bytes() != before:
            message = f"{path / name} was changed while Sentinel worked on it, so nothing was written. Run it again."
            raise CodeInvalid(message)
    for name, content in report.edited.files.items():
        target = (path / name).resolve()
        fresh = target.with_name(f".{target.name}.sentinel")
        fresh.write_bytes(content)
        shutil.copymode(target, fresh)
        fresh.replace(target)


def copy_code(path: Path, target: Path) -> Path:
    """Copy the stack with the local modules it uses; the copy's root module. State and plug-ins are left where they are."""
    path = path.resolve()
    top = Path(commonpath([path, *_modules(path, set())]))
    shutil.copytree(top, target, ignore=shutil.ignore_patterns(*_NOT_COPIED), symlinks=True)
    return target / path.relative_to(top)


async def _settle(
    ground: ProofContext, drifts: list[Drift], left: list[Left], events: Sequence[Event], path: Path
) -> Report:
    """Edit and prove, taking in what the plan shows only then and letting go of what cannot be proved, until it holds."""
    for _ in range(_ROUNDS):
        if not drifts:
            break
        wanted = [drift.wanted for drift in drifts]
        edited, verified = await attempt(ground, wanted, explain=lambda _: "", own_left=left)
        left += _fresh(edited.left, left)
        drifts = [drift for drift in drifts if _key(drift.wanted) not in {_key(entry.wanted) for entry in left}]
        if verified is None:
            break
        if verified.holds:
            before = {name: (path / name).read_bytes() for name in edited.files}
            return Report(drifts=tuple(drifts), edited=edited, before=before, left=tuple(left), proofs=verified.proofs)
        more, lost = _learn(verified, drifts, events)
        left += _fresh(lost, left)
        gone = {_key(entry.wanted) for entry in left}
        drifts = [*(drift for drift in drifts if _key(drift.wanted) not in gone), *more]
    left += _fresh([Left(wanted=drift.wanted, reason="No edit of it could be proved.") for drift in drifts], left)
    return Report(left=tuple(left))


def _learn(verified: Verified, drifts: Sequence[Drift], events: Sequence[Event]) -> tuple[list[Drift], list[Left]]:
    """From a round that did not hold: drift that shows only now, and what cannot be proved."""
    if verified.plan is None:
        return [], [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    found, left = foreign(verified.plan, attribute(events, verified.plan))
    tops = {_top(drift.wanted) for drift in drifts}
    stubborn = {_top(drift.wanted) for drift in found} & tops
    lost = [
        Left(
            wanted=drift.wanted,
            reason=f"It was not written: with the edit, {describe(_about(drift.wanted, verified.plan))}.",
        )
        for drift in drifts
        if _top(drift.wanted) in stubborn
    ]
    more = [drift for drift in found if _top(drift.wanted) not in tops]
    if not lost and not more and not left:
        lost = [Left(wanted=drift.wanted, reason=f"It was not written. {verified.broken}") for drift in drifts]
    return more, [*left, *lost]


def _about(wanted: Wanted, plan: TerraformPlan) -> list[ResourceChange]:
    return [change for change in plan.changes if (change.address, change.top) == _top(wanted)]


def _fresh(entries: Sequence[Left], known: Sequence[Left]) -> list[Left]:
    keys = {_key(entry.wanted) for entry in known}
    return [entry for entry in entries if _key(entry.wanted) not in keys]


def _key(wanted: Wanted) -> tuple[str, str]:
    return wanted.address, wanted.attribute


def _top(wanted: Wanted) -> tuple[str, str]:
    return wanted.address, wanted.attribute.partition(".")[0]


def _modules(directory: Path, seen: set[Path]) -> Iterator[Path]:
    """The directories of local modules that the code in a directory calls, and of those they call."""
    seen.add(directory)
    for file in directory.glob("*.tf"):
        for source in _MODULE.findall(file.read_bytes()):
            module = (directory / source.decode()).resolve()
            if module.is_dir() and module not in seen:
                yield module
                yield from _modules(module, seen)


def _diff(path: Path, old: bytes, new: bytes) -> str:
    one, other = (content.decode(errors="replace").splitlines(keepends=True) for content in (old, new))
    made = difflib.unified_diff(one, other, fromfile=f"a/{path}", tofile=f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in made)
