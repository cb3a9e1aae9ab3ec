"""The operations of CloudWatch.

`PutMetricAlarm` overwrites the whole alarm: every attribute that the call omits returns to AWS's default, and that is an effect too. A
caller that wants to change one attribute and keep the others must send them all, as Terraform does.
"""

from collections.abc import Mapping
from functools import partial

from gateway.core.model.json import Json
from gateway.effects.naming import arn_of
from gateway.effects.operation import DELETE, INVOKE, Operation, any_value
from gateway.effects.tags import set_tags, tag_rows
from gateway.effects.translators import name_value_map

_ALARM = "aws_cloudwatch_metric_alarm"
_on_alarms = partial(Operation, resource_type=_ALARM, identity={"AlarmNames": "alarm_name"})
_on_alarm = partial(Operation, resource_type=_ALARM, identity={"AlarmName": "alarm_name"})
_BY_ARN = {"ResourceARN": arn_of("alarm", "alarm_name")}

_DEFAULTS: Mapping[str, Json] = {
    "actions_enabled": True,
    "alarm_actions": [],
    "alarm_description": "",
    "datapoints_to_alarm": 0,
    "dimensions": {},
    "evaluate_low_sample_count_percentiles": "",
    "extended_statistic": "",
    "insufficient_data_actions": [],
    "metric_name": "",
    "metric_query": [],
    "namespace": "",
    "ok_actions": [],
    "period": 0,
    "statistic": "",
    "threshold": None,
    "threshold_metric_id": "",
    "treat_missing_data": "missing",
    "unit": "",
}
"""Attribute → its value if `PutMetricAlarm` omits it (CloudWatch API reference, PutMetricAlarm)."""

OPERATIONS: Mapping[str, Operation] = {
    "PutMetricAlarm": _on_alarm(
        upserts=True,
        defaults=_DEFAULTS,
        attributes={
            "Dimensions": name_value_map("dimensions"),
            "Metrics": "metric_query",
            "Metrics.MetricStat": "metric_query.metric",
            "Metrics.MetricStat.Metric.Dimensions": name_value_map("dimensions"),
            "Tags": set_tags,
        },
    ),
    "DeleteAlarms": _on_alarms(action=DELETE),
    "EnableAlarmActions": _on_alarms(constants={"actions_enabled": True}),
    "DisableAlarmActions": _on_alarms(constants={"actions_enabled": False}),
    "SetAlarmState": _on_alarm(
        action=INVOKE, arguments={"StateValue": any_value}, content=frozenset({"StateReason", "StateReasonData"})
    ),
    **tag_rows(_ALARM, _BY_ARN),
    "PutDashboard": Operation(
        resource_type="aws_cloudwatch_dashboard", identity={"DashboardName": "dashboard_name"}, upserts=True
    ),
    "DeleteDashboards": Operation(
        resource_type="aws_cloudwatch_dashboard", identity={"DashboardNames": "dashboard_name"}, action=DELETE
    ),
}
