"""A drafted guardrail or approver rule: it compiles, its test passes and covers it, and nothing is overwritten."""

from pathlib import Path

import pytest

from gateway.core.errors import Malformed
from gateway.policy import ci
from gateway.policy.drafts import new_approver, new_guardrail
from gateway.policy.lint import lint
from gateway.policy.opa_command import run_opa
from gateway.policy.stages import FILE


@pytest.mark.opa
def test_a_draft_has_no_mistakes_and_its_test_passes(policies: Path, opa_tool: Path) -> None:
    new_guardrail(policies, "required_tags", "ACME-TAGS-1")
    assert lint(policies, opa_tool) == []
    done = run_opa(opa_tool, ["test", "--run", "required_tags", "."], cwd=policies)
    assert "PASS: 2/2" in done.stdout
    assert "ACME-TAGS-1" in ci.check_metadata(policies, opa_tool)


@pytest.mark.opa
def test_a_drafted_approver_rule_demands_its_role_and_people(policies: Path, opa_tool: Path) -> None:
    new_approver(policies, "databases")
    assert lint(policies, opa_tool) == []
    done = run_opa(opa_tool, ["test", "--run", "databases", "."], cwd=policies)
    assert "PASS: 2/2" in done.stdout
    with pytest.raises(Malformed, match="is there already"):
        new_approver(policies, "databases")
    with pytest.raises(Malformed, match=r"approvers\.rego is there already"):
        new_approver(policies, "approvers")


def test_nothing_is_overwritten_and_names_are_those_of_packages(tmp_path: Path) -> None:
    files = new_guardrail(tmp_path, "mine", "ME-1")
    before = [file.read_text() for file in files]
    for name, rule in (
        ("mine", "ME-2"),
        ("../up", "X"),
        ("Mine", "X"),
        ("a_test", "X"),
        ("ok", "never.x"),
        ("ok", "a b"),
    ):
        with pytest.raises(Malformed):
            new_guardrail(tmp_path, name, rule)
    assert [file.read_text() for file in files] == before
    assert len(list((tmp_path / "guardrails").iterdir())) == 2


@pytest.mark.opa
def test_mistakes_that_compile_are_found_with_their_place(policies: Path, opa_tool: Path) -> None:
    (rule, _) = new_guardrail(policies, "mine", "ME-1")
    rule.write_text(rule.read_text().replace("effect.resource_type", "effect.resource_typ"))
    (policies / FILE).write_text('{"stages": {"entries": [{"rule": "SEN-NO-SUCH", "stage": "warn"}]}}')
    found = "\n".join(lint(policies, opa_tool))
    assert "guardrails/mine.rego:" in found
    assert "resource_typ" in found
    rule.unlink()
    (policies / "guardrails" / "mine_test.rego").unlink()
    assert lint(policies, opa_tool) == [
        "data/stages.json: No rule has the id SEN-NO-SUCH, so its stage warn is for nothing."
    ]
    (policies / FILE).write_text('{"stages": {"entries": [{"rule": "SEN-A001", "stage": "warn"}]}}')
    [only] = lint(policies, opa_tool)
    assert "SEN-A001" in only
    assert "is no guardrail's rule" in only
