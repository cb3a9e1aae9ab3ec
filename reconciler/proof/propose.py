"""Makes the edits for wanted values and proves them; what cannot be written or proved is left, with the reason."""

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
    """A copy of the code that may be written to and planned in, and what a plan needs."""

    terraform: Terraform
    root: Path
    """The stack's root module; ours to write."""
    state: Path | None
    """The state file; None lets the code's own backend find it."""

    async def plan(self) -> TerraformPlan | None:
        """The plan of the code as it stands, None where it is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
        file = await self.terraform.plan(self.root, state=self.state)
        return read_plan(await self.terraform.show(self.root, file)) if file else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvedEdit:
    """Edits of which every proof holds (or none at all), and what is left."""

    edited: Edited = field(default_factory=Edited)
    proofs: tuple[Proof, ...] = ()
    left: tuple[Left, ...] = ()


async def propose(ground: ProofContext, wanted: Sequence[Wanted], *, explain: Explain) -> ProvedEdit:
    """Edit and verify, on the values that were called for, and once more on the values as the provider writes them.

    Nothing stays written to `ground`. Raises `errors.TerraformFailed` only where the unedited code cannot be planned either.
    """
    left: list[Left] = []
    for _ in range(2):
        edited, verified = await attempt(ground, wanted, explain=explain, own_left=left)
        left.extend(edited.left)
        if not edited.edits or (verified and verified.holds):
            return ProvedEdit(edited=edited, proofs=verified.proofs if verified else (), left=tuple(left))
        await _blame_the_edit(ground, verified)
        wanted, changed_since = _as_provider_sees(edited, verified)
        left.extend(changed_since)
        if not wanted:
            break
    return ProvedEdit(left=(*left, *(_unproved(want, edited, verified) for want in _not_in(left, edited))))


async def attempt(
    ground: ProofContext, wanted: Sequence[Wanted], *, explain: Explain, own_left: Sequence[Left] = ()
) -> tuple[Edited, Verified | None]:
    """One round: edit, write, verify, and put everything back as it was. Verified is None where there was nothing to edit."""
    edited = edit(ground.root, wanted)
    if not edited.edits:
        return edited, None
    lefts = {(left.wanted.address, left.wanted.attribute.partition(".")[0]) for left in (*edited.left, *own_left)}

    with written(ground.root, edited.files) as before:
        verified = await verify(
            ground.terraform,
            ground.root,
            edited=edited,
            before=before,
            state=ground.state,
            explain=lambda change: "left to a human" if (change.address, change.top) in lefts else explain(change),
        )
    return edited, verified


@contextmanager
def written(root: Path, files: Mapping[Path, bytes]) -> Iterator[Mapping[Path, bytes]]:
    """Write files for as long as the block runs; gives their bytes as they were, which are put back."""
    before = {path: (root / path).read_bytes() for path in files}
    try:
        for path, content in files.items():
            (root / path).write_bytes(content)
        yield before
    finally:
        for path, content in before.items():
            (root / path).write_bytes(content)


async def _blame_the_edit(ground: ProofContext, verified: Verified | None) -> None:
    """Where terraform failed on the edited code, see that it does not on the unedited: else it is not the edit's fault."""
    if verified and verified.failed:
        await ground.terraform.plan(ground.root, state=ground.state)


def _as_provider_sees(edited: Edited, verified: Verified | None) -> tuple[tuple[Wanted, ...], list[Left]]:
    """The wanted values in the provider's form, empty where that changes nothing; and those that live no longer has."""
    if verified is None or verified.plan is None:
        return (), []
    moved = {(change.address, change.top) for change in verified.unexplained}
    wanted: list[Wanted] = []
    left: list[Left] = []
    rewritten = False
    for want in _wanted(edited):
        if (want.address, want.attribute.partition(".")[0]) not in moved:
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
    stranger = verified is not None and any(change.address != want.address for change in verified.unexplained)
    way_out = (
        " Part of it is drift that no mutation made; `sentinel reconcile` writes that, and this with it."
        if stranger
        else ""
    )
    chain = next((made.chain for made in edited.edits if made.wanted == want), ())
    return Left(
        wanted=want, reason=f"It was not written. {verified.broken if verified else ''}{way_out}".strip(), chain=chain
    )


def _not_in(left: Sequence[Left], edited: Edited) -> list[Wanted]:
    known = {(entry.wanted.address, entry.wanted.attribute) for entry in left}
    return [want for want in _wanted(edited) if (want.address, want.attribute) not in known]


def _wanted(edited: Edited) -> list[Wanted]:
    return list(_unique(made.wanted for made in edited.edits))


def _unique(wanted: Iterator[Wanted]) -> Iterator[Wanted]:
    """Each (address, attribute) once; values need not be hashable."""
    seen: set[tuple[str, str]] = set()
    for want in wanted:
        if (want.address, want.attribute) not in seen:
            seen.add((want.address, want.attribute))
            yield want
