"""Finds mistakes in policies that compile: misspelt members of the input and of data, rules without ids, stages of rules that there are not,
built-ins that the embedded engine does not have.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from gateway.core.errors import PolicyInvalid
from gateway.policy import ci
from gateway.policy.builtins import REFUSED, unsupplied
from gateway.policy.bundle import rule_texts
from gateway.policy.data_schema import check_data_files, merged_data
from gateway.policy.member_names import check_member_names
from gateway.policy.opa_command import opa_output, run_opa
from gateway.policy.sources import check_guardrails, parsed_modules, read_sources


def lint(policies: Path, tool: Path) -> list[str]:
    """Every mistake, with file and line where it has one; of regal too, if it is on PATH."""
    mistakes = [problem for check in _CHECKS for problem in _problem(check, policies, tool)]
    if not mistakes:  # these read what the others have found to be right
        mistakes += _unknown_stages(policies, tool)
    if (regal := find_regal()) is not None:
        mistakes += _regals(policies, regal)
    return list(dict.fromkeys(mistakes))


def find_regal() -> Path | None:
    """The `regal` on PATH, whose rules are checked too; None if there is none."""
    found = shutil.which("regal")
    return None if found is None else Path(found)


def _regals(policies: Path, regal: Path) -> Iterator[str]:
    """What regal finds, with file and line. Raises `errors.PolicyInvalid` if it cannot be run."""
    done = run_opa(regal, ["lint", "--format", "json", "."], cwd=policies)
    try:
        violations = json.loads(done.stdout)["violations"]
        for each in violations or ():
            where = each["location"]
            yield f"regal: {where['file']}:{where['row']}: {each['title']}: {each['description']}"
    except (ValueError, KeyError, TypeError) as error:
        said = (done.stderr.strip() or done.stdout.strip())[:400]
        raise PolicyInvalid(f"regal ({regal}) printed no report: {said}") from error


def _check_builtins(policies: Path, tool: Path) -> None:
    """Opa compiles with all its built-ins. Without those that a gateway refuses it says where each is used."""
    capabilities = json.loads(opa_output(tool, ["capabilities", "--current"], cwd=policies))
    capabilities["builtins"] = [each for each in capabilities["builtins"] if each["name"] not in REFUSED]
    with tempfile.TemporaryDirectory(prefix="sentinel-lint-") as scratch:
        file = Path(scratch) / "capabilities.json"
        file.write_text(json.dumps(capabilities), encoding="utf-8")
        ignored = ("--ignore", "*_test.rego", "--ignore", "bundle")
        done = run_opa(tool, ["check", "--capabilities", str(file), "--max-errors", "100", *ignored, "."], cwd=policies)
    found = [(match["place"], match["name"]) for match in _UNDEFINED.finditer(done.stderr + done.stdout)]
    said = [f"{place}: {unsupplied({name: 0})}" for place, name in found if name in REFUSED]
    if said:
        raise PolicyInvalid("\n".join(said))


def _check_members(policies: Path, tool: Path) -> None:
    """Tests may name what your own input has, so they are left out, as a build leaves them out."""
    with tempfile.TemporaryDirectory(prefix="sentinel-lint-") as scratch:
        copy = Path(scratch) / "policies"
        for name, content in read_sources(policies).files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        modules = parsed_modules(copy, tool)
        check_guardrails(copy, tool, modules)
        check_member_names(copy, tool, modules)


def _check_data(policies: Path, _tool: Path) -> None:
    check_data_files(read_sources(policies).files)


_UNDEFINED: Final = re.compile(r"(?P<place>\S+\.rego:\d+): rego_type_error: undefined function (?P<name>[\w.]+)")

_CHECKS: Final[tuple[Callable[[Path, Path], object], ...]] = (
    ci.check_strict,
    _check_members,
    _check_builtins,
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
