"""Proves an edit before it may be proposed. There are seven proofs, cheapest first:

parses          every edited file parses
formatted       a file that was formatted as `terraform fmt` does still is
untouched       every byte outside the edits is as before
nothing_hidden  no `ignore_changes` was added
captured        our own evaluator reads every wanted value from the edited code
plan_clean      the plan of the edited code is empty, apart from changes that something else explains or that it showed before the edit
nothing_else    the plan newly changes no address other than the edited ones
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gateway.core.errors import CodeInvalid
from gateway.terraform.json_syntax.view import SUFFIXES, parse_json
from gateway.terraform.lang.hcl import file_bytes, parse_template
from reconciler.errors import TerraformFailed
from reconciler.model import Edit, Edited, Proof, Wanted, is_gone
from reconciler.proof.declarations import Declaration, addresses, read_declared
from reconciler.proof.plan_difference import new_changes
from reconciler.terraform.cli import SavedPlan, Terraform
from reconciler.terraform.plan import ResourceChange, TerraformPlan, plan_of, read_plan

Explain = Callable[[ResourceChange], str]
"""Why a change that the plan still shows has another cause than the edit, e.g. the mutation it belongs to; empty if unknown."""

CatchUp = Callable[[], Awaitable[None]]
"""Reads what was recorded since, so that `Explain` knows every mutation whose effects a plan may show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """The proofs of one edit, and the plan behind them."""

    proofs: tuple[Proof, ...]
    plan: TerraformPlan | None = None
    """The plan of the edited code; None if it is empty or was not made."""
    unexplained: tuple[ResourceChange, ...] = ()
    """Changes in the plan that nothing else explains."""
    noted: tuple[ResourceChange, ...] = ()
    """Changes in the plan that nothing explains and that it showed before the edit too."""
    failed: bool = False
    """Whether terraform could not plan the edited code."""
    saved: SavedPlan | None = None
    """The plan file of the edited code, if it was to be kept."""

    @property
    def holds(self) -> bool:
        """Whether every proof holds."""
        return bool(self.proofs) and all(proof.held for proof in self.proofs)

    def beside(self, before: TerraformPlan | None, edited: Edited, explain: Explain) -> "Verified":
        """The same, held against the plan of the unedited code: only what is new counts. `before` is None if that plan is empty."""
        if self.plan is None:
            return self
        open_ones = [change for change in self.plan.changes if not explain(change)]
        new = new_changes(open_ones, self.plan, before, [edit.wanted for edit in edited.edits])
        noted = tuple(change for change in open_ones if change not in new)
        kept = [proof for proof in self.proofs if proof.name not in {"plan_clean", "nothing_else"}]
        proofs = plan_proofs(self.plan, new, edited, explain, noted=noted)
        return replace(self, proofs=(*kept, *proofs), unexplained=new, noted=noted)

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
    catch_up: CatchUp | None = None,
    keep_plan: bool = False,
) -> Verified:
    """Prove that `edited`, already written to `root`, declares the wanted values and changes nothing else.

    `before` holds the previous bytes of every changed file. The plan is only made if the five cheaper proofs hold. `catch_up` runs
    between the plan and its first explanation: what changed while terraform planned is known then. With `keep_plan` the plan file
    stays, for the caller to remove. Raises `errors.TerraformMissing`.
    """
    text = await text_proofs(terraform, edited, before)
    proofs = (*text, capture_proof(root, [edit.wanted for edit in edited.edits]))
    if not all(proof.held for proof in proofs):
        return Verified(proofs=proofs)
    try:
        saved, plan = await _planned(terraform, root, state, keep=keep_plan)
    except TerraformFailed as error:
        return Verified(proofs=(*proofs, Proof(name="plan_clean", held=False, detail=str(error))), failed=True)
    if catch_up is not None:
        await catch_up()
    unexplained = tuple(change for change in (plan.changes if plan else ()) if not explain(change))
    return Verified(
        proofs=(*proofs, *plan_proofs(plan, unexplained, edited, explain)),
        plan=plan,
        unexplained=unexplained,
        saved=saved,
    )


async def _planned(
    terraform: Terraform, root: Path, state: Path | None, *, keep: bool
) -> tuple[SavedPlan | None, TerraformPlan | None]:
    """The plan file if it is kept, and the plan; None if it is empty. Raises `errors.TerraformFailed`, `errors.TerraformMissing`."""
    if not keep:
        return None, await plan_of(terraform, root, state)
    saved = await terraform.saved_plan(root, state=state)
    return saved, read_plan(await terraform.plan_document(root, saved.file)) if saved.changes else None


async def text_proofs(terraform: Terraform, edited: Edited, before: Mapping[Path, bytes]) -> tuple[Proof, ...]:
    """parses, formatted, untouched and nothing_hidden. Raises `errors.TerraformMissing`."""
    broken, unformatted = [], []
    for path, content in edited.files.items():
        formatted = await _formatted(terraform, path, content)
        if formatted is None:
            broken.append(str(path))
        elif formatted != content and await _formatted(terraform, path, before[path]) == before[path]:
            unformatted.append(str(path))
    changed_elsewhere = [
        str(path) for path in edited.files if not _only_edits(before[path], edited.files[path], _edits_of(path, edited))
    ]
    with_new_ignores = [
        str(path)
        for path, new in edited.files.items()
        if _count_ignore_changes(new) > _count_ignore_changes(before[path])
    ]
    return (
        _proof("parses", broken, "terraform fmt reads every edited file", "does not parse after the edit"),
        _proof(
            "formatted",
            unformatted,
            "what was formatted still is",
            "was formatted as terraform fmt does and is not any more",
        ),
        _proof(
            "untouched", changed_elsewhere, "every byte outside the edits is as it was", "changed outside the edits"
        ),
        _proof("nothing_hidden", with_new_ignores, "no ignore_changes was added", "has a new ignore_changes"),
    )


_DATA: Final = (".json", ".yaml", ".yml")
"""Ends of the names of data files."""


async def _formatted(terraform: Terraform, path: Path, content: bytes) -> bytes | None:
    """What `terraform fmt` makes of a file; None if it does not parse. Templates and JSON are only read, and data not even that: no format is said for them."""
    if path.name.endswith((".tf", ".tfvars")):
        return await terraform.format(content)
    if path.suffix in _DATA and not path.name.endswith(SUFFIXES):
        return content
    try:
        return file_bytes((parse_json if path.name.endswith(SUFFIXES) else parse_template)(path, content))
    except CodeInvalid:
        return None


def capture_proof(root: Path, wanted: Sequence[Wanted]) -> Proof:
    """Whether our own evaluator reads each wanted value from the edited code.

    A plan does not show that an Optional and Computed attribute is missing in code; this proof does. An expression that
    depends on the live system is left to the plan.
    """
    values = [want for want in wanted if not is_gone(want)]
    found = list(zip(values, read_declared(root, values), strict=True))
    still = addresses(root) if len(values) < len(wanted) else ()
    missed = [f"The code still declares {want.address}." for want in wanted if is_gone(want) and want.address in still]
    missed += [
        f"The code gives {code.value!r} ({code.says.value}) for {want.address}.{want.attribute}, wanted is {want.value!r}."
        for want, code in found
        if code.says not in {Declaration.THIS, Declaration.UNSURE}
    ]
    unsure = [f"{want.address}.{want.attribute}" for want, code in found if code.says is Declaration.UNSURE]
    rest = f"; by the plan alone, since its value hangs on the live system: {', '.join(unsure)}" if unsure else ""
    detail = " ".join(missed) or f"the edited code declares every wanted value{rest}"
    return Proof(name="captured", held=not missed, detail=detail)


def plan_proofs(
    plan: TerraformPlan | None,
    unexplained: Sequence[ResourceChange],
    edited: Edited,
    explain: Explain,
    *,
    noted: Sequence[ResourceChange] = (),
) -> tuple[Proof, Proof]:
    """plan_clean and nothing_else; `plan` is None if it is empty. `noted` are the changes that the plan before the edit showed too."""
    ours = {edit.wanted.address for edit in edited.edits}
    here = [change for change in unexplained if change.address in ours]
    elsewhere = [change for change in unexplained if change.address not in ours]
    return (
        Proof(name="plan_clean", held=not unexplained, detail=_clean_detail(plan, unexplained, explain, noted)),
        Proof(
            name="nothing_else",
            held=not elsewhere,
            detail=describe(elsewhere) or _elsewhere_detail(here, noted),
        ),
    )


def describe(changes: Sequence[ResourceChange]) -> str:
    """At most five changes as text. The values of secrets are not shown."""
    first = [_described(change) for change in changes[:5]]
    more = f" and {len(changes) - 5} more" if len(changes) > 5 else ""  # noqa: PLR2004  as the docstring says
    return "; ".join(first) + more


def _described(change: ResourceChange) -> str:
    values = "" if change.sensitive or change.attribute == "*" else f" from {change.live!r} to {change.other!r}"
    return f"the plan would {' and '.join(change.actions)} {change.address}.{change.attribute}{values}"


def _elsewhere_detail(here: Sequence[ResourceChange], noted: Sequence[ResourceChange]) -> str:
    newly = " newly" if noted else ""
    return f"no other address{newly} changes{' than those edited' if here else ''}"


def _clean_detail(
    plan: TerraformPlan | None,
    unexplained: Sequence[ResourceChange],
    explain: Explain,
    noted: Sequence[ResourceChange],
) -> str:
    if unexplained:
        return describe(unexplained) + "."
    if plan is None:
        return "terraform plan -detailed-exitcode ends with 0"
    if not plan.changes:
        return f"only the state would change: {plan.waiting}"
    explained = [change for change in plan.changes if change not in noted]
    parts = [f"{change.address}.{change.attribute}: {explain(change)}" for change in explained]
    return "; ".join([*parts, *([f"as before the edit, {describe(noted)}"] if noted else [])])


def _proof(name: str, failing: Sequence[str], holds: str, fails: str) -> Proof:
    return Proof(name=name, held=not failing, detail=f"{', '.join(failing)} {fails}." if failing else holds)


def _edits_of(path: Path, edited: Edited) -> list[Edit]:
    return [edit for edit in edited.edits if edit.path == path]


def _only_edits(old: bytes, new: bytes, edits: Sequence[Edit]) -> bool:
    """Whether the edits, made one after the other, turn the old bytes into the new ones."""
    for edit in edits:
        if old[edit.start : edit.end] != edit.old:
            return False
        old = old[: edit.start] + edit.new + old[edit.end :]
    return old == new


def _count_ignore_changes(source: bytes) -> int:
    return source.count(b"ignore_changes")
