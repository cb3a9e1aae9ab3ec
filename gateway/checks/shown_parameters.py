"""The parameters of a call that policies are shown beside its effects: a short list, none of which can hold a secret."""

from collections.abc import Mapping

from gateway.model.json import Json, to_json
from gateway.model.mutation import Call

_LOCKS = ("ObjectLockMode", "ObjectLockRetainUntilDate", "ObjectLockLegalHoldStatus", "BypassGovernanceRetention")
_COPIED = ("Bucket", "CopySource")
_SHOWN: Mapping[str, tuple[str, ...]] = {
    "ecs:DeleteService": ("force",),
    "elbv2:RegisterTargets": ("Targets",),
    "kms:PutKeyPolicy": ("BypassPolicyLockoutSafetyCheck",),
    "kms:ScheduleKeyDeletion": ("PendingWindowInDays",),
    "rds:RebootDBInstance": ("ForceFailover",),
    "s3:CopyObject": (*_COPIED, *_LOCKS),
    "s3:CreateMultipartUpload": _LOCKS,
    "s3:DeleteObject": _LOCKS,
    "s3:DeleteObjects": _LOCKS,
    "s3:PutObject": _LOCKS,
    "s3:PutObjectLegalHold": ("LegalHold",),
    "s3:PutObjectRetention": ("Retention", *_LOCKS),
    "s3:RestoreObject": ("RestoreRequest",),
    "s3:UploadPartCopy": _COPIED,
    "sqs:ReceiveMessage": ("VisibilityTimeout",),
    "secretsmanager:DeleteSecret": ("ForceDeleteWithoutRecovery", "RecoveryWindowInDays"),
}
"""What changes no attribute and yet decides what a call does: locks, force, where to and where from."""


_NAMES_ONLY = frozenset({"RestoreRequest"})
"""Structures of which only the names of the members are shown: a restore may carry an SQL expression."""


def shown_parameters(call: Call) -> Mapping[str, Json]:
    """Those parameters of the call that are listed and given, by name, as JSON."""
    names = _SHOWN.get(f"{call.service}:{call.operation}", ())
    return {name: _shown(name, call.parameters[name]) for name in names if call.parameters.get(name) is not None}


def _shown(name: str, value: object) -> Json:
    if name in _NAMES_ONLY:
        return sorted(str(member) for member in value) if isinstance(value, Mapping) else []
    return to_json(value)
