"""Recognises the calls by which Terraform keeps and locks a stack's own state in S3 and DynamoDB."""

from collections.abc import Iterable, Mapping
from typing import Final

from gateway.core.model.mutation import Call
from gateway.terraform.config.backend import StateObject

_WRITES: Final = frozenset(
    {"PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "AbortMultipartUpload"}
)
_LOCK: Final = ".tflock"
"""What Terraform adds to the key of a state for its lock, with `use_lockfile`."""
_DIGEST: Final = "-md5"
"""What it adds to the name of a lock in DynamoDB for the digest of the state."""


def keeps_state(call: Call, states: Iterable[StateObject]) -> bool:
    """Whether the call writes one of these states, or takes or frees its lock. To delete a state is none of Terraform's applies.

    Source: https://developer.hashicorp.com/terraform/language/backend/s3
    """
    parameters = call.parameters
    if call.service == "s3":
        bucket, key = parameters.get("Bucket"), str(parameters.get("Key"))
        mine = [state for state in states if state.bucket == bucket]
        if call.operation == "DeleteObject":
            return any(key == state.key + _LOCK for state in mine)
        return call.operation in _WRITES and any(key in (state.key, state.key + _LOCK) for state in mine)
    if call.service == "dynamodb" and call.operation in ("PutItem", "DeleteItem"):
        lock = _lock_id(parameters.get("Item" if call.operation == "PutItem" else "Key"))
        names = [f"{state.bucket}/{state.key}" for state in states]
        return lock in names or lock.removesuffix(_DIGEST) in names
    return False


def _lock_id(item: object) -> str:
    """The name of a lock; empty if the item is none."""
    value = item.get("LockID") if isinstance(item, Mapping) else None
    return str(value.get("S", "")) if isinstance(value, Mapping) else ""
