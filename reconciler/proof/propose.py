"""Makes the edits for wanted values and proves them; a value that cannot be written or proved is left, with the reason."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from reconciler.model import Edited, Left, Proof, Wanted
from reconciler.proof.proofs import Explain, Verified, verify
from reconciler.rewrite.edit import edit
from reconciler.terraform.cli import Terraform
from reconciler.terraform.compare import agrees, same
from reconciler.terraform.plan import TerraformPlan, read_plan


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofContext:
    """A copy of the code that may be edited and planned, with what a plan needs."""

    terraform: Terraform
    root: Path
    """The stack's root module, in a directory that we may write to."""
    state: Path | None
    """The state file; None lets the code's own backend find the state."""

    async def plan(self) -> TerraformPlan | None:
        """The plan of the code as it is now; None if the plan is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
        file = await self.terraform.plan(self.root, state=self.state)
        return read_plan(await self.terraform.show(self.root, file)) if file else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedEdit:
    """Edits of which every proof holds, possibly no edits, and the values that are left."""

    edited: Edited = field(default_factory=Edited)
    proofs: tuple[Proof, ...] = ()
    left: tuple[Left, ...] = ()


async def propose(context: ProofContext, wanted: Sequence[Wanted], *, explain: Explain) -> ProvedEdit:
    """Edit and verify with the values of the call, and if that fails once more with the values as the provider returns them.

    Afterwards the files in `context` are as before. Raises `errors.TerraformFailed` only if the unedited code cannot be planned.
    """
    left: list[Left] = []
    for _ in range(2):
        edited, verified = await attempt(context, wanted, explain=explain, own_left=left)
        left.extend(edited.left)
        if not edited.edits or (verified and verified.holds):
            return ProvedEdit(edited=edited, proofs=verified.proofs if verified else (), left=tuple(left))
        await _check_unedited_plan(context, verified)
        wanted, changed_since = _as_provider_sees(edited, verified)
        left.extend(changed_since)
        if not wanted:
            break
    return ProvedEdit(left=(*left, *(_unproved(want, edited, verified) for want in _not_in(left, edited))))


async def attempt(
    context: ProofContext, wanted: Sequence[Wanted], *, explain: Explain, own_left: Sequence[Left] = ()
) -> tuple[Edited, Verified | None]:
    """Edit, write and verify once, then restore the files. `Verified` is None if no edit could be made.

    Changes in the plan that belong to values in `own_left` count as explained.
    """
    edited = edit(context.root, wanted)
    if not edited.edits:
        return edited, None
    left_keys = {left.wanted.top_key for left in (*edited.left, *own_left)}
    with temporarily_written(context.root, edited.files) as before:
        verified = await verify(
            context.terraform,
            context.root,
            edited=edited,
            before=before,
            state=context.state,
            explain=lambda change: "left to a human" if change.top_key in left_keys else explain(change),
        )
    return edited, verified


@contextmanager
def temporarily_written(root: Path, files: Mapping[Path, bytes]) -> Iterator[Mapping[Path, bytes]]:
    """Write files for the duration of the block, then restore them. Yields their previous bytes."""
    before = {path: (root / path).read_bytes() for path in files}
    try:
        for path, content in files.items():
            (root / path).write_bytes(content)
        yield before
    finally:
        for path, content in before.items():
            (root / path).write_bytes(content)


async def _check_unedited_plan(context: ProofContext, verified: Verified | None) -> None:
    """If `plan` failed on the edited code, plan the unedited code: if that fails as well, raise, because the edit is not the cause."""
    if verified and verified.failed:
        await context.terraform.plan(context.root, state=context.state)


def _as_provider_sees(edited: Edited, verified: Verified | None) -> tuple[tuple[Wanted, ...], list[Left]]:
    """The wanted values in the provider's form (empty if that changes nothing), and those that are no longer the live value."""
    if verified is None or verified.plan is None:
        return (), []
    unexplained = {change.top_key for change in verified.unexplained}
    wanted: list[Wanted] = []
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
            reason = (
                f"Live is {live!r} and not {want.value!r} any more: somebody changed it since, outside of Sentinel."
            )
            left.append(Left(wanted=want, reason=reason))
    return (tuple(wanted) if rewritten or left else ()), left


def _unproved(want: Wanted, edited: Edited, verified: Verified | None) -> Left:
    foreign = verified is not None and any(change.address != want.address for change in verified.unexplained)
    way_out = (
        " Part of it is drift that no mutation made; `sentinel reconcile` writes that, and this with it."
        if foreign
        else ""
    )
    chain = next((made.chain for made in edited.edits if made.wanted == want), ())
    return Left(
        wanted=want, reason=f"It was not written. {verified.broken if verified else ''}{way_out}".strip(), chain=chain
    )


def _not_in(left: Sequence[Left], edited: Edited) -> list[Wanted]:
    known = {entry.wanted.key for entry in left}
    return [want for want in _wanted(edited) if want.key not in known]


def _wanted(edited: Edited) -> list[Wanted]:
    """The wanted values of the edits, each (address, attribute) once."""
    first: dict[tuple[str, str], Wanted] = {}
    for made in edited.edits:
        first.setdefault(made.wanted.key, made.wanted)
    return list(first.values())
