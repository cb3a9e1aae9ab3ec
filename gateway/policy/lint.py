"""Finds mistakes in policies that compile: misspelt members of the input and of data, rules without ids, stages of rules that there are not."""

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.core.errors import PolicyInvalid
from gateway.policy import ci
from gateway.policy.bundle import rule_texts
from gateway.policy.data_schema import check_data_files, merged_data
from gateway.policy.member_names import check_member_names
from gateway.policy.opa_command import run_opa
from gateway.policy.sources import check_guardrails, read_sources


def lint(policies: Path, tool: Path) -> list[str]:
    """Every mistake, with file and line where it has one; of regal too, if it is on PATH."""
    mistakes = [problem for check in _CHECKS for problem in _problem(check, policies, tool)]
    if not mistakes:  # these read what the others have found to be right
        mistakes += _unknown_stages(policies, tool)
    if regal := shutil.which("regal"):
        done = run_opa(Path(regal), ["lint", "--format", "compact", "."], cwd=policies)
        mistakes += [f"regal: {line}" for line in done.stdout.splitlines() if ".rego:" in line]
    return list(dict.fromkeys(mistakes))


def _check_members(policies: Path, tool: Path) -> None:
    """Tests may name what your own input has, so they are left out, as a build leaves them out."""
    with tempfile.TemporaryDirectory(prefix="sentinel-lint-") as scratch:
        copy = Path(scratch) / "policies"
        for name, content in read_sources(policies).files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        check_guardrails(copy, tool)
        check_member_names(copy, tool)


def _check_data(policies: Path, _tool: Path) -> None:
    check_data_files(read_sources(policies).files)


_CHECKS: Final[tuple[Callable[[Path, Path], object], ...]] = (
    ci.check_strict,
    _check_members,
    ci.check_format,
    ci.check_metadata,
    _check_data,
)


def _problem(check: Callable[[Path, Path], object], policies: Path, tool: Path) -> Iterator[str]:
    try:
        check(policies, tool)
    except PolicyInvalid as error:
        yield str(error)


def _unknown_stages(policies: Path, tool: Path) -> Iterator[str]:
    """The stages of rules that no guardrail has: they stage nothing, and nobody would see it."""
    known = rule_texts(policies, tool)
    data: Mapping[str, object] = merged_data(read_sources(policies).files)
    stages = json.loads(json.dumps(data.get("stages", {})))
    for entry in stages.get("entries", ()):
        rule = entry.get("rule")
        if rule is not None and rule not in known:
            yield f"data/stages.json: No rule has the id {rule}, so its stage {entry['stage']} is for nothing."
        elif rule is not None and not known[rule].source.startswith("guardrails"):
            yield f"data/stages.json: {rule} ({known[rule].source}) is no guardrail's rule, so it has no stage."
