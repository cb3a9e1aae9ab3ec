"""Four actions and no other: each is judged by the plan that would do it, and exactly that plan is applied."""

import json
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.drift_book import DriftAction, ForeignDrift
from reconciler.drift.healing import HealAction, Healer, choose_action
from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import Completed, SavedPlan, Terraform
from tests.reconciler.conftest import Live

ASG = "aws_autoscaling_group.web"
DRIFT = ForeignDrift(id="fgn_1", at=datetime(2026, 1, 2, tzinfo=UTC), stack="shop", address=ASG, attribute="max_size", resource_type="aws_autoscaling_group")  # fmt: skip


def _plan(actions: list[str], before: Any = None, after: Any = None, address: str = ASG) -> dict[str, Any]:
    change = {"actions": actions, "before": before or {"max_size": 9}, "after": after or {"max_size": 8}}
    return {"resource_changes": [{"address": address, "mode": "managed", "change": change}]}


def _human(drift: ForeignDrift) -> ForeignDrift:
    return replace(drift, decided_by="ann")


def test_nothing_to_do() -> None:
    assert choose_action({}, DRIFT, state_changes=False).action is HealAction.NOOP
    assert choose_action(_plan(["no-op"]), DRIFT, state_changes=False).action is HealAction.NOOP
    assert not choose_action({}, DRIFT, state_changes=False).refused


def test_an_old_state_is_refreshed() -> None:
    assert choose_action(_plan(["no-op"]), DRIFT, state_changes=True).action is HealAction.REFRESH_STATE


def test_the_drifted_value_alone_is_set_back() -> None:
    assert choose_action(_plan(["update"]), DRIFT, state_changes=True).action is HealAction.REVERT_DRIFT
    nested = replace(DRIFT, attribute="max_size.deep")
    assert choose_action(_plan(["update"]), nested, state_changes=True).action is HealAction.REVERT_DRIFT


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (_plan(["update"], {"max_size": 9, "min_size": 3}, {"max_size": 8, "min_size": 1}), "also change min_size"),
        (_plan(["update"], address="aws_sqs_queue.other"), "also change aws_sqs_queue.other"),
        (_plan(["delete"]), "delete"),
        (_plan(["create"]), "create"),
        (_plan(["delete", "create"]), "does not list it"),
        (_plan(["forget"]), "forget"),
        ({**_plan(["update"]), "errored": True}, "not complete"),
        ({**_plan(["update"]), "deferred_changes": [{}]}, "not complete"),
    ],
)
def test_whatever_is_more_than_that_is_refused(document: dict[str, Any], says: str) -> None:
    for drift in (DRIFT, _human(DRIFT)):
        choice = choose_action(document, drift, state_changes=True)
        assert choice.refused
        assert choice.action is HealAction.NOOP
        assert says in choice.reason


def test_a_resource_is_replaced_only_if_it_is_listed_and_a_human_decided() -> None:
    document = _plan(["create", "delete"])
    assert choose_action(document, _human(DRIFT), state_changes=True, replaceable=["aws_autoscaling_group.*"]).action is HealAction.REPLACE_INSTANCE  # fmt: skip
    assert choose_action(document, DRIFT, state_changes=True, replaceable=[ASG]).refused
    assert choose_action(document, _human(DRIFT), state_changes=True, replaceable=["aws_instance.*"]).refused


@pytest.mark.parametrize(
    "resource_type", ["aws_iam_role", "aws_kms_key", "aws_dynamodb_table", "aws_s3_bucket", "aws_db_instance"]
)
def test_rights_keys_and_data_need_a_human(resource_type: str) -> None:
    drift = replace(DRIFT, resource_type=resource_type)
    assert choose_action(_plan(["update"]), drift, state_changes=True).refused
    assert choose_action(_plan(["update"]), _human(drift), state_changes=True).action is HealAction.REVERT_DRIFT


def test_what_only_protects_a_bucket_needs_none() -> None:
    drift = replace(DRIFT, resource_type="aws_s3_bucket_public_access_block")
    assert choose_action(_plan(["update"]), drift, state_changes=True).action is HealAction.REVERT_DRIFT


HEALED_DRIFT = ForeignDrift(id="fgn_1", at=datetime(2026, 1, 2, tzinfo=UTC), stack="shop", address=ASG, attribute="max_size", resource_type="aws_autoscaling_group", action=DriftAction.REVERT, decision=7)  # fmt: skip
MOVES = {"resource_changes": [{"address": ASG, "mode": "managed", "change": {"actions": ["update"], "before": {"max_size": 9, "x": "hush"}, "after": {"max_size": 8, "x": "hush"}}}]}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeTerraform(Terraform):
    """Plans what it is told to, and notes what is applied."""

    plans: list[Mapping[str, Any]] = field(default_factory=list)
    """The last one is planned now; an empty one is a clean plan."""
    applied: list[bytes] = field(default_factory=list)
    code: int = 0
    stuck: bool = False
    """Whether an apply changes nothing."""
    dies: list[str] = field(default_factory=list)

    async def saved_plan(self, root: Path, *, state: Path | None = None, targets: Sequence[str] = (), refresh_only: bool = False, replace: Sequence[str] = ()) -> SavedPlan:  # fmt: skip
        assert list(targets) == [ASG]
        file = self.workdir / "saved"
        _write(file, json.dumps(self.plans[-1]).encode())
        return SavedPlan(file=file, changes=bool(self.plans[-1]))

    async def plan(self, root: Path, *, state: Path | None = None, targets: Sequence[str] = ()) -> Path | None:
        if self.dies:
            raise TerraformFailed.saying("plan", self.dies[0])
        file = self.workdir / "again"
        _write(file, b"")
        return file if self.plans[-1] else None

    async def plan_document(self, root: Path, plan: Path) -> dict[str, Any]:
        return dict(json.loads(_bytes(plan)))

    async def apply_and_log(self, root: Path, plan: Path, *, state: Path | None, lock_seconds: int) -> Completed:
        self.applied.append(_bytes(plan))
        if not self.code and not self.stuck:
            self.plans.append({})
        return Completed(code=self.code, out=b"Apply said this.", err="")


def _bytes(path: Path) -> bytes:
    return path.read_bytes()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _healer(tmp_path: Path, terraform: Terraform, **more: Any) -> Healer:
    async def root() -> Path:
        return tmp_path

    return Healer(terraform=terraform, state=None, open_root=root, directory=tmp_path / "healing", **more)


def _fake(tmp_path: Path, *plans: Mapping[str, Any], **more: Any) -> FakeTerraform:
    return FakeTerraform(environment={}, workdir=tmp_path, plans=list(plans), **more)


async def test_exactly_the_saved_plan_is_applied_and_kept_with_decision_and_log(tmp_path: Path) -> None:
    terraform = _fake(tmp_path, MOVES)
    body = await _healer(tmp_path, terraform).heal(HEALED_DRIFT)
    assert (body.members["outcome"], body.members["reason"]) == (
        "reverted",
        f"The plan sets max_size of {ASG} and nothing else.",
    )
    place = tmp_path / "healing" / "fgn_1.7"
    assert terraform.applied == [_bytes(place / "plan")]
    assert _bytes(place / "apply.log") == b"Apply said this."
    assert json.loads(_bytes(place / "decision.json"))["action"] == "revert_drift"
    assert b"hush" not in _bytes(place / "plan.json")
    assert json.loads(_bytes(place / "plan.json"))["resource_changes"][0]["changed"] == ["max_size"]
    assert _mode(place) == 0o700
    healing = body.members["healing"]
    assert isinstance(healing, dict)
    assert sorted(healing["sha256"]) == ["apply.log", "decision.json", "plan", "plan.json"]


async def test_a_killed_run_is_known_to_have_applied(tmp_path: Path) -> None:
    terraform = _fake(tmp_path, MOVES)
    await _healer(tmp_path, terraform).heal(HEALED_DRIFT)
    kept = _bytes(tmp_path / "healing" / "fgn_1.7" / "plan")
    body = await _healer(tmp_path, terraform).heal(HEALED_DRIFT)
    assert (body.members["outcome"], body.members["reason"]) == ("reverted", "It was applied before.")
    assert len(terraform.applied) == 1
    assert _bytes(tmp_path / "healing" / "fgn_1.7" / "plan") == kept


async def test_nothing_is_applied_where_nothing_is_to_be_done_or_too_much(tmp_path: Path) -> None:
    clean = _fake(tmp_path, {})
    assert (await _healer(tmp_path, clean).heal(HEALED_DRIFT)).outcome == "gone"
    entry = MOVES["resource_changes"][0]
    more = {"resource_changes": [{**entry, "change": {"actions": ["delete"], "before": {}, "after": None}}]}
    refused = _fake(tmp_path, more)
    body = await _healer(tmp_path, refused).heal(ForeignDrift(**{**_members(HEALED_DRIFT), "id": "fgn_2"}))
    assert body.members["outcome"] == "failed"
    assert "no action that heals does that" in str(body.members["reason"])
    assert clean.applied == refused.applied == []


@pytest.mark.parametrize(
    ("more", "says"),
    [({"code": 1}, "terraform apply failed: Apply said this."), ({"stuck": True}, "not clean all the same"), ({"dies": ["no"]}, "could not be looked at")],
)  # fmt: skip
async def test_a_failure_is_for_a_human(tmp_path: Path, more: dict[str, Any], says: str) -> None:
    body = await _healer(tmp_path, _fake(tmp_path, MOVES, **more)).heal(HEALED_DRIFT)
    assert body.members["outcome"] == "failed"
    assert says in str(body.members["reason"])


async def test_an_apply_that_was_killed_is_planned_again_and_what_it_did_is_seen(tmp_path: Path) -> None:
    terraform = _fake(tmp_path, MOVES, code=-9)
    with pytest.raises(TerraformFailed, match="ended by signal 9"):
        await _healer(tmp_path, terraform).heal(HEALED_DRIFT)
    half = _fake(tmp_path, MOVES)
    assert (await _healer(tmp_path, half).heal(HEALED_DRIFT)).members["outcome"] == "reverted"
    assert len(half.applied) == 1
    whole = _fake(tmp_path, {})
    body = await _healer(tmp_path, whole).heal(HEALED_DRIFT)
    assert (body.members["outcome"], whole.applied) == ("reverted", [])


@pytest.mark.terraform
@pytest.mark.slow
@pytest.mark.enable_socket
async def test_a_drifted_value_is_set_back_by_the_real_terraform(calm: Live, tmp_path: Path) -> None:
    calm.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName="web", MaxSize=11)

    async def root() -> Path:
        return calm.path

    state = tmp_path / "terraform.tfstate"
    _write(state, _bytes(calm.state))
    healer = Healer(terraform=calm.terraform(), state=state, open_root=root, directory=tmp_path)
    body = await healer.heal(HEALED_DRIFT)
    groups = calm.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=["web"])
    assert body.members["outcome"] == "reverted", body
    assert groups["AutoScalingGroups"][0]["MaxSize"] == 8


def _members(drift: ForeignDrift) -> dict[str, Any]:
    return {name: getattr(drift, name) for name in drift.__slots__}
