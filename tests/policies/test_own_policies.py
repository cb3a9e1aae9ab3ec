"""A policy author does what docs/policies.md says, on a copy: with a rule, an id scheme, ranks and lists of their own, everything passes."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.policy import opa_command
from gateway.policy.sources import shipped

pytestmark = [pytest.mark.opa, pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent
TASK = (ROOT / "docs" / "policies.md").read_text(encoding="utf-8").partition("## Add a guardrail")[2]
FILES = re.findall(r"`(guardrails/\w+\.rego)`:\n\n```rego\n(.*?)```", TASK, re.DOTALL)
SHOWN = TASK.partition("Then:\n\n```console\n")[2].partition("```")[0]
COMMANDS = [line.removeprefix("$ ").partition("#")[0].strip() for line in SHOWN.splitlines()]


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A directory with the copied policies, the document's rule in them, and an input document."""
    shutil.copytree(shipped(), tmp_path / "policies")
    for name, text in FILES:
        (tmp_path / "policies" / name).write_text(text, encoding="utf-8")
    document = {"caller": {"kind": "agent"}, "mutation": {"service": "ec2", "effects": []}, "motive": {}}
    (tmp_path / "document.json").write_text(json.dumps(document))
    return tmp_path


def _run(command: str, workplace: Path) -> str:
    tool = opa_command.find_opa()
    assert tool is not None
    path = os.pathsep.join([str(Path(sys.executable).parent), str(tool.parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", command], cwd=workplace, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_the_document_shows_a_rule_its_test_and_the_commands() -> None:
    assert [name for name, _ in FILES] == ["guardrails/compute.rego", "guardrails/compute_test.rego"]
    assert [command.split()[0] for command in COMMANDS] == ["opa", "sentinel", "sentinel", "python"]


@pytest.mark.long
def test_every_command_of_the_document_passes(workplace: Path) -> None:
    """The last one runs the checks of CI, which `make policy` runs on the shipped policies, and the long tests on these."""
    printed = {command: _run(command, workplace) for command in COMMANDS[:-1]}
    evaluated = json.loads(next(text for command, text in printed.items() if "eval" in command))
    assert evaluated["evaluated"]["compute"] is True
    assert "ACME-EC2-1" in {finding["id"] for finding in evaluated["findings"]}


@pytest.mark.long
def test_the_checks_of_ci_pass_with_the_documents_rule(workplace: Path) -> None:
    for command in (COMMANDS[1], COMMANDS[-1]):  # what is checked includes that the bundle is built
        _run(command, workplace)


@pytest.mark.parametrize(
    "commands",
    [
        pytest.param(["sentinel policy test --path policies"], id="the tests"),
        pytest.param(["sentinel policy build --path policies", COMMANDS[-1]], id="the checks", marks=pytest.mark.long),
    ],
)
def test_other_ranks_lists_and_ids_turn_no_shipped_test_red(workplace: Path, commands: list[str]) -> None:
    for path in (workplace / "policies" / "data").glob("*.json"):
        name, content = next(iter(json.loads(path.read_text()).items()))
        path.write_text(json.dumps({name: _OTHER.get(name, _emptied)(content)}))
    for command in commands:
        _run(command, workplace)


def test_make_policy_takes_a_directory() -> None:
    command = ["make", "--dry-run", "--always-make", "policy", "POLICIES=elsewhere/policies"]
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert "-m gateway.policy.ci elsewhere/policies" in shown


def _other_ranks(priorities: Mapping[str, Json]) -> Mapping[str, Json]:
    """Every rank is turned round, so that what won loses."""
    tables = {
        name: {member: 999 - rank for member, rank in table.items()}
        for name, table in priorities.items()
        if name in ("intents", "motivations", "kinds") and isinstance(table, dict)
    }
    return {**priorities, **tables, "close_call": 7, "unproven_penalty": 1, "urgent": ["experiment"]}


def _emptied(content: Json) -> Json:
    """The content without what its lists held."""
    if isinstance(content, Mapping):
        return {name: _emptied(member) for name, member in content.items()}
    return [] if isinstance(content, list) else content


def _other_roles(approvals: Mapping[str, Json]) -> Mapping[str, Json]:
    """Another role than the shipped one may approve."""
    return {**approvals, "roles": ["on-call"], "people": 2}


_OTHER: Mapping[str, Callable[[Any], Json]] = {"priorities": _other_ranks, "approvals": _other_roles}
"""Data that cannot be empty, by its name."""
