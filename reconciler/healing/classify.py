"""Which of four actions sets a drifted value right, judged by the plan that would do it; anything beyond them is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, Final

from gateway.drift_book import ForeignDrift
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


def choose(
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
