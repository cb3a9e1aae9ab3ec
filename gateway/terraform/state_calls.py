"""Recognises the locks by which Terraform keeps a stack's own state in S3 and DynamoDB.

Source: https://developer.hashicorp.com/terraform/language/backend/s3
"""

from collections.abc import Mapping
from typing import Final

from gateway.core.model.mutation import Call
from gateway.terraform.config.backend import StatePlace

LOCK_SUFFIX: Final = ".tflock"
"""What Terraform adds to the key of a state for its lock, with `use_lockfile`."""
_DIGEST: Final = "-md5"
"""What it adds to the name of a lock in DynamoDB for the digest of the state."""
_ITEMS: Final[Mapping[str, str]] = {"PutItem": "Item", "DeleteItem": "Key", "GetItem": "Key"}
"""The operations that Terraform uses, with the parameter that names the item."""


def lock_id_of(call: Call) -> str:
    """The name of the lock that the call takes, frees or reads; empty if it does anything else."""
    item = call.parameters.get(_ITEMS.get(call.operation, ""))
    value = item.get("LockID") if isinstance(item, Mapping) else None
    return str(value.get("S", "")) if isinstance(value, Mapping) else ""


def locked_state(lock: str, state: StatePlace) -> bool:
    """Whether the lock is the state's own, or holds its digest. A state whose key is not known may have any lock of its bucket."""
    if not state.key:
        return lock.startswith(f"{state.bucket}/")
    name = f"{state.bucket}/{state.key}"
    return lock in (name, name + _DIGEST)
