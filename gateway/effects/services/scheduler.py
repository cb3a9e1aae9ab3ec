"""The operations of EventBridge Scheduler on schedules. The call of the target is unpacked in `gateway.effects.proxies.schedules`."""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json
from gateway.effects.naming import plain
from gateway.effects.operation import CREATE, DELETE, SET, Operation, controls

_on_schedule = partial(
    Operation,
    resource_type="aws_scheduler_schedule",
    identity={"Name": plain("name"), "GroupName": plain("group_name")},
    controls=controls("ClientToken"),
)

_DEFAULTS: Mapping[str, Json] = {
    "description": "",
    "end_date": None,
    "kms_key_arn": None,
    "schedule_expression_timezone": "UTC",
    "start_date": None,
    "state": "ENABLED",
}
_TARGET_DEFAULTS: Mapping[str, Json] = {
    "target.dead_letter_config": [],
    "target.input": None,
    "target.retry_policy": [],
}
"""What an update that leaves it out resets: it overwrites the whole schedule."""

OPERATIONS: Mapping[str, Operation] = {
    "CreateSchedule": _on_schedule(action=CREATE),
    "UpdateSchedule": _on_schedule(action=SET, defaults=_DEFAULTS, overwrites={"Target": _TARGET_DEFAULTS}),
    "DeleteSchedule": _on_schedule(action=DELETE),
}
