"""Events that an EventBridge rule sends to an API destination: alarms of CloudWatch, and events of AWS Health."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.core.errors import Malformed
from gateway.core.model.signal import SignalEvent, SignalState
from gateway.signals.forms.fields import items, mapping, member, optional, text, texts, time

ALARM: Final = "CloudWatch Alarm State Change"
HEALTH: Final = "AWS Health Event"


def read(source: str, document: Mapping[str, Any]) -> list[SignalEvent]:
    """The event of the message. Raises `errors.Malformed`."""
    kind = text(document, "detail-type")
    detail = mapping(member(document, "detail"), "detail")
    if kind == ALARM and document.get("source") == "aws.cloudwatch":
        return [_alarm(source, document, detail)]
    if kind == HEALTH and document.get("source") == "aws.health":
        return [_health(source, document, detail)]
    raise Malformed(
        f"An event {kind!r} is neither a {ALARM!r} nor an {HEALTH!r}. Nothing of it was taken; narrow the pattern of the rule."
    )


def _alarm(source: str, document: Mapping[str, Any], detail: Mapping[str, Any]) -> SignalEvent:
    name = text(detail, "alarmName")
    state = mapping(member(detail, "state"), "state")
    arns = texts(document, "resources")
    where = {each: text(document, each) for each in ("account", "region")}
    return SignalEvent(
        source=source,
        key=arns[0] if arns else ":".join((*where.values(), name)),
        name=name,
        state=alarm_state(text(state, "value")),
        at=time(document, "time"),
        labels={**_measured(mapping(detail.get("configuration") or {}, "configuration")), **where, "alarm": name},
    )


def alarm_state(value: str) -> SignalState:
    """Whether an alarm of CloudWatch in this state is an open signal; one without data is not. Raises `errors.Malformed`."""
    if value not in ("ALARM", "OK", "INSUFFICIENT_DATA"):
        raise Malformed("The state of the alarm is none that CloudWatch has. Nothing of the message was taken.")
    return SignalState.OPEN if value == "ALARM" else SignalState.CLOSED


def _measured(configuration: Mapping[str, Any]) -> dict[str, str]:
    """Namespace, metric and dimensions of the first metric that the alarm watches."""
    for each in items(configuration.get("metrics") or [], "metrics"):
        statistic = mapping(each, "metrics").get("metricStat")
        if isinstance(statistic, Mapping):
            metric = mapping(member(statistic, "metric"), "metric")
            dimensions = mapping(metric.get("dimensions") or {}, "dimensions")
            found = {name: optional(dimensions, name) for name in list(dimensions)[:30]}
            return {**found, "namespace": optional(metric, "namespace"), "metric": optional(metric, "name")}
    return {}


def _health(source: str, document: Mapping[str, Any], detail: Mapping[str, Any]) -> SignalEvent:
    code = text(detail, "eventTypeCode")
    status = optional(detail, "statusCode")
    named = {"aws_service": optional(detail, "service"), "category": optional(detail, "eventTypeCategory")}
    return SignalEvent(
        source=source,
        key=text(detail, "eventArn"),
        name=code,
        state=SignalState.OPEN if status == "open" else SignalState.CLOSED,
        at=time(document, "time"),
        labels={**named, "account": text(document, "account"), "region": text(document, "region"), "event": code},
    )
