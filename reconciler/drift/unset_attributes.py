"""Finds drift that no plan shows: the provider reads it, but the code leaves the attribute unset, so the plan leaves it alone.

Such values move on their own all the time, because AWS or a controller owns them. One that an event names was set by somebody, and
belongs into the code from then on.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from gateway.core.model.json import Json
from gateway.core.model.path import AttributePath
from reconciler.changes.cloudtrail import Event, letters, matches
from reconciler.model import Drift, DriftOrigin, Left, Wanted
from reconciler.terraform.plan import ResourceChange, TerraformPlan

_MIRRORS = {
    "aws_iam_role": frozenset({"inline_policy", "managed_policy_arns"}),
    "aws_iam_group": frozenset({"policy_arns"}),
    "aws_security_group": frozenset({"ingress", "egress"}),
    "aws_route_table": frozenset({"route"}),
    "aws_network_acl": frozenset({"ingress", "egress"}),
    "aws_instance": frozenset({"security_groups", "ebs_block_device", "network_interface"}),
    "aws_cloudwatch_event_rule": frozenset({"is_enabled"}),
}
"""Attributes that repeat what another attribute or resources of another type declare, by resource type."""
_OF_BUCKETS = "aws_s3_bucket"
"""Everything of a bucket but its tags is declared by a resource of its own."""
_BY_HAND = (
    "The value may hold a secret, and Sentinel writes no secret into code. Declare it by hand, with a reference to where the secret is kept, "
    "or have Terraform ignore it."
)
_CALLED = {"vpc_security_group_ids": "groups"}
"""What calls name an attribute, where that is not its own name."""
_SWITCHING = re.compile(r"\w+:(?:Enable|Disable|Start|Stop)[A-Z]\w*")
"""Calls that say in their own name what they set."""
_SWITCHES = re.compile(r"state|(?:is_)?enabled|\w+_enabled|enable_\w+")
"""Attributes that such calls set."""


def drift_of_unset_attributes(
    plan: TerraformPlan,
    events: Sequence[Event],
    ignored: Collection[tuple[str, str]],
    null: Collection[tuple[str, str]] = (),
) -> tuple[list[Drift], list[Left]]:
    """The values that somebody set, by the events, and that the plan does not show; and those of them that may hold a secret.

    `ignored` are (address, attribute) that the code tells Terraform to ignore, and `null` those that it writes and that are null. Several
    values of one block are one drift.
    """
    shown = {change.top_key for change in plan.changes}
    found: dict[tuple[str, str], list[tuple[ResourceChange, DriftOrigin]]] = {}
    secret: dict[tuple[str, str], Left] = {}
    for change in plan.drift:
        if change.actions != ("update",) or change.top_key in shown or _mirrors(change):
            continue
        if change.top_key in ignored or (change.address, "all") in ignored:
            continue
        if (plan.sets(change) and change.top_key not in null) or (origin := _set_by(change, plan, events)) is None:
            continue
        if change.sensitive:
            secret.setdefault(change.top_key, _secret(change, origin))
        else:
            found.setdefault(change.top_key, []).append((change, origin))
    return [_drift(changes) for changes in found.values()], list(secret.values())


def _secret(change: ResourceChange, origin: DriftOrigin) -> Left:
    wanted = Wanted(address=change.address, attribute=change.top, value=None)
    return Left(wanted=wanted, reason=f"{origin.actor} set it ({origin.event}). {_BY_HAND}")


def _mirrors(change: ResourceChange) -> bool:
    if change.resource_type == _OF_BUCKETS:
        return change.top not in {"tags", "force_destroy"}
    return change.top in _MIRRORS.get(change.resource_type, ())


def _set_by(change: ResourceChange, plan: TerraformPlan, events: Sequence[Event]) -> DriftOrigin | None:
    """Who set the value: the last call that names the resource and the attribute; None if no person or program did."""
    names = set(_spellings(change))
    live = plan.drifted.get(change.address, {})
    setting = [
        event for event in events if (names & event.keys or _switches(event, change)) and matches(event, change, live)
    ]
    last = max(setting, key=lambda event: event.origin.at, default=None)
    return None if last is None or last.origin.actor.endswith(".amazonaws.com") else last.origin


def _switches(event: Event, change: ResourceChange) -> bool:
    """Whether a call sets the attribute without a parameter, as `DisableRule` sets the state of a rule."""
    return _SWITCHING.fullmatch(event.origin.event) is not None and _SWITCHES.fullmatch(change.attribute) is not None


def _spellings(change: ResourceChange) -> Iterator[str]:
    steps = [step for step in AttributePath(change.attribute).steps if not step.isdecimal()]
    yield letters("".join(steps))
    yield letters(steps[-1])
    yield _CALLED.get(change.top, letters(change.top))


def _drift(changes: Sequence[tuple[ResourceChange, DriftOrigin]]) -> Drift:
    """One drift; several values below one attribute become one block."""
    (first, origin), *_ = changes
    if first.attribute == first.top:
        return Drift(
            wanted=Wanted(address=first.address, attribute=first.top, value=first.live),
            before=first.other,
            origin=origin,
        )
    members = {".".join(AttributePath(change.attribute).steps[1:]): change for change, _ in changes}
    value: Mapping[str, Json] = {name: change.live for name, change in members.items()}
    before: Mapping[str, Json] = {name: change.other for name, change in members.items()}
    return Drift(
        wanted=Wanted(address=first.address, attribute=first.top, value=[value]), before=[before], origin=origin
    )
