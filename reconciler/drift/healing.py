"""Sets a declared value again: the plan decides on one of four actions, exactly that plan is applied, and the result is looked at again.

The apply runs with the reconciler's own key through the gateway, so each of its calls is an ordinary mutation: decided, recorded, sent
once. The reconciler holds no right to write to AWS.
"""

import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from gateway.core.drift_book import DriftOutcome, ForeignDrift
from gateway.core.records.drift import DriftSettledBody, RecordedHealing
from reconciler.errors import TerraformFailed
from reconciler.terraform.cli import SavedPlan, Terraform
from reconciler.terraform.plan import read_plan

APPROVED_ONLY: Final = (
    "aws_iam_",
    "aws_kms_",
    "aws_organizations_",
    "aws_ssoadmin_",
    "aws_secretsmanager_",
    "aws_ssm_parameter",
    "aws_db_",
    "aws_rds_",
    "aws_docdb_",
    "aws_neptune_",
    "aws_dynamodb_",
    "aws_s3_bucket",
    "aws_efs_",
    "aws_ebs_",
    "aws_elasticache_",
    "aws_redshift_",
    "aws_opensearch_",
    "aws_kinesis_",
    "aws_msk_",
)
"""Types that are set back only with a human's consent, whatever policy says: rights, keys, and stores of data."""
_PUBLIC_ACCESS: Final = "aws_s3_bucket_public_access_block"
"""Begins as a store of data does and only protects one."""
_LOCK_SECONDS: Final = 120
_LAST: Final = 2_000
"""Characters of terraform's output that a record keeps."""
_STARTED = "applying"


class HealAction(StrEnum):
    """The only four actions there are."""

    NOOP = "noop"
    REFRESH_STATE = "refresh_state"
    REVERT_DRIFT = "revert_drift"
    REPLACE_INSTANCE = "replace_instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealChoice:
    """An action, or why there is none."""

    action: HealAction
    reason: str
    refused: bool = False
    """Whether a human must look, because the plan would do more than the action allows."""


def choose_action(
    document: Mapping[str, Any], drift: ForeignDrift, *, state_changes: bool, replaceable: Sequence[str] = ()
) -> HealChoice:
    """The action for a plan (as of `terraform show -json`) of the protected code with only the drifted resource as its target.

    `state_changes` says whether the plan changes anything at all, if only the state. `replaceable` are the addresses, with `*`, that may be
    replaced. Only what a human decided is done to rights, keys, stores of data, or by replacing.
    """
    moving = {
        entry["address"]: tuple(entry["change"]["actions"])
        for entry in document.get("resource_changes") or []
        if entry["change"]["actions"] not in (["no-op"], ["read"])
    }
    if document.get("errored") or document.get("deferred_changes") or document.get("action_invocations"):
        return _refused("The plan is not complete, or does more than Sentinel can judge.")
    if not moving:
        return (
            HealChoice(action=HealAction.REFRESH_STATE, reason="Only the state is old.")
            if state_changes
            else HealChoice(action=HealAction.NOOP, reason="Live and code agree already.")
        )
    if others := sorted(set(moving) - {drift.address}):
        return _refused(f"The plan would also change {', '.join(others[:5])}.")
    if drift.resource_type.startswith(APPROVED_ONLY) and drift.resource_type != _PUBLIC_ACCESS and not drift.decided_by:
        return _refused("Rights, keys and stores of data are set back only if a human decides so.")
    return _of_resource(document, drift, moving[drift.address], replaceable)


def _of_resource(
    document: Mapping[str, Any], drift: ForeignDrift, actions: tuple[str, ...], replaceable: Sequence[str]
) -> HealChoice:
    if actions == ("update",):
        tops = {change.top for change in read_plan(document).changes if change.address == drift.address}
        wanted = drift.attribute.partition(".")[0]
        if beyond := sorted(tops - {wanted}):
            return _refused(f"The plan would also change {', '.join(beyond[:5])} of {drift.address}.")
        return HealChoice(
            action=HealAction.REVERT_DRIFT, reason=f"The plan sets {wanted} of {drift.address} and nothing else."
        )
    if set(actions) == {"create", "delete"}:
        if not any(fnmatchcase(drift.address, pattern) for pattern in replaceable):
            return _refused(f"{drift.address} would be replaced, and `reconcile.heal_replace` does not list it.")
        if not drift.decided_by:
            return _refused(f"{drift.address} would be replaced, which only a human may decide.")
        return HealChoice(
            action=HealAction.REPLACE_INSTANCE, reason=f"{drift.address} is replaced, as a human decided."
        )
    return _refused(f"The plan would {' and '.join(actions)} {drift.address}, and no action that heals does that.")


def _refused(reason: str) -> HealChoice:
    return HealChoice(action=HealAction.NOOP, reason=reason, refused=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Healer:
    """Heals the drift of one stack."""

    terraform: Terraform
    state: Path | None
    open_root: Callable[[], Awaitable[Path]]
    """Checks out the protected code; the directory of its root module."""
    directory: Path
    """Where plan, decision and log of each healing are kept."""
    replaceable: Sequence[str] = ()
    """Addresses, with `*`, that may be replaced."""

    async def heal(self, drift: ForeignDrift) -> DriftSettledBody:
        """Set the declared value again; the outcome as members of a DRIFT_SETTLED record.

        May be repeated after a kill: what was applied is then seen by the plan. Raises `errors.TerraformFailed`, `errors.GitFailed` and
        their like for what may be temporary; nothing was applied then.
        """
        root = await self.open_root()
        place = self.directory / f"{drift.id}.{drift.decision}"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        saved = await self.terraform.saved_plan(root, state=self.state, targets=[drift.address])
        document = await self.terraform.plan_document(root, saved.file)
        choice = choose_action(document, drift, state_changes=saved.changes, replaceable=self.replaceable)
        kept = place / "plan"
        if choice.action is HealAction.NOOP and (place / _STARTED).exists():
            saved.file.unlink(missing_ok=True)  # the plan that a killed run applied is there already
        else:
            saved.file.replace(kept)
            _keep(place / "plan.json", _redacted(document))
            _keep(place / "decision.json", _decision(drift, choice))
        if choice.refused or choice.action is HealAction.NOOP:
            return self._without_apply(drift, choice, place)
        return await self._apply(root, drift, choice, SavedPlan(file=kept, changes=saved.changes), place)

    def _without_apply(self, drift: ForeignDrift, choice: HealChoice, place: Path) -> DriftSettledBody:
        if choice.refused:
            return self._body(DriftOutcome.FAILED, drift, choice, place, reason=choice.reason)
        done = (place / _STARTED).exists()
        outcome = DriftOutcome.REVERTED if done else DriftOutcome.GONE
        return self._body(outcome, drift, choice, place, reason="It was applied before." if done else choice.reason)

    async def _apply(
        self, root: Path, drift: ForeignDrift, choice: HealChoice, saved: SavedPlan, place: Path
    ) -> DriftSettledBody:
        _keep(place / _STARTED, {"action": choice.action.value})
        done = await self.terraform.apply_and_log(root, saved.file, state=self.state, lock_seconds=_LOCK_SECONDS)
        output = done.out.decode(errors="replace") + done.err
        _write(place / "apply.log", output.encode())
        if done.code < 0:
            raise TerraformFailed(
                f"`terraform apply` was ended by signal {-done.code} while it set {drift.address} back. It is planned again: what it did by "
                "then is seen. If its lock on a remote state stayed behind, remove that with `terraform force-unlock`."
            )
        if done.code:
            return self._body(
                DriftOutcome.FAILED, drift, choice, place, reason=f"terraform apply failed: {output.strip()[-_LAST:]}"
            )
        try:
            again = await self.terraform.plan(root, state=self.state, targets=[drift.address])
        except TerraformFailed as error:
            return self._body(
                DriftOutcome.FAILED, drift, choice, place, reason=f"It was applied, and could not be looked at: {error}"
            )
        if again is not None:
            again.unlink(missing_ok=True)
            return self._body(
                DriftOutcome.FAILED,
                drift,
                choice,
                place,
                reason="It was applied, and the plan is not clean all the same.",
            )
        outcome = DriftOutcome.GONE if choice.action is HealAction.REFRESH_STATE else DriftOutcome.REVERTED
        return self._body(outcome, drift, choice, place, reason=choice.reason)

    def _body(
        self, outcome: DriftOutcome, drift: ForeignDrift, choice: HealChoice, place: Path, *, reason: str
    ) -> DriftSettledBody:
        digests = {
            name: hashlib.sha256((place / name).read_bytes()).hexdigest()
            for name in ("plan", "plan.json", "decision.json", "apply.log")
            if (place / name).exists()
        }
        return DriftSettledBody(
            outcome=outcome.value,
            address=drift.address,
            attribute=drift.attribute,
            reason=reason,
            healing=RecordedHealing(action=choice.action.value, directory=str(place), sha256=digests),
        )


def _redacted(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the plan changes, without any value: plan files hold secrets."""
    return {
        "terraform_version": document.get("terraform_version"),
        "resource_changes": [
            {"address": entry["address"], "actions": entry["change"]["actions"], "changed": _changed(entry["change"])}
            for entry in document.get("resource_changes") or []
        ],
    }


def _changed(change: Mapping[str, Any]) -> list[str]:
    before, after = change.get("before") or {}, change.get("after") or {}
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def _decision(drift: ForeignDrift, choice: HealChoice) -> dict[str, Any]:
    return {
        "drift": drift.id,
        "address": drift.address,
        "attribute": drift.attribute,
        "decided": drift.action.value if drift.action else "",
        "rule": drift.rule,
        "decided_by": drift.decided_by or "policy",
        "action": choice.action.value,
        "refused": choice.refused,
        "reason": choice.reason,
    }


def _keep(path: Path, document: Mapping[str, Any]) -> None:
    _write(path, json.dumps(document, indent=2, sort_keys=True).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file that only we may read; it is on disk when this returns."""
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
