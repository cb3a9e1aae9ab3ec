"""Who plays: Sentinel as its user calls it, the gold edit, and two baselines that every Terraform user has at hand."""

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.drift.answer import DONE, LEFT, Said, expected
from tests.bench.drift.judge import Case
from tests.bench.drift.scenario import Change, golden
from tests.bench.drift.state import read_state, type_of
from tests.bench.drift.terraform import Tool, environment_for
from tests.bench.drift.world import ROOT


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What a contestant did and said."""

    said: Said = field(default_factory=Said)
    seconds: float = 0.0
    tokens: int = 0


Contestant = Callable[[Case, Path, Path], Played]
"""(case, checkout, events) → what it said; it edits the checkout."""


def sentinel(case: Case, checkout: Path, events: Path) -> Played:
    """`sentinel reconcile PATH --write --events FILE`, in a process of its own."""
    argv = [sys.executable, "-m", "reconciler", "reconcile", str(checkout / case.scenario.root)]
    argv += ["--write", "--json", "--events", str(events)]
    argv += ["--adopt", case.scenario.adopt] if case.scenario.adopt else []
    environment = environment_for(case.endpoint, checkout.parent / "home")
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return read_report(done.returncode, done.stdout, done.stderr, time.perf_counter() - began)


def read_report(code: int, out: str, err: str, seconds: float) -> Played:
    """Sentinel's report: what it left, with the reasons; an error is a change that is left too."""
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        report = {"detail": err[-2000:] or out[-2000:]}
    left = report.get("left") or []
    words = [f"{entry.get('address')}.{entry.get('attribute')}: {entry.get('reason')}" for entry in left]
    if code not in {DONE, LEFT}:
        words.append(f"Exit code {code}: {report.get('detail', err[-2000:])}")
    said = Said(
        left=[str(entry.get("address")) for entry in left], words=" ".join(words), admits=code != DONE or bool(left),
        code=code, entries=[json.dumps(entry, ensure_ascii=False) for entry in left],
    )  # fmt: skip
    return Played(said=said, seconds=seconds, tokens=int(report.get("tokens") or 0))


def gold(case: Case, checkout: Path, events: Path) -> Played:
    """The gold edit with the right answer, and the state brought up to date: it shows that the scenario can be passed, and how."""
    for file, (_, text) in golden(case.scenario, checkout).items():
        (checkout / file).write_text(_resolved(text, case))
    if not case.scenario.gold:
        is_answer = bool(case.scenario.creations)
        out = Said(admits=True, code=LEFT, words=" ".join(["It stays out of the code.", *case.scenario.says]))
        return Played(said=expected(case.scenario, case.made.created) if is_answer else out)
    root = checkout / case.scenario.root
    accept(case.drifted, root)
    if case.made.deleted:
        case.drifted.run(root, "apply", "-refresh-only", "-auto-approve", "-no-color", "-lock=false")
    return Played(said=expected(case.scenario, case.made.created))


def nothing(case: Case, checkout: Path, events: Path) -> Played:
    """The baseline that does nothing and says that all is well."""
    return Played()


def revert(case: Case, checkout: Path, events: Path) -> Played:
    """The baseline plan-and-revert: apply the code as it is. It ends the drift by undoing it."""
    case.drifted.run(checkout / case.scenario.root, "apply", "-auto-approve", "-no-color", "-lock=false")
    return Played()


def generate(case: Case, checkout: Path, events: Path) -> Played:
    """The baseline `-generate-config-out`: what drifted is imported again, and the generated block replaces the old one.

    Terraform generates blocks of the root module only, without `count` and `for_each`: everything else is left to a human.
    """
    root = checkout / case.scenario.root
    wanted = [entry for change in case.scenario.changes for entry in _importable(case, change)]
    if len(wanted) < len(case.scenario.changes):
        return Played(said=Said(admits=True, code=LEFT, words="Terraform generates no configuration for it."))
    text = "".join(f'import {{\n  to = {to}\n  id = "{identity}"\n}}\n\n' for to, identity, _ in wanted)
    scratch = checkout.parent / "generate"
    scratch.mkdir()
    shutil.copy(root / "terraform.tf", scratch)
    (scratch / "import.tf").write_text(text)
    case.drifted.run(scratch, "init", "-no-color")
    case.drifted.run(scratch, "plan", "-lock=false", "-no-color", "-generate-config-out=generated.tf")
    generated = (scratch / "generated.tf").read_text() if (scratch / "generated.tf").exists() else ""
    for to, _, is_new in wanted:
        block = block_of(generated, to)
        if not block:
            return Played(said=Said(admits=True, code=LEFT, words="Terraform could not generate the configuration."))
        if is_new:
            (root / "generated.tf").write_text(block)
            (root / "import.tf").write_text(text)
        else:
            _replace_block(root, to, block)
    accept(case.drifted, root)
    return Played()


def accept(tool: Tool, root: Path) -> None:
    """Bring the state up to date if the plan changes nothing of the stack: imports, refreshed values, outputs.

    What is imported may be changed at once: some values are the provider's own, which no import can read (of a subscription, how long it
    waits to be confirmed). If the change reaches AWS, the judge sees it.
    """
    plan = tool.plan(root, "-out=accept.plan")
    if plan.code == 2 and set(plan.changes) <= plan.imported:
        tool.run(root, "apply", "-no-color", "-lock=false", "accept.plan")
    (root / "accept.plan").unlink(missing_ok=True)


def block_of(text: str, address: str) -> str:
    """The block of a resource in formatted code, with its line end; empty if it is not there."""
    kind, _, name = address.partition(".")
    match = re.search(rf'^resource "{kind}" "{name}" \{{\n(?:.*\n)*?\}}\n', text, re.MULTILINE)
    return match[0] if match else ""


def _replace_block(root: Path, address: str, block: str) -> None:
    for path in root.glob("*.tf"):
        text = path.read_text()
        if old := block_of(text, address):
            path.write_text(text.replace(old, block))


def _importable(case: Case, change: Change) -> list[tuple[str, str, bool]]:
    """(address, import id, whether it is new) if Terraform can generate its configuration."""
    created = {made.type: made for made in case.made.created}
    if change.kind.creates is not None:
        made = created[change.kind.creates.type]
        return [(f"{made.type}.generated", made.import_id, True)]
    if change.kind.sees in {"gone", "nothing"} or change.on.startswith("module.") or "[" in change.on:
        return []
    attributes = read_state(case.before / case.scenario.root / "terraform.tfstate")[change.on]
    name = _IMPORT_BY.get(type_of(change.on), "id")
    return [(change.on, str(attributes[name]), False)]


_IMPORT_BY = {"aws_lambda_function": "function_name", "aws_db_instance": "identifier", "aws_ecs_service": "name"}
"""By what a resource is imported, if it is not its id."""


def _resolved(text: str, case: Case) -> str:
    """The gold's text with the import ids of what was created, which are known only now: `@import[0]`."""
    for index, made in enumerate(case.made.created):
        text = text.replace(f"@import[{index}]", made.import_id)
    return text
