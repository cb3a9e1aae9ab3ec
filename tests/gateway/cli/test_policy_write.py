"""`sentinel policy new`, `lint`, `fmt`, `schema`, `diff`, `bench`, and `test --coverage`."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.cli import policy
from gateway.core.records.asked import INPUT_VERSION as ASKED
from gateway.line.checks.policy_input import policy_input
from gateway.policy import policy_diff
from gateway.policy.builtins import REFUSED
from gateway.policy.input_schema import INPUT_SCHEMA, VERSION
from gateway.policy.sources import shipped
from tests.kit.nouns import effect, facts, mutation, subject

Run = Callable[..., Any]
PUBLISHED = shipped().parent / "docs" / "policy-input.schema.json"


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    """A copy of the shipped policies."""
    return Path(shutil.copytree(shipped(), tmp_path / "policies"))


def test_the_published_schema_is_the_one_in_force_and_has_the_version_of_kept_inputs(sentinel: Run) -> None:
    text = sentinel("policy", "schema").stdout
    assert text == PUBLISHED.read_text(), "run `sentinel policy schema > docs/policy-input.schema.json`"
    schema = json.loads(text)
    assert (schema["$id"], schema["properties"]) == (f"urn:sentinel:policy-input:{VERSION}", INPUT_SCHEMA["properties"])
    assert VERSION == ASKED


def test_a_draft_is_written_once(sentinel: Run, tmp_path: Path) -> None:
    command = ("policy", "new", "guardrail", "required_tags", "--path", str(tmp_path))
    assert json.loads(sentinel(*command, "--json").stdout)["files"][0].endswith("guardrails/required_tags.rego")
    assert "ACME-REQUIRED-TAGS-1" in (tmp_path / "guardrails" / "required_tags.rego").read_text()
    done = sentinel(*command)
    assert (done.exit_code, "is there already" in " ".join(done.output.split())) == (1, True)


REAL_REGAL = Path(__file__).parents[3] / ".tools" / "regal" / "regal"

REGAL = """#!/bin/sh
test "$*" = "lint --format json ." || exit 9
printf '{"violations": [{"title": "todo-comment", "description": "Avoid TODO comments", "location": {"file": "guardrails/motive.rego", "row": 7}}]}'
exit 3
"""


@pytest.mark.opa
def test_lint_says_what_regal_finds_and_that_there_is_none(
    sentinel: Run, policies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = ("--path", str(policies))
    monkeypatch.setattr("gateway.policy.lint.shutil.which", lambda _name: None)
    done = sentinel("policy", "lint", *path)
    assert (done.exit_code, "no `regal` on PATH" in done.stderr) == (0, True)
    regal = tmp_path / "regal"
    monkeypatch.setattr("gateway.policy.lint.shutil.which", lambda _name: str(regal))
    for text, code, said in (
        (REGAL, 1, "regal: guardrails/motive.rego:7: todo-comment: Avoid TODO comments"),
        ("#!/bin/sh\necho no such option >&2\nexit 1\n", 1, "printed no report: no such option"),
    ):
        regal.write_text(text)
        regal.chmod(0o755)
        done = sentinel("policy", "lint", *path)
        assert (done.exit_code, said in " ".join(done.output.split())) == (code, True)


@pytest.mark.opa
@pytest.mark.long
def test_a_real_regal_finds_nothing_in_shipped_policies_and_drafts_and_what_is_planted(
    sentinel: Run, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert REAL_REGAL.is_file(), "`make regal` builds it"
    monkeypatch.setenv("PATH", str(REAL_REGAL.parent), prepend=os.pathsep)
    path = ("--path", str(policies))
    assert sentinel("policy", "new", "guardrail", "compute", *path, "--id", "ACME-EC2-1").exit_code == 0
    assert sentinel("policy", "new", "approver", "databases", *path).exit_code == 0
    assert json.loads(sentinel("policy", "lint", *path, "--json").stdout) == {"mistakes": [], "regal": str(REAL_REGAL)}
    planted = policies / "guardrails" / "compute.rego"
    planted.write_text(f"{planted.read_text()}\nlower := 1\n")
    found = json.loads(sentinel("policy", "lint", *path, "--json").stdout)["mistakes"]
    assert [each.partition(": ")[2].partition(":")[0] for each in found] == ["guardrails/compute.rego"]
    assert "rule-shadows-builtin" in found[0]


@pytest.mark.opa
def test_each_builtin_that_no_gateway_has_gets_its_sentence_with_file_and_line(sentinel: Run, policies: Path) -> None:
    calls = {
        "graphql.schema_is_valid": '"x"', "crypto.x509.parse_certificates": '"x"', "strings.render_template": '"x", {}',
        "http.send": "{}", "opa.runtime": "", "rego.parse_module": '"x", "y"',
    }  # fmt: skip
    rules = "".join(
        f"findings contains {name}({operands}) if input.flips.never\n\n" for name, operands in calls.items()
    )
    (policies / "guardrails" / "far.rego").write_text(f"package sentinel.rules.far\n\n{rules}concerned := set()\n")
    done = sentinel("policy", "lint", "--path", str(policies), "--json")
    found = "\n".join(json.loads(done.stdout)["mistakes"])
    for line, name in enumerate(calls):
        assert (
            f"far.rego:{3 + 2 * line}: The policies use {name}, which the embedded engine does not supply: {REFUSED[name]}."
            in found
        )
    built = sentinel("policy", "build", "--path", str(policies))
    assert built.exit_code == 1
    assert all(
        f"use {name}, which the embedded engine does not supply" in " ".join(built.output.split()) for name in calls
    )


@pytest.mark.opa
def test_format_and_lint_have_exit_codes(sentinel: Run, policies: Path) -> None:
    path = ("--path", str(policies))
    assert sentinel("policy", "lint", *path).stdout == "No mistakes.\n"
    file = policies / "guardrails" / "motive.rego"
    file.write_text(file.read_text().replace("\tinput.motive == null", "   input.motive ==   null"))
    assert sentinel("policy", "lint", *path).exit_code == 1
    checked = sentinel("policy", "fmt", "--check", *path)
    assert (checked.exit_code, checked.stdout) == (1, "guardrails/motive.rego\n")
    assert sentinel("policy", "fmt", *path).exit_code == 0
    assert sentinel("policy", "fmt", "--check", *path).exit_code == 0


def test_a_difference_has_exit_code_2(sentinel: Run, policies: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The whole corpus is asked where what it finds is tested.
    monkeypatch.setattr(policy_diff, "_CHANGES", policy_diff._CHANGES[:1])
    assert sentinel("policy", "diff", str(shipped()), str(policies)).exit_code == 0
    (policies / "data" / "stages.json").write_text('{"stages": {"entries": [{"rule": "SEN-M001", "stage": "warn"}]}}')
    done = sentinel("policy", "diff", str(shipped()), str(policies), "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, {each["rule"] for each in report["groups"]}) == (2, {"SEN-M001"})


@pytest.mark.long
@pytest.mark.opa
def test_the_cost_of_each_rule_is_shown(sentinel: Run, tmp_path: Path) -> None:
    wanted = effect(value=5)
    file = tmp_path / "input.json"
    file.write_text(json.dumps(policy_input(mutation(wanted), facts(subject(wanted)))))
    rules = json.loads(sentinel("policy", "bench", str(file), "--json").stdout)["rules"]
    assert "SEN-N001" in {each["rule"] for each in rules}
    assert all(each["microseconds"] > 0 for each in rules)
    assert sentinel("policy", "bench", str(tmp_path / "none.json")).exit_code == 1


def test_tests_run_again_after_an_edit(policies: Path) -> None:
    file = policies / "guardrails" / "motive_test.rego"
    looks = []

    def edit(_seconds: float) -> None:
        looks.append(1)
        if len(looks) > 1:
            file.write_text(file.read_text() + "\n")

    assert policy._after_edit(policies, lambda: len(looks) > 1, edit)
