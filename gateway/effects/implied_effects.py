"""Finds the effects that a call does not ask for: a change of one attribute implies a change of another, or of another resource.

Each is an `Effect` marked `implied`. It is judged as if it were asked for, by bounds, claims and arbitration, and it is never written
into code. If the value that results is known, it is a SET; if it depends on what happens later, it is an INVOKE of the attribute.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.model.json import Json
from gateway.core.model.mutation import Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.quick_init import quick_init
from gateway.effects.call_context import CallContext, Target
from gateway.effects.translators import as_list

_GROUP, _POLICY, _SCHEDULE = "aws_autoscaling_group", "aws_autoscaling_policy", "aws_autoscaling_schedule"
_ALARM, _TABLE, _TEMPLATE = "aws_cloudwatch_metric_alarm", "aws_dynamodb_table", "aws_launch_template"
_VOLUME, _DATABASE, _KEY, _INSTANCE = "aws_ebs_volume", "aws_db_instance", "aws_kms_key", "aws_instance"
_ROTATION, _SECRET_VERSION = "aws_secretsmanager_secret_rotation", "aws_secretsmanager_secret_version"
_CAPACITY = "desired_capacity"
_KEEP_CAPACITY = frozenset({"Launch", "Terminate", "ReplaceUnhealthy", "HealthCheck"})
"""Processes without which a group does not have the capacity that is desired."""
_MOVE_CAPACITY = frozenset({"AlarmNotification", "ScheduledActions"})
"""Processes that change the capacity that is desired."""

_SETTING = (EffectAction.SET, EffectAction.CREATE)

Claimed = Mapping[tuple[str, str], Sequence[Json]]
"""(Address, attribute) → the values that standing claims say it has, or is about to have."""


@quick_init
@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The change that a call asks for on one resource."""

    context: CallContext
    target: Target
    values: Mapping[str, Json]
    """Attribute → the value that it is set to, by a SET or CREATE."""
    actions: frozenset[EffectAction]
    claimed: Claimed = field(default_factory=dict)

    def after(self, attribute: str) -> Json:
        """The value after the call: the one asked for, else the recorded one."""
        return self.values.get(attribute, self.target.recorded.get(attribute))

    def changes(self, attribute: str) -> bool:
        """Whether the call sets the attribute to something else than the state records."""
        return attribute in self.values and self.values[attribute] != self.target.recorded.get(attribute)

    def present(self, attribute: str) -> list[Json]:
        """The values that the attribute may have now, by the state and by standing claims."""
        recorded = self.target.recorded.get(attribute)
        claimed = self.claimed.get((self.target.address, attribute), ())
        return [value for value in (recorded, *claimed) if value is not None]

    def implies(self, attribute: str, value: Json) -> Iterator[Effect]:
        """The attribute becomes `value`."""
        yield replace(self.target.put(attribute, value), implied=True)

    def moves(self, attribute: str) -> Iterator[Effect]:
        """The attribute changes to a value that only AWS knows."""
        yield replace(self.target.put(attribute, None, action=EffectAction.INVOKE), implied=True)

    def beside(self, target: Target, values: Mapping[str, Json] | None = None) -> "Change":
        """The change of another resource that this one leads to."""
        return replace(self, target=target, values=values or {})


Implication = Callable[[Change], Iterator[Effect]]
"""Yields the effects that a change of a resource implies. Raises `NotUnderstood`, `errors.Ambiguous`."""


def implied_effects(context: CallContext, effects: Sequence[Effect], claimed: Claimed) -> tuple[Effect, ...]:
    """The effects that the effects of a call imply, without those of the call itself; each attribute once."""
    found: dict[tuple[str, str], Effect] = {}
    for change in _changes(context, effects, claimed):
        for implication in IMPLICATIONS.get(change.target.resource_type, ()):
            for effect in implication(change):
                key = (effect.address, effect.attribute)
                if found.setdefault(key, effect) != effect:
                    # It leads to two values, so nobody knows which.
                    found[key] = replace(effect, action=EffectAction.INVOKE, value=None)
    if not found:  # as most calls
        return ()
    asked = {(effect.address, effect.attribute) for effect in effects}
    return tuple(effect for key, effect in found.items() if key not in asked)


def _changes(context: CallContext, effects: Sequence[Effect], claimed: Claimed) -> Iterator[Change]:
    by_address: dict[str, list[Effect]] = {}
    for effect in effects:
        if effect.resource_type in IMPLICATIONS:
            by_address.setdefault(effect.address, []).append(effect)
    for group in by_address.values():
        yield Change(
            context=context,
            target=context.target_of(group[0]),
            values={
                each.attribute: each.value for each in group if each.action in _SETTING and each.attribute != WHOLE
            },
            actions=frozenset({each.action for each in group}),
            claimed=claimed,
        )


# Capacity -----------------------------------------------------------------------------------------------------------


def _limits(change: Change) -> Iterator[Effect]:
    """A group's capacity is moved into new limits: lowered to the new maximum, raised to the new minimum."""
    if _CAPACITY in change.values or EffectAction.CREATE in change.actions:
        return
    low, high = (_number(change.values.get(name)) for name in ("min_size", "max_size"))
    if low is None and high is None:
        return
    present = [number for number in map(_number, change.present(_CAPACITY)) if number is not None]
    moved = {_within(number, low, high) for number in present if _within(number, low, high) != number}
    if len(moved) == 1:
        yield from change.implies(_CAPACITY, moved.pop())
    elif moved or not present:
        yield from change.moves(_CAPACITY)


def _within(number: float, low: float | None, high: float | None) -> float:
    lowered = number if high is None else min(number, high)
    return lowered if low is None else max(lowered, low)


def _processes(change: Change) -> Iterator[Effect]:
    """A group without the processes that keep its capacity loses it; with those that change it again, it changes."""
    if "suspended_processes" in change.values:
        before = set(map(str, as_list(change.target.recorded.get("suspended_processes"))))
        after = set(map(str, as_list(change.values["suspended_processes"])))
        if (after - before) & _KEEP_CAPACITY or (before - after) & _MOVE_CAPACITY:
            yield from change.moves(_CAPACITY)


def _schedule(change: Change) -> Iterator[Effect]:
    """A scheduled action sets the limits and the capacity of its group when its time comes."""
    if EffectAction.DELETE in change.actions:
        return
    sizes = {name: _number(change.after(name)) for name in ("min_size", "max_size", _CAPACITY)}
    # -1 leaves the size as it is.
    given: dict[str, Json] = {name: size for name, size in sizes.items() if size is not None and size >= 0}
    for group in _group_of(change):
        later = replace(change.beside(group, given), actions=frozenset({EffectAction.SET}))
        for name, size in given.items():
            yield from later.implies(name, size)
        yield from _limits(later)


def _policy(change: Change) -> Iterator[Effect]:
    """A scaling policy changes the capacity of its group from then on."""
    if EffectAction.DELETE not in change.actions and change.after("enabled") is not False and change.values:
        for group in _group_of(change):
            yield from change.beside(group).moves(_CAPACITY)


def _group_of(change: Change) -> Iterator[Target]:
    """The group that a policy or scheduled action belongs to, if the call or the state says it."""
    name = change.after("autoscaling_group_name") or change.target.identity.get("autoscaling_group_name")
    if isinstance(name, str) and name:
        yield change.context.target(_GROUP, {"name": name})


def _alarm(change: Change) -> Iterator[Effect]:
    """An alarm that is set off, switched on or given new actions executes scaling policies."""
    actions = ("alarm_actions", "ok_actions", "insufficient_data_actions")
    arns = {name: set(map(str, as_list(change.after(name)))) for name in actions}
    before = {name: set(map(str, as_list(change.target.recorded.get(name)))) for name in actions}
    switched_on = change.changes("actions_enabled") and change.values["actions_enabled"] is True
    all_fire = switched_on or EffectAction.INVOKE in change.actions
    fired = set[str]().union(*(arns[name] if all_fire else arns[name] - before[name] for name in actions))
    if change.after("actions_enabled") is False or EffectAction.DELETE in change.actions:
        return
    for arn in sorted(fired):
        for address in change.context.inventory.find(_POLICY, "arn", arn):
            policy = change.context.inventory.recorded(address) or {}
            name = policy.get("autoscaling_group_name")
            if isinstance(name, str) and name:
                yield from change.beside(change.context.target(_GROUP, {"name": name})).moves(_CAPACITY)


def _template(change: Change) -> Iterator[Effect]:
    """Groups that follow `$Latest` or `$Default` launch the new version, or the new default, of a launch template."""
    if EffectAction.CREATE in change.actions:
        return
    versions = {"$Default"} if "default_version" in change.values else {"$Latest"} if change.values else set()
    template_id = change.target.recorded.get("id")
    for attribute, value in (("launch_template.id", template_id), ("launch_template.name", change.after("name"))):
        for address in change.context.inventory.find(_GROUP, attribute, str(value)) if value else ():
            group = change.context.inventory.recorded(address) or {}
            used = as_list(group.get("launch_template"))
            if used and isinstance(used[0], Mapping) and used[0].get("version") in versions:
                target = change.context.target(_GROUP, {"name": str(group.get("name") or "")})
                yield from change.beside(target).moves("launch_template")


# Other attributes ---------------------------------------------------------------------------------------------------


def _billing(change: Change) -> Iterator[Effect]:
    """A table that is paid per request has no provisioned capacity."""
    if change.changes("billing_mode") and change.values["billing_mode"] == "PAY_PER_REQUEST":
        for name in ("read_capacity", "write_capacity"):
            if name not in change.values and change.present(name) not in ([], [0]):
                yield from change.implies(name, 0)


def _disk(kind: str, *depending: str) -> Implication:
    """Another type of disk has its own speed, unless the call says it."""

    def implication(change: Change) -> Iterator[Effect]:
        if change.changes(kind):
            for name in depending:
                if name not in change.values and change.present(name) not in ([], [0]):
                    yield from change.moves(name)

    return implication


def _stopped(operation: str, *attributes: str) -> Implication:
    """A stopped machine has none of the capacity that its attributes promise."""

    def implication(change: Change) -> Iterator[Effect]:
        if change.context.call.operation == operation:
            for name in attributes:
                yield from change.moves(name)

    return implication


def _kept_key(change: Change) -> Iterator[Effect]:
    """A key whose deletion is cancelled is disabled."""
    if change.context.call.operation == "CancelKeyDeletion":
        yield from change.implies("is_enabled", False)


def _rotation(change: Change) -> Iterator[Effect]:
    """A rotation replaces the secret's value."""
    secret = change.after("secret_id") or change.target.identity.get("secret_id")
    if change.after("rotate_immediately") is not False and change.values and isinstance(secret, str) and secret:
        for address in change.context.inventory.find(_SECRET_VERSION, "secret_id", secret):
            version = change.context.inventory.recorded(address) or {}
            target = change.context.target(_SECRET_VERSION, {"id": str(version.get("id") or "")})
            yield from change.beside(target).moves("secret_string")


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


IMPLICATIONS: Mapping[str, tuple[Implication, ...]] = {
    _GROUP: (_limits, _processes),
    _SCHEDULE: (_schedule,),
    _POLICY: (_policy,),
    _ALARM: (_alarm,),
    _TEMPLATE: (_template,),
    _TABLE: (_billing,),
    _DATABASE: (
        _disk("storage_type", "iops", "storage_throughput"),
        _stopped("StopDBInstance", "instance_class", "multi_az"),
    ),
    _VOLUME: (_disk("type", "iops", "throughput"),),
    _INSTANCE: (_stopped("StopInstances", "instance_type"),),
    _KEY: (_kept_key,),
    _ROTATION: (_rotation,),
}
"""Resource type → what its changes imply."""
