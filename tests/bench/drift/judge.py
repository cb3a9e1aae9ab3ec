"""Judges from outside what a contestant did to a checkout: nothing it says about itself makes a pass.

`wrong` is code that changed and is not proved, or live values that moved. `left` is a change that was honestly left to a human.
`missed` is a change that was neither written nor mentioned. The README says what each rule holds against what.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from tests.bench.drift.answer import Said, fault
from tests.bench.drift.made import Created, Made, observe
from tests.bench.drift.scenario import Project, Scenario
from tests.bench.drift.state import identities, read_state, type_of
from tests.bench.drift.terraform import Planned, Tool
from tests.bench.drift.tree import changed_files, diff_lines, folder_of, hides, module_folders, module_keys


class Grade(StrEnum):
    """How a contestant did in one scenario."""

    PASS = "pass"
    LEFT = "left"
    MISSED = "missed"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A grade, with the sentence that explains it if it is not a pass."""

    grade: Grade
    reason: str = ""
    lines: int = 0
    """Lines of the diff."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One scenario as it was played: the project before, and the two worlds to judge in."""

    project: Project
    scenario: Scenario
    before: Path
    """The applied project, untouched."""
    made: Made
    drifted: Tool
    """Terraform in the world with the drift."""
    endpoint: str
    """Of that world."""
    calm: Tool
    """Terraform in the world as it was applied."""


def judge(case: Case, after: Path, said: Said, scratch: Path) -> Verdict:
    """The verdict on the checkout `after`, and where something was created, on the answer too."""
    verdict = _judge_code(case, after, said, scratch)
    if verdict.grade is not Grade.PASS or not (wrong := fault(case.scenario, case.made.created, said)):
        return verdict
    return Verdict(grade=Grade.LEFT if said.admits else Grade.MISSED, reason=wrong, lines=verdict.lines)


def _judge_code(case: Case, after: Path, said: Said, scratch: Path) -> Verdict:
    changed = changed_files(case.before, after)
    lines = diff_lines(changed.values())
    if moved := _moved(case):
        return Verdict(grade=Grade.WRONG, reason=moved, lines=lines)
    if lost := _lost(case, after):
        return Verdict(grade=Grade.WRONG, reason=lost, lines=lines)
    if adopted := _adopted(case, after):
        return Verdict(grade=Grade.WRONG, reason=adopted, lines=lines)
    if not changed:
        return _unchanged(case, after, said)
    if case.scenario.out:
        return Verdict(grade=Grade.WRONG, reason="It wrote what must stay out of the code.", lines=lines)
    reason = next((text for text in _faults(case, after, changed) if text), "")
    if not reason:
        return _planned(case, after, said, changed, scratch)
    return Verdict(grade=Grade.WRONG, reason=reason, lines=lines)


def _unchanged(case: Case, after: Path, said: Said) -> Verdict:
    """No file changed: right if the change must stay out and the answer is right; else left, or missed if nothing was said."""
    if case.scenario.creations and case.scenario.out:
        plan = case.drifted.plan(after / case.scenario.root)
        wrong = "" if plan.clean else f"The plan exits {plan.code}: {plan.text}"
        return Verdict(grade=Grade.WRONG if wrong else Grade.PASS, reason=wrong)
    text = " ".join([said.words, *said.entries])
    if unsaid := [word for word in case.scenario.says if word not in text]:
        return Verdict(grade=Grade.LEFT if said.admits else Grade.MISSED, reason=f"It does not say {unsaid}: {text}")
    if not said.admits:
        if case.scenario.says:
            return Verdict(grade=Grade.MISSED, reason="Its exit code says that nothing is left.")
        if case.scenario.out:
            return Verdict(grade=Grade.PASS)
        return Verdict(grade=Grade.MISSED, reason="It changed nothing and said that nothing is left.")
    return Verdict(grade=Grade.PASS if case.scenario.out else Grade.LEFT, reason=said.words)


def _adopted(case: Case, after: Path) -> str:
    """Whether the state has a new resource that must stay out."""
    state = read_state(after / case.scenario.root / "terraform.tfstate")
    found = [each for each in case.made.created if each.left and _addresses(state, each)]
    return f"The state has what must stay out: {[each.import_id for each in found]}." if found else ""


def _moved(case: Case) -> str:
    """Whether a live value is no longer what the change made it."""
    state = read_state(case.before / case.scenario.root / "terraform.tfstate")
    now = observe(case.scenario, state, case.endpoint, case.made.replies)
    return (
        ""
        if now == case.made.observed
        else f"The live values are {now}; the change had made them {case.made.observed}."
    )


def _lost(case: Case, after: Path) -> str:
    """Whether a state dropped a resource that still exists."""
    for root in case.project.roots:
        old = read_state(case.before / root / "terraform.tfstate")
        gone = {(type_of(address), str(old[address].get("id"))) for address in case.made.deleted if address in old}
        missing = identities(old) - identities(read_state(after / root / "terraform.tfstate")) - gone
        if missing:
            return f"The state of {root} dropped {sorted(missing)}."
    return ""


def _faults(case: Case, after: Path, changed: Mapping[str, tuple[bytes, bytes]]) -> Iterator[str]:
    """What is wrong with the text itself, before any plan."""
    yield from (f"{file} is not a file of the modules of what drifted." for file in _outside(case, changed))
    hidden = hides(case.before, after)
    yield f"It added {', '.join(sorted(hidden))}." if hidden else ""
    unformatted = case.drifted.run(after, "fmt", "-check", "-recursive", "-list=true").out.split()
    yield f"These files are not formatted: {unformatted}." if unformatted else ""


def _outside(case: Case, changed: Mapping[str, tuple[bytes, bytes]]) -> list[str]:
    folders = module_folders(case.scenario.root, case.before)
    keys = {key for change in case.scenario.changes for key in module_keys(change.on)}
    allowed = {folders[key] for key in keys if key in folders}
    everywhere = {folder for root in case.project.roots for folder in module_folders(root, case.before).values()}
    frozen = tuple(f"{folder}/" for folder in case.project.frozen)
    return [
        file
        for file in changed
        if file.startswith(frozen) or folder_of(file, everywhere | allowed) not in allowed or "../" in file
    ]


def _planned(case: Case, after: Path, said: Said, changed: Mapping[str, tuple[bytes, bytes]], scratch: Path) -> Verdict:
    """The verdict of plans on a fresh initialisation: of this root, and of every other that shares the changed files."""
    lines = diff_lines(changed.values())
    plan = _fresh_plan(case.drifted, after, case.scenario.root, scratch / "drifted")
    if not plan.clean:
        partly = plan.code == 2 and bool(plan.changes) and said.admits and set(plan.changes) <= set(said.left)
        grade = Grade.LEFT if partly and _only_rest(case, scratch / "drifted") else Grade.WRONG
        return Verdict(grade=grade, reason=f"The plan exits {plan.code}: {plan.text}", lines=lines)
    if other := next(_other_roots(case, after, changed, scratch), ""):
        return Verdict(grade=Grade.WRONG, reason=other, lines=lines)
    if missing := _uncaptured(case, after, scratch):
        return Verdict(grade=Grade.WRONG, reason=missing, lines=lines)
    return Verdict(grade=Grade.PASS, lines=lines)


def _only_rest(case: Case, edited: Path) -> bool:
    """Whether all that the edited code would still change, to the value, is what the untouched code would change too."""
    rest = case.drifted.wanted(edited / case.scenario.root)
    return rest.items() <= case.drifted.wanted(case.before / case.scenario.root).items()


def _other_roots(case: Case, after: Path, changed: Mapping[str, tuple[bytes, bytes]], scratch: Path) -> Iterator[str]:
    """What the plan of another root would change: the edit reached further than it should."""
    own = f"{case.scenario.root}/"
    if all(file.startswith(own) for file in changed) or case.scenario.root == ".":
        return
    for root in case.project.roots:
        if root != case.scenario.root:
            plan = _fresh_plan(case.drifted, after, root, scratch / "other")
            if not plan.clean:
                yield f"The plan of {root} exits {plan.code}: {plan.text}"


def _uncaptured(case: Case, after: Path, scratch: Path) -> str:
    """Why the code does not declare the change although the plan is clean; empty if it does.

    A new resource must be in the state and a deleted one must not. For a value that no plan shows (the code left it unset),
    the edited code is planned in the world as it was before: there it has to want exactly the resources that drifted to change.
    """
    state = read_state(after / case.scenario.root / "terraform.tfstate")
    for new in (each for each in case.made.created if not each.left):
        found = _addresses(state, new)
        if not found:
            return f"No {new.type} with {dict(new.where)} is in the state."
        if not any(address.startswith(new.form) for address in found):
            return f"{found} has not the form of its siblings, {new.form}"
    if still := [address for address in case.made.deleted if address in state]:
        return f"The state still has {still}."
    silent = {change.on for change in case.scenario.changes if change.kind.sees == "silent" and not change.kind.creates}
    if not silent:
        return ""
    plan = _fresh_plan(case.calm, after, case.scenario.root, scratch / "calm", state_of=case.before)
    wants = {change.on for change in case.scenario.changes if not change.kind.creates}
    if not silent <= set(plan.changes) <= wants:
        return f"In the world before the change, the code would change {sorted(plan.changes)} and not {sorted(wants)}: the value is not captured."
    return ""


def _addresses(state: Mapping[str, Mapping[str, Any]], new: Created) -> list[str]:
    return [address for address, values in state.items() if type_of(address) == new.type and _fits(values, new.where)]


def _fits(attributes: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    return all(str(attributes.get(name)) == str(value) for name, value in where.items())


def _fresh_plan(tool: Tool, after: Path, root: str, scratch: Path, *, state_of: Path | None = None) -> Planned:
    """The plan of a copy of the code that was never initialised, with its own state or that of another copy."""
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(after, scratch, ignore=shutil.ignore_patterns(".terraform"), symlinks=True)
    if state_of is not None:
        shutil.copy(state_of / root / "terraform.tfstate", scratch / root / "terraform.tfstate")
    init = tool.run(scratch / root, "init", "-no-color", "-input=false")
    if init.code:
        return Planned(code=init.code, changes={}, text=f"init failed: {init.out[-1500:]}")
    return tool.plan(scratch / root)
