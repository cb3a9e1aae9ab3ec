"""The report on a working copy that was reconciled, and how its edits are written."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gateway.core.errors import CodeInvalid
from reconciler.adoption.model import LeftCreation
from reconciler.model import Drift, Edited, Left, Proof, unified_diff
from reconciler.rewrite.surroundings import repository_of

if TYPE_CHECKING:
    from reconciler.proof.proved_edit import ProofContext
    from reconciler.terraform.cli import SavedPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of reconciling a working copy."""

    drifts: tuple[Drift, ...] = ()
    """The drift that the edits write back; all of it is proved."""
    edited: Edited = field(default_factory=Edited)
    before: Mapping[Path, bytes] = field(default_factory=dict)
    """The previous bytes of the edited files that were there."""
    left: tuple[Left, ...] = ()
    created: tuple[LeftCreation, ...] = ()
    """What the events say was created, and what is not written."""
    noted: tuple[str, ...] = ()
    """What the events tell of besides, and what is accounted for: a sentence each."""
    bad_events: tuple[str, ...] = ()
    """What could not be read of the events, a sentence each: nobody knows what it tells of."""
    proofs: tuple[Proof, ...] = ()
    pending: str = ""
    """Why `terraform plan -detailed-exitcode` still exits with 2, although nothing is left: the state is not up to date. A sentence."""
    planned: bool = True
    """Whether a plan was made; without one, only the text of the edits is proved."""
    context: "ProofContext | None" = field(default=None, repr=False)
    """The copy that was edited and planned."""
    replaced: tuple[str, ...] = ()
    """Addresses whose resource is another one now: the state has to forget the old one before it can have the new one."""
    shown: frozenset[str] = frozenset()
    """The addresses that the plan of the code with the edits still changes."""
    saved: "SavedPlan | None" = field(default=None, repr=False)
    """The plan file of the code with the edits, if it would change nothing but the state."""

    @property
    def clean(self) -> bool:
        """Whether `terraform plan -detailed-exitcode` exits with 0 once the edits are written, and all that the events tell of is accounted for."""
        return not (self.left or self.created or self.pending or self.bad_events)

    @property
    def can_be_refreshed(self) -> bool:
        """Whether the state can be brought up to date with the edited code."""
        return bool(self.saved or self.replaced or self.edited.files)

    @property
    def diff(self) -> str:
        """The unified diff of all edits."""
        return "".join(
            unified_diff(path, self.before.get(path, b""), new) for path, new in sorted(self.edited.files.items())
        )


def write(path: Path, report: Report) -> None:
    """Write the edited files into the working copy: all of them, or none.

    Raises `gateway.core.errors.CodeInvalid`, and writes nothing, if one of them changed since it was read, or cannot be written.
    """
    for name, before in report.before.items():
        if (path / name).read_bytes() != before:
            message = f"{path / name} was changed while Sentinel worked on it, so nothing was written. Run it again."
            raise CodeInvalid(message)
    if taken := [name for name in report.edited.files if name not in report.before and (path / name).exists()]:
        message = f"{path / taken[0]} was made while Sentinel worked, so nothing was written. Run it again."
        raise CodeInvalid(message)
    top = repository_of(path)
    if outside := [name for name in report.edited.files if not (path / name).resolve().is_relative_to(top)]:
        message = f"{path / outside[0]} leads out of the repository {top}, so nothing was written."
        raise CodeInvalid(message)
    targets = {(path / name).resolve(): content for name, content in report.edited.files.items()}
    temporary = {target: target.with_name(f".{target.name}.sentinel") for target in targets}
    try:
        # A full disk shows here, before any file has its new content: taking a file's place needs no room.
        for target, content in targets.items():
            _on_disk(temporary[target], content)
            if target.exists():
                shutil.copymode(target, temporary[target])
    except OSError as error:
        for each in temporary.values():
            each.unlink(missing_ok=True)
        message = (
            f"{path} cannot be written: {error}. Nothing was written; make room or give the rights, and run it again."
        )
        raise CodeInvalid(message) from error
    for target, each in temporary.items():
        each.replace(target)


def _on_disk(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
