"""Knows what the evidence of motives is measured from: alarms, their metrics, the logs behind these, and rules of EventBridge with their buses.

All of it is found in the recorded states, from the places at which Sentinel listens: topics, queues and its own endpoints of signals.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from gateway.core.model.mutation import Call

ALARMS: Final = "aws_cloudwatch_metric_alarm"
_COMPOSITES: Final = "aws_cloudwatch_composite_alarm"
_ACTIONS: Final = ("alarm_actions", "ok_actions", "insufficient_data_actions")
_NAMED_ALARM: Final = re.compile(r"(?:ALARM|OK|INSUFFICIENT_DATA)\s{0,9}\(\s{0,9}[\"']?([^\"'()]{1,300})")
"""An alarm in the rule of a composite one, by its name or ARN."""
_ALARM_ARN: Final = ":alarm:"
_CLOUDWATCH, _STATE_CHANGE = "aws.cloudwatch", "CloudWatch Alarm State Change"
_DEFAULT_BUS: Final = "default"
_MOST_DEEP: Final = 20
"""Composite alarms on composite alarms that are followed; AWS allows five."""

Metric = tuple[str, str]
"""Namespace and name."""


class RecordedStates(Protocol):
    """What the states record."""

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        """The recorded attributes of every resource of a type."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What signals are measured from."""

    alarms: frozenset[str] = frozenset()
    metrics: frozenset[Metric] = frozenset()
    logs: frozenset[str] = frozenset()
    """Log groups of which a filter makes such a metric."""
    rules: frozenset[str] = frozenset()
    buses: Mapping[str, Sequence[Mapping[str, Any]]]
    """Each bus of such a rule, and the patterns of the events that count."""

    def reached_by(self, call: Call) -> str:
        """What of this the call makes up, in words; empty if nothing."""
        parameters = call.parameters
        match f"{call.service}:{call.operation}":
            case "cloudwatch:PutMetricData":
                namespace = str(parameters.get("Namespace"))
                data = [*_each(parameters.get("MetricData")), *self._of_entities(parameters)]
                return self._metric((namespace, str(each.get("MetricName"))) for each in data)
            case "logs:PutMetricFilter":
                made = _each(parameters.get("metricTransformations"))
                return self._metric((str(each.get("metricNamespace")), str(each.get("metricName"))) for each in made)
            case "logs:PutLogEvents":
                group = str(parameters.get("logGroupName"))
                if group in self.logs:
                    return f"the logs {group}, of which a metric is made"
                return self._metric(_embedded(parameters)) if self.metrics else ""
            case "events:PutEvents":
                return next(filter(None, map(self._bus, _each(parameters.get("Entries")))), "")
        return ""

    @staticmethod
    def _of_entities(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for entity in _each(parameters.get("EntityMetricData")):
            yield from _each(entity.get("MetricData"))

    def _metric(self, named: Iterator[Metric]) -> str:
        found = next((each for each in named if each in self.metrics), None)
        return f"the metric {found[0]} {found[1]}" if found is not None else ""

    def _bus(self, entry: Mapping[str, Any]) -> str:
        bus = _bus_name(entry.get("EventBusName"))
        fits = any(
            _takes(pattern.get("source"), str(entry.get("Source")))
            and _takes(pattern.get("detail-type"), str(entry.get("DetailType")))
            for pattern in self.buses.get(bus, ())
        )
        return f"the event bus {bus}" if fits else ""


NO_EVIDENCE: Final = Evidence(buses={})


def evidence_of(
    recorded: RecordedStates, *, topics: frozenset[str], queues: frozenset[str], endpoints: Sequence[str]
) -> Evidence:
    """What is measured for the places at which Sentinel listens. `endpoints` are paths of its own."""
    if not topics and not queues and not endpoints:
        return NO_EVIDENCE
    destinations = {
        str(each.get("arn"))
        for each in recorded.recorded_of("aws_cloudwatch_event_api_destination")
        if str(each.get("invocation_endpoint")).rstrip("/").endswith(tuple(endpoints))
    }
    fed = {
        (str(each.get("rule")), _bus_name(each.get("event_bus_name")))
        for each in recorded.recorded_of("aws_cloudwatch_event_target")
        if (arn := str(each.get("arn"))) in topics | destinations
        or (":sqs:" in arn and arn.rpartition(":")[2] in queues)
    }
    rules = [
        each
        for each in recorded.recorded_of("aws_cloudwatch_event_rule")
        if (str(each.get("name")), _bus_name(each.get("event_bus_name"))) in fed
    ]
    alarms = _alarms(recorded, topics, rules)
    metrics = frozenset(_metrics(recorded, alarms))
    logs = frozenset(
        str(each.get("log_group_name"))
        for each in recorded.recorded_of("aws_cloudwatch_log_metric_filter")
        if any(
            (str(made.get("namespace")), str(made.get("name"))) in metrics
            for made in _each(each.get("metric_transformation"))
        )
    )
    return Evidence(
        alarms=alarms, metrics=metrics, logs=logs, rules=frozenset(name for name, _ in fed), buses=_buses(rules)
    )


def _alarms(recorded: RecordedStates, topics: frozenset[str], rules: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The alarms that act on a topic or whose changes a rule passes on, and those on which they depend."""
    every = {
        str(name): each
        for kind in (ALARMS, _COMPOSITES)
        for each in recorded.recorded_of(kind)
        if (name := each.get("alarm_name"))
    }
    found = {
        name
        for name, each in every.items()
        if not topics.isdisjoint(str(action) for member in _ACTIONS for action in each.get(member) or ())
    }
    for rule in rules:
        pattern = _pattern(rule)
        if _takes(pattern.get("source"), _CLOUDWATCH) and _takes(pattern.get("detail-type"), _STATE_CHANGE):
            found |= {name for name in every if _takes_alarm(pattern.get("resources"), name)}
    new = found
    for _ in range(_MOST_DEEP):
        named = {
            _alarm_name(text)
            for name in new
            if name in every
            for text in _NAMED_ALARM.findall(str(every[name].get("alarm_rule") or ""))
        }
        new = named - found
        found = found | new
        if not new:
            break
    return frozenset(found)


def _metrics(recorded: RecordedStates, alarms: frozenset[str]) -> Iterator[Metric]:
    """The metrics that these alarms watch, but for those of AWS, which nobody else can write."""
    for alarm in recorded.recorded_of(ALARMS):
        if alarm.get("alarm_name") not in alarms:
            continue
        queries = [metric for query in _each(alarm.get("metric_query")) for metric in _each(query.get("metric"))]
        for each in (alarm, *queries):
            namespace, name = each.get("namespace"), each.get("metric_name")
            if namespace and name and not str(namespace).startswith("AWS/"):
                yield str(namespace), str(name)


def _buses(rules: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    buses: dict[str, list[Mapping[str, Any]]] = {}
    for rule in rules:
        buses.setdefault(_bus_name(rule.get("event_bus_name")), []).append(_pattern(rule))
    return buses


def _pattern(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        found = json.loads(str(rule.get("event_pattern") or "{}"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _texts(given: object) -> frozenset[str] | None:
    """The texts of a list; None if there is none, or something else is in it, which may fit anything."""
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        return None
    return frozenset(given)


def _takes(given: object, text: str) -> bool:
    texts = _texts(given)
    return texts is None or text in texts


def _takes_alarm(given: object, name: str) -> bool:
    texts = _texts(given)
    return texts is None or any(text.endswith(f"{_ALARM_ARN}{name}") for text in texts)


def _alarm_name(text: str) -> str:
    return text.strip().rpartition(_ALARM_ARN)[2]


def _bus_name(given: object) -> str:
    return str(given or _DEFAULT_BUS).rpartition("/")[2]


def _each(given: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, or the object itself."""
    items = given if isinstance(given, list | tuple) else (given,)
    return (each for each in items if isinstance(each, Mapping))


def _embedded(parameters: Mapping[str, Any]) -> Iterator[Metric]:
    """The metrics that log events hold in CloudWatch's embedded format, which it reads in every log group.

    Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    for event in _each(parameters.get("logEvents")):
        message = str(event.get("message"))
        if not message.lstrip().startswith("{"):
            continue
        try:
            document = json.loads(message)
        except (ValueError, RecursionError):
            continue
        about = document.get("_aws") if isinstance(document, dict) else None
        for block in _each(about.get("CloudWatchMetrics") if isinstance(about, dict) else None):
            for metric in _each(block.get("Metrics")):
                yield str(block.get("Namespace")), str(metric.get("Name"))
