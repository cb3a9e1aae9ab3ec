"""`sentinel policy replay` and `POST /v1/replay` against a running gateway, and against its ledger."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.cli.policy_replay import FLIPPED
from gateway.core.records.record import Stage
from gateway.policy.bundle import SHIPPED, read_bundle
from gateway.policy.replays import packed_bundle
from gateway.policy.sources import shipped
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
GROUP = "kafka-consumer-processor-asg"
Run = Callable[..., Any]


@pytest.fixture
def decided(gate: Gate, speak_as: Run) -> Gate:
    """A gateway that has decided: a capacity is set with a motive, and refused without one."""
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=6)
    with pytest.raises(ClientError):
        gate.client("autoscaling", motive=None).set_desired_capacity(AutoScalingGroupName=GROUP, DesiredCapacity=7)
    speak_as(gate, "human")
    return gate


@pytest.fixture
def stricter(tmp_path: Path) -> Path:
    """Policies for which a set capacity disrupts: only data are edited, so no compiler is needed."""
    policies = Path(shutil.copytree(shipped(), tmp_path / "policies"))
    file = policies / "data" / "disruption.json"
    data = json.loads(file.read_text())
    data["disruption"]["disrupting"]["autoscaling:SetDesiredCapacity"] = "starts and stops what runs"
    file.write_text(json.dumps(data))
    return policies


def test_policies_in_force_replay_every_decision_to_itself(decided: Gate, sentinel: Run) -> None:
    done = sentinel("policy", "replay", "--json")
    report = json.loads(done.stdout)
    assert (done.exit_code, report["flips"], report["groups"]) == (0, 0, [])
    assert report["replayed"] >= 2


def test_an_edit_shows_whose_changes_it_would_hold_in_every_format(
    decided: Gate, stricter: Path, sentinel: Run
) -> None:
    command = ("policy", "replay", "--policies", str(stricter), "--since", "1d")
    done = sentinel(*command, "--json")
    report = json.loads(done.stdout)
    assert done.exit_code == FLIPPED, done.output
    [group] = [each for each in report["groups"] if each["actor"] == "agent"]
    assert (group["from"], group["to"], group["source"].partition(":")[0]) == (
        "allow",
        "hold",
        "guardrails/disruption.rego",
    )
    [*_, call] = group["calls"]
    assert (call["call"], call["old"]) == ("autoscaling:SetDesiredCapacity", [])
    text = sentinel(*command)
    assert text.exit_code == FLIPPED
    assert "allowed → held" in text.stdout
    assert "Claims, budgets and changes of holders are those that there were" in " ".join(text.stdout.split())
    markdown = sentinel(*command, "--format", "markdown").stdout
    assert markdown.startswith("### Sentinel: ")
    sarif = json.loads(sentinel(*command, "--format", "sarif", "--root", "policies").stdout)
    [result] = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "policies/guardrails/disruption.rego"
    assert place["region"]["startLine"] > 1
    local = sentinel(*command, "--local", "--json", "--config", str(_settings(decided)))
    assert json.loads(local.stdout)["groups"] == report["groups"]


def test_edited_contracts_show_whose_changes_they_would_refuse(decided: Gate, tmp_path: Path, sentinel: Run) -> None:
    stack = Path(shutil.copytree(decided.stack, tmp_path / "edited"))
    contract = stack / "kafka.sentinel.hcl"
    contract.write_text(contract.read_text().replace("max_step = 4", "max_step = 1"))
    same = json.loads(sentinel("policy", "replay", "--contracts", str(decided.stack), "--json").stdout)
    assert (same["flips"], bool(same["contracts"])) == (0, True)
    command = ("policy", "replay", "--contracts", str(stack), "--stack", "kafka")
    done = sentinel(*command, "--json")
    report = json.loads(done.stdout)
    [group] = report["groups"]
    assert (done.exit_code, group["rule"], group["from"], group["to"]) == (
        FLIPPED,
        "bounds.max_step",
        "allow",
        "deny",
    )
    assert group["source"] == "kafka.sentinel.hcl:11"
    sarif = json.loads(sentinel(*command, "--format", "sarif", "--stack-root", "infra").stdout)
    [result] = sarif["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("infra/kafka.sentinel.hcl", 11)
    local = sentinel(*command, "--local", "--json", "--config", str(_settings(decided)))
    assert json.loads(local.stdout)["groups"] == report["groups"]
    of_stack = sentinel("contract", "replay", str(stack), "--stack", "kafka", "--json")
    assert json.loads(of_stack.stdout)["groups"] == report["groups"]


def test_contracts_that_cannot_be_read_replay_nothing(decided: Gate, tmp_path: Path, sentinel: Run) -> None:
    done = sentinel("policy", "replay", "--contracts", str(tmp_path))
    assert (done.exit_code, "There is no contract" in " ".join(done.output.split())) == (1, True)
    (tmp_path / "x.sentinel.hcl").write_text('contract "x" {\n  nonsense = 1\n}\n')
    done = sentinel("policy", "replay", "--contracts", str(tmp_path))
    assert (done.exit_code, "x.sentinel.hcl:2" in " ".join(done.output.split())) == (1, True)
    done = sentinel("policy", "replay", "--contracts", "no-such-branch")
    assert (done.exit_code, "no-such-branch" in " ".join(done.output.split())) == (1, True)


def _settings(gate: Gate) -> Path:
    file = gate.directory / "replay.toml"
    stack = f'[[stacks]]\nname = "kafka"\npath = "{gate.stack}"\n'
    file.write_text(f'data = "{gate.directory / "data"}"\n{stack}')
    return file


def test_the_limit_is_that_of_the_newest_decisions(decided: Gate, sentinel: Run) -> None:
    assert json.loads(sentinel("policy", "replay", "--json", "--limit", "1").stdout)["replayed"] == 1


def test_an_agent_replays_nothing(decided: Gate, speak_as: Run, sentinel: Run) -> None:
    speak_as(decided, "agent")
    done = sentinel("policy", "replay")
    assert done.exit_code == 1
    assert "agents and services replay nothing" in " ".join(done.output.split())


def test_a_bundle_is_sent_once(decided: Gate) -> None:
    def ask(**body: Any) -> httpx.Response:
        return httpx.post(f"{decided.url}/v1/replay", json=body, headers=decided.bearer("human"), timeout=60)

    bundle = read_bundle(shipped() / SHIPPED)
    assert ask(revision="0" * 64).status_code == 404
    assert ask(bundle=packed_bundle(bundle)).json()["revision"] == bundle.revision
    assert ask(revision=bundle.revision).status_code == 200
    for wrong in ("x", packed_bundle(bundle)[:-8], "eJwDAAAAAAE="):
        answer = ask(bundle=wrong)
        assert (answer.status_code, answer.json()["detail"].partition(".")[0]) == (400, "The bundle cannot be read")


def test_questions_are_shown_to_nobody_but_replays(decided: Gate) -> None:
    answer = httpx.get(f"{decided.url}/v1/records", params={"stage": "decided"}, headers=decided.bearer("human"))
    assert all("asked" not in record["body"] for record in answer.json()["records"])
    assert any(record.body.members.get("asked") for record in decided.records())


def test_a_recorded_mutation_is_explained_on_its_facts(
    decided: Gate, document: Run, stricter: Path, sentinel: Run
) -> None:
    [refused, *_] = [
        each for each in reversed(decided.records(stage=Stage.DECIDED)) if each.body.members["motive"] is None
    ]
    code, explained = document("policy", "eval", "--mutation", refused.mutation_id)
    assert (code, explained["recorded_verdict"]) == (0, "deny")
    assert "SEN-M001" in [each["rule"] for each in explained["findings"]]
    assert explained["trace"] is None
    text = sentinel("policy", "eval", "--mutation", refused.mutation_id, "--path", str(stricter))
    assert "deny by SEN-M001 (guardrails/motive.rego:" in " ".join(text.stdout.split())


@pytest.mark.opa
def test_the_trace_names_conditions_with_their_values(decided: Gate, sentinel: Run) -> None:
    [refused, *_] = [
        each for each in reversed(decided.records(stage=Stage.DECIDED)) if each.body.members["motive"] is None
    ]
    text = sentinel("policy", "eval", "--mutation", refused.mutation_id, "--trace").stdout
    words = " ".join(text.split())
    assert "fired: SEN-M001 An agent states its motive" in words
    assert 'holds: input.caller.kind == "agent"' in words
    assert 'input.caller.kind = "agent"' in words


def test_packs_are_shown_with_stages_controls_and_what_was_only_warned_of(
    decided: Gate, document: Run, sentinel: Run, tmp_path: Path
) -> None:
    policies = Path(shutil.copytree(shipped(), tmp_path / "policies"))
    entries = [{"pack": "tags", "stage": "warn"}, {"rule": "SEN-G002", "stack": "prod-*", "stage": "off"}]
    (policies / "data" / "stages.json").write_text(json.dumps({"stages": {"entries": entries}}))
    code, shown = document("policy", "packs", "--path", str(policies), "--recorded", "--since", "7d")
    packs = {each["pack"]: each for each in shown["packs"]}
    rules = {each["rule"]: each for pack in packs.values() for each in pack["rules"]}
    assert (code, packs["tags"]["stage"], packs["cost"]["stage"]) == (0, "enforce", "warn")
    assert (rules["SEN-G001"]["stages"], rules["SEN-G001"]["warned"]) == (["warn"], 0)
    assert rules["SEN-G002"]["stages"] == ["warn", "off for stack prod-*"]
    assert "CIS AWS 5.2" in rules["SEN-N001"]["controls"]
    assert shown["recorded"]["decisions"] > 0
    text = " ".join(sentinel("policy", "packs").stdout.split())
    assert "SEN-N001" in text
    assert "would have refused" in text


def test_packs_say_who_changed_a_stage_last(sentinel: Run, monkeypatch: pytest.MonkeyPatch, decided: Gate) -> None:
    entries = [{"rule": "SEN-M001", "stage": "warn"}]
    staged = {
        "actor": "Ada <ada@example.org>",
        "at": "2026-11-27T09:00:00Z",
        "body": {"entries": entries, "before": []},
    }
    warned = {"body": {"decision": {"warned": [{"rule": "SEN-M001"}, {"rule": "SEN-M001"}, {"rule": "SEN-N001"}]}}}

    async def answers(_caller: object, _method: str, _path: str, *, member: str, query: dict[str, str]) -> Any:
        return {member: [staged] if query["stage"] == "policy_staged" else [warned, {"body": {"decision": {}}}]}

    monkeypatch.setattr("gateway.cli.policy_packs.call_api", answers)
    shown = json.loads(sentinel("policy", "packs", "--recorded", "--json").stdout)
    rules = {each["rule"]: each["warned"] for pack in shown["packs"] for each in pack["rules"]}
    assert (rules["SEN-M001"], rules["SEN-N001"], rules["SEN-N002"]) == (1, 1, 0)
    text = " ".join(sentinel("policy", "packs", "--recorded").stdout.split())
    assert "The stages were changed last by Ada <ada@example.org> at 2026-11-27T09:00:00Z, to: [{" in text


def test_what_the_policies_were_asked_is_for_people_and_pipelines(decided: Gate, speak_as: Run, sentinel: Run) -> None:
    speak_as(decided, "agent")
    done = sentinel("policy", "eval", "--mutation", decided.records(stage=Stage.DECIDED)[0].mutation_id)
    assert (done.exit_code, "are not shown it" in " ".join(done.output.split())) == (1, True)
    assert sentinel("policy", "eval").exit_code == 1
    assert sentinel("policy", "eval", "x.json", "--mutation", "mut_1").exit_code == 1
