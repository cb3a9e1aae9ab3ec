"""Attributes that only Terraform has: an import leaves them null, and the next plan would set them to what the code or the provider's default says.

A plan that imports a resource and sets nothing but these changes the state alone: the provider's update of them sends no request. Nobody can have
set them in AWS, so none of them is missing in the block of a created resource; and what the code says of them is in the state once that plan is
applied.
"""

from collections.abc import Mapping
from typing import Any, Final

from reconciler.terraform.compare import same

_OWN: Final[Mapping[str, frozenset[str]]] = {
    "aws_secretsmanager_secret": frozenset({"force_overwrite_replica_secret", "recovery_window_in_days"}),
    "aws_sns_topic_subscription": frozenset({"confirmation_timeout_in_minutes", "endpoint_auto_confirms"}),
}
"""Reviewed one by one: each says how Terraform creates or deletes the resource, and its update makes no call for it."""


def sets_own_defaults(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of `resource_changes` imports a resource, and besides sets only such attributes, which were null, whatever they are set to."""
    change = entry["change"]
    if not change.get("importing") or change["actions"] != ["update"]:
        return False
    before, after, unknown = (change.get(side) or {} for side in ("before", "after", "after_unknown"))
    changed = {name for name in {*before, *after} if not same(before.get(name), after.get(name)) or unknown.get(name)}
    own = _OWN.get(str(entry.get("type")), frozenset())
    return bool(changed) and changed <= own and all(before.get(name) is None for name in changed)
