"""`sentinel policy`."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gateway.cli.policy import policy_app
from gateway.policy import opa_command
from gateway.policy.sources import shipped

RUN = CliRunner()


@pytest.fixture
def policies(tmp_path: Path) -> Path:
    return Path(shutil.copytree(shipped(), tmp_path / "policies"))


@pytest.mark.opa
def test_build_writes_the_bundle_beside_the_policies(policies: Path) -> None:
    shutil.rmtree(policies / "bundle")
    done = RUN.invoke(policy_app, ["build", "--path", str(policies)])
    assert done.exit_code == 0, done.output
    assert (policies / "bundle" / "policy.wasm").read_bytes() == (shipped() / "bundle" / "policy.wasm").read_bytes()


@pytest.mark.opa
def test_a_mistake_is_shown_and_the_old_bundle_stays(policies: Path) -> None:
    before = (policies / "bundle" / "manifest.json").read_bytes()
    (policies / "guardrails" / "bad.rego").write_text("package sentinel.rules.bad\n\nx := y\n")
    done = RUN.invoke(policy_app, ["build", "--path", str(policies)])
    assert done.exit_code == 1
    assert "bad.rego:3" in done.output
    assert (policies / "bundle" / "manifest.json").read_bytes() == before


@pytest.mark.opa
@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("findings contains opa.runtime() if input.flips.never", "opa.runtime"),
        ("findings contains 7 if input.mutation", "does not have the members"),
        ("finding contains 7 if input.mutation", "guardrails/bad.rego:1"),
    ],
)
def test_what_a_gateway_refuses_is_not_built(policies: Path, rule: str, reason: str) -> None:
    before = (policies / "bundle" / "manifest.json").read_bytes()
    (policies / "guardrails" / "bad.rego").write_text(f"package sentinel.rules.bad\n\n{rule}\n")
    done = RUN.invoke(policy_app, ["build", "--path", str(policies)])
    assert done.exit_code == 1
    assert reason in done.output
    assert (policies / "bundle" / "manifest.json").read_bytes() == before


@pytest.mark.opa
@pytest.mark.slow
def test_the_exit_code_of_test_is_that_of_opa(policies: Path) -> None:
    assert RUN.invoke(policy_app, ["test", "--path", str(policies)]).exit_code == 0
    (policies / "guardrails" / "bad_test.rego").write_text("package bad_test\n\ntest_it if 1 == 2\n")
    failed = RUN.invoke(policy_app, ["test", "--path", str(policies)])
    assert failed.exit_code == 1
    assert "test_it: FAIL" in failed.output


@pytest.mark.opa
def test_test_refuses_numbers_that_no_gateway_would_take(policies: Path) -> None:
    path = policies / "data" / "budgets.json"
    data = json.loads(path.read_text())
    data["budgets"]["mutations"]["agent"]["minute"] = "many"
    path.write_text(json.dumps(data))
    done = RUN.invoke(policy_app, ["test", "--path", str(policies)])
    assert done.exit_code == 1
    assert "data/budgets.json: mutations.agent.minute: Input should be a valid integer" in done.output
    path.write_text("{\n,}")
    assert "data/budgets.json:2:1: not JSON" in RUN.invoke(policy_app, ["test", "--path", str(policies)]).output


def test_eval_prints_the_result_for_a_document(tmp_path: Path) -> None:
    path = tmp_path / "document.json"
    path.write_text(json.dumps({"caller": {"kind": "agent"}, "motive": None}))
    done = RUN.invoke(policy_app, ["eval", str(path)])
    assert done.exit_code == 0, done.output
    assert "SEN-M001" in {finding["id"] for finding in json.loads(done.output)["findings"]}


@pytest.mark.parametrize("text", ["{", ""])
def test_eval_of_invalid_json_fails(tmp_path: Path, text: str) -> None:
    path = tmp_path / "document.json"
    path.write_text(text)
    done = RUN.invoke(policy_app, ["eval", str(path)])
    assert done.exit_code == 1
    assert "is not JSON" in done.output


def test_without_opa_build_takes_data_and_says_how_to_get_it_for_rules(
    policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opa_command, "find_opa", lambda: None)
    numbers = policies / "data" / "approvals.json"
    numbers.write_text(numbers.read_text().replace('"people_for_stores": 2', '"people_for_stores": 3'))
    done = RUN.invoke(policy_app, ["build", "--path", str(policies)])
    assert done.exit_code == 0, done.output
    assert b'"people_for_stores":3' in (policies / "bundle" / "data.json").read_bytes()
    rule = policies / "guardrails" / "motive.rego"
    rule.write_text(f"{rule.read_text()}\n")
    done = RUN.invoke(policy_app, ["build", "--path", str(policies)])
    assert done.exit_code == 1
    assert "no `opa` on PATH" in done.output
    assert "make opa" in done.output


@pytest.mark.opa
@pytest.mark.parametrize("command", ["build", "test"])
def test_json_is_one_document_for_success_and_for_failure(policies: Path, command: str) -> None:
    done = RUN.invoke(policy_app, [command, "--path", str(policies), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)
    failed = RUN.invoke(policy_app, ["build", "--path", str(policies / "nowhere"), "--json"])
    assert failed.exit_code == 1
    assert json.loads(failed.stdout)["code"] == "policy_invalid"
