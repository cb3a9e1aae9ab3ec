"""Knows what the evidence of motives is measured from: alarms, their metrics, the logs behind these, and rules of EventBridge with their buses.

All of it is found in the recorded states, from the places at which Sentinel listens: topics, queues and its own endpoints of signals. Whatever
passes on to one of these is followed: buses, pipes and subscriptions. A text of it that is not understood makes everything of its kind evidence.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from gateway.core.model.mutation import Call
from gateway.effects.proxies.alarms import does_more_than_notify

ALARMS: Final = "aws_cloudwatch_metric_alarm"
_COMPOSITES: Final = "aws_cloudwatch_composite_alarm"
_ACTIONS: Final = ("alarm_actions", "ok_actions", "insufficient_data_actions")
_NAMED_ALARM: Final = re.compile(
    r"(?:ALARM|OK|INSUFFICIENT_DATA)\s*\((?:\s*\"((?:[^\"\\]|\\.)*)\"\s*|\s*'((?:[^'\\]|\\.)*)'\s*|([^\"'()]+))\)",
    re.IGNORECASE | re.DOTALL,
)
"""An alarm in the rule of a composite one, by its name or ARN.
Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html"""
_OPERATORS: Final = re.compile(r"AND|OR|NOT|TRUE|FALSE|[\s()]", re.IGNORECASE)
"""What else stands in such a rule."""
_FOUND_METRICS: Final = re.compile(r"\b(SELECT|SEARCH)\b", re.IGNORECASE)
"""Expressions that look for metrics: Metrics Insights and searches."""
_NAMESPACE: Final = re.compile(
    r"\bFROM\s+(?:SCHEMA\s*\(\s*)?(?:\"([^\"]+)\"|([\w./#:-]+))|\bSEARCH\s*\(\s*['\"]\s*\{([^,{}]+)[,}]",
    re.IGNORECASE,
)
"""The namespace in which such an expression looks.
Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/search-expression-syntax.html"""
_LOG_RULES: Final = "INSIGHT_RULE_METRIC"
"""The function of metric math that counts in logs: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html"""
_TELEMETRY: Final[Mapping[str, tuple[str, ...]]] = {
    "xray:PutTraceSegments": ("AWS/X-Ray", "ApplicationSignals"),
    "xray:PutTelemetryRecords": ("AWS/X-Ray",),
    "rum:PutRumEvents": ("AWS/RUM", "RUM/CustomMetrics"),
    "evidently:PutProjectEvents": ("AWS/Evidently",),
}
"""Calls by which a caller says what AWS then measures in namespaces of its own, or in such that begin like them.
Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-RUM-custom-and-extended-metrics.html"""
_OF_AWS: Final = frozenset(each for namespaces in _TELEMETRY.values() for each in namespaces)
_MAKES_ALARMS: Final = frozenset({"cloudwatch:PutMetricAlarm", "cloudwatch:PutCompositeAlarm"})
_IN_LOGS: Final = "CloudWatchMetrics"
"""The member of a log event in which its metrics stand, in CloudWatch's embedded format."""
_ESCAPED: Final = re.compile(r"\\u([0-9A-Fa-f]{4})")
_ALARM_ARN: Final = ":alarm:"
_CLOUDWATCH, _STATE_CHANGE = "aws.cloudwatch", "CloudWatch Alarm State Change"
_DEFAULT_BUS: Final = "default"

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
    metrics: "Metrics"
    logs: frozenset[str] = frozenset()
    """Log groups of which a filter makes such a metric."""
    every_log: bool = False
    """Whether an alarm counts in logs of which the states do not tell which they are."""
    topics: frozenset[str] = frozenset()
    """ARNs of topics that pass messages on to where Sentinel listens."""
    queues: frozenset[str] = frozenset()
    """Names of queues that pass messages on to where Sentinel listens."""
    rules: frozenset[str] = frozenset()
    buses: Mapping[str, Sequence[Mapping[str, Any]]]
    """Each bus of such a rule, and the patterns of the events that count."""
    every_alarm: bool = False
    """Whether a rule passes on what any alarm does, also one that somebody makes now."""

    def makes_alarm(self, call: Call) -> bool:
        """Whether the call makes or changes an alarm that counts although no state records it."""
        return self.every_alarm and f"{call.service}:{call.operation}" in _MAKES_ALARMS

    def reached_by(self, call: Call) -> str:
        """What of this the call makes up, in words; empty if nothing."""
        parameters = call.parameters
        match f"{call.service}:{call.operation}":
            case name if name in _TELEMETRY:
                found = next(filter(self.metrics.some_of, _TELEMETRY[name]), "")
                return f"what {found} measures" if found else ""
            case "cloudwatch:PutMetricData":
                namespace = str(parameters.get("Namespace"))
                data = [*_each(parameters.get("MetricData")), *self._of_entities(parameters)]
                return self._metric((namespace, str(each.get("MetricName"))) for each in data)
            case "logs:PutMetricFilter":
                made = _each(parameters.get("metricTransformations"))
                return self._metric((str(each.get("metricNamespace")), str(each.get("metricName"))) for each in made)
            case "logs:PutLogEvents":
                group = str(parameters.get("logGroupName"))
                group = group.rpartition(":log-group:")[2].removesuffix(":*")
                if self.every_log or group in self.logs:
                    return f"the logs {group}, of which a metric is made"
                if not self.metrics.any:
                    return ""
                messages = [str(each.get("message")) for each in _each(parameters.get("logEvents"))]
                embedded = [_embedded(message) for message in messages]
                if None in embedded:
                    return "metrics in logs, in a form that Sentinel cannot read and CloudWatch may"
                return self._metric(metric for each in embedded for metric in each or ())
            case "events:PutEvents":
                return next(filter(None, map(self._bus, _each(parameters.get("Entries")))), "")
        return ""

    @staticmethod
    def _of_entities(parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        for entity in _each(parameters.get("EntityMetricData")):
            yield from _each(entity.get("MetricData"))

    def _metric(self, named: Iterator[Metric]) -> str:
        found = next((each for each in named if self.metrics.has(each)), None)
        return f"the metric {found[0]} {found[1]}" if found is not None else ""

    def _bus(self, entry: Mapping[str, Any]) -> str:
        bus = _bus_name(entry.get("EventBusName"))
        fits = any(
            _takes(pattern.get("source"), str(entry.get("Source")))
            and _takes(pattern.get("detail-type"), str(entry.get("DetailType")))
            for pattern in self.buses.get(bus, ())
        )
        return f"the event bus {bus}" if fits else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """Metrics that are watched: by name, by namespace where an expression looks for them, or all if it does not say where."""

    named: frozenset[Metric] = frozenset()
    namespaces: frozenset[str] = frozenset()
    every: bool = False

    @property
    def any(self) -> bool:
        """Whether any metric is watched."""
        return self.every or bool(self.named or self.namespaces)

    def has(self, metric: Metric) -> bool:
        """Whether one metric is watched."""
        return self.every or metric[0] in self.namespaces or metric in self.named

    def some_of(self, namespace: str) -> bool:
        """Whether a metric of the namespace, or of one that begins with its name, is watched."""
        watched = {*self.namespaces, *(each for each, _ in self.named)}
        return self.every or any(f"{each}/".startswith(f"{namespace}/") for each in watched)


NO_EVIDENCE: Final = Evidence(buses={}, metrics=Metrics())


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
    passing = _passing(recorded, _Passing(topics=topics, queues=queues, destinations=frozenset(destinations)))
    rules = [
        each
        for each in recorded.recorded_of("aws_cloudwatch_event_rule")
        if (str(each.get("name")), _bus_name(each.get("event_bus_name"))) in passing.rules
    ]
    found = _watched(recorded, _alarms(recorded, passing.topics, rules))
    return replace(
        found,
        topics=passing.topics - topics,
        queues=passing.queues - queues,
        rules=frozenset(name for name, _ in passing.rules),
        buses=_buses(rules),
        every_alarm=any(
            _texts(pattern.get("resources")) is None for pattern in map(_pattern, rules) if _of_alarms(pattern)
        ),
    )


def acted_on(recorded: RecordedStates) -> Evidence:
    """What alarms are measured from whose actions do more than notify: who makes that up has AWS stop, scale or run something."""
    every = _every_alarm(recorded)
    acting = {
        name
        for name, each in every.items()
        if any(does_more_than_notify(action) for member in _ACTIONS for action in each.get(member) or ())
    }
    return _watched(recorded, _with_children(every, acting)) if acting else NO_EVIDENCE


def _watched(recorded: RecordedStates, alarms: frozenset[str]) -> Evidence:
    """The alarms, with the metrics and logs that they watch."""
    watching = [each for each in recorded.recorded_of(ALARMS) if each.get("alarm_name") in alarms]
    metrics = _metrics(watching)
    logs = frozenset(
        str(each.get("log_group_name"))
        for each in recorded.recorded_of("aws_cloudwatch_log_metric_filter")
        if any(
            metrics.has((str(made.get("namespace")), str(made.get("name"))))
            for made in _each(each.get("metric_transformation"))
        )
    )
    return Evidence(
        alarms=alarms,
        metrics=metrics,
        logs=logs,
        every_log=any(_LOG_RULES in text.upper() for text in _expressions(watching)),
        buses={},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Passing:
    """What passes events and messages on to the places at which Sentinel listens, and these places."""

    topics: frozenset[str]
    queues: frozenset[str]
    destinations: frozenset[str]
    rules: frozenset[tuple[str, str]] = frozenset()
    """Name and bus."""

    def takes(self, arn: str) -> bool:
        """Whether what is sent to the ARN arrives."""
        name = arn.rpartition(":")[2]
        if ":event-bus/" in arn:
            return any(bus == _bus_name(arn) for _, bus in self.rules)
        return arn in self.topics | self.destinations or (":sqs:" in arn and name in self.queues)


def _passing(recorded: RecordedStates, known: _Passing) -> _Passing:
    """All that passes on to what is known: each round adds what leads to the last one's, until there is no more."""
    while True:
        rules = {
            (str(each.get("rule")), _bus_name(each.get("event_bus_name")))
            for each in recorded.recorded_of("aws_cloudwatch_event_target")
            if any(known.takes(str(at.get("arn"))) for at in (each, *_each(each.get("dead_letter_config"))))
        }
        topics = {
            str(each.get("topic_arn"))
            for each in recorded.recorded_of("aws_sns_topic_subscription")
            if known.takes(str(each.get("endpoint"))) or known.takes(_dead_letters(each))
        }
        queues = {
            source.rpartition(":")[2]
            for each in recorded.recorded_of("aws_pipes_pipe")
            if ":sqs:" in (source := str(each.get("source"))) and known.takes(str(each.get("target")))
        }
        queues |= {
            str(each.get("name") or each.get("queue_url")).rpartition("/")[2]
            for kind in ("aws_sqs_queue", "aws_sqs_queue_redrive_policy")
            for each in recorded.recorded_of(kind)
            if known.takes(_dead_letters(each))
        }
        more = replace(known, rules=known.rules | rules, topics=known.topics | topics, queues=known.queues | queues)
        if more == known:
            return known
        known = more


def _dead_letters(attributes: Mapping[str, Any]) -> str:
    """The ARN of the queue that gets, as they are, the messages which nobody takes; empty if there is none."""
    return str(_object(attributes.get("redrive_policy")).get("deadLetterTargetArn") or "")


def _alarms(recorded: RecordedStates, topics: frozenset[str], rules: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    """The alarms that act on a topic or whose changes a rule passes on, and those on which they depend."""
    every = _every_alarm(recorded)
    found = {
        name
        for name, each in every.items()
        if not topics.isdisjoint(str(action) for member in _ACTIONS for action in each.get(member) or ())
    }
    for rule in rules:
        pattern = _pattern(rule)
        if _of_alarms(pattern):
            resources = _texts(pattern.get("resources")) or frozenset()
            found |= {name for name in every if _takes_alarm(pattern.get("resources"), name)}
            found |= {_alarm_name(text) for text in resources if _ALARM_ARN in text}
    return _with_children(every, found)


def _every_alarm(recorded: RecordedStates) -> Mapping[str, Mapping[str, Any]]:
    return {
        str(name): each
        for kind in (ALARMS, _COMPOSITES)
        for each in recorded.recorded_of(kind)
        if (name := each.get("alarm_name"))
    }


def _with_children(every: Mapping[str, Mapping[str, Any]], found: AbstractSet[str]) -> frozenset[str]:
    """The alarms with those on which they depend."""
    new = found
    while new:
        rules_of_new = [str(every[name].get("alarm_rule") or "") for name in new if name in every]
        named = {name for rule in rules_of_new for name in _named_alarms(rule)}
        if not all(map(_is_understood, rules_of_new)):
            named |= every.keys()
        new = named - found
        found = found | new
    return frozenset(found)


def _of_alarms(pattern: Mapping[str, Any]) -> bool:
    """Whether a rule with this pattern passes on what alarms do."""
    return _takes(pattern.get("source"), _CLOUDWATCH) and _takes(pattern.get("detail-type"), _STATE_CHANGE)


def _named_alarms(rule: str) -> Iterator[str]:
    """The alarms in the rule of a composite one. In quotes, a backslash stands before a quote or a backslash."""
    for quoted, single, bare in _NAMED_ALARM.findall(rule):
        yield _alarm_name(re.sub(r"\\(.)", r"\1", quoted or single) or bare.strip())


def _is_understood(rule: str) -> bool:
    """Whether nothing is left of the rule of a composite alarm without its alarms and operators."""
    return not _OPERATORS.sub("", _NAMED_ALARM.sub(" ", rule))


def _metrics(alarms: Sequence[Mapping[str, Any]]) -> Metrics:
    """The metrics that these alarms watch, but for those of AWS, which nobody else can write."""
    named: set[Metric] = set()
    for alarm in alarms:
        queries = [metric for query in _each(alarm.get("metric_query")) for metric in _each(query.get("metric"))]
        for each in (alarm, *queries):
            namespace, name = each.get("namespace"), each.get("metric_name")
            if namespace and name and _is_writable(str(namespace)):
                named.add((str(namespace), str(name)))
    found = [namespaces for text in _expressions(alarms) if (namespaces := _namespaces(text)) is not None]
    return Metrics(
        named=frozenset(named),
        namespaces=frozenset(each for namespaces in found for each in namespaces if _is_writable(each)),
        every=not all(found),
    )


def _expressions(alarms: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (str(query.get("expression") or "") for alarm in alarms for query in _each(alarm.get("metric_query")))


def _namespaces(expression: str) -> frozenset[str] | None:
    """The namespaces in which an expression looks for metrics; None if it looks for none, empty if it does not say where."""
    searches = len(_FOUND_METRICS.findall(expression))
    if not searches:
        return None
    found = [next(filter(None, groups)).strip(" \\\"'") for groups in _NAMESPACE.findall(expression)]
    return frozenset(found) if len(found) >= searches and all(found) else frozenset()


def _is_writable(namespace: str) -> bool:
    return not namespace.startswith("AWS/") or namespace in _OF_AWS


def _buses(rules: Sequence[Mapping[str, Any]]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    buses: dict[str, list[Mapping[str, Any]]] = {}
    for rule in rules:
        buses.setdefault(_bus_name(rule.get("event_bus_name")), []).append(_pattern(rule))
    return buses


def _pattern(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    return _object(rule.get("event_pattern"))


def _object(text: object) -> Mapping[str, Any]:
    """The object of a JSON text; an empty one if it holds none."""
    try:
        found = json.loads(str(text or "{}"))
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
    return text.rpartition(_ALARM_ARN)[2]


def _bus_name(given: object) -> str:
    return str(given or _DEFAULT_BUS).rpartition("/")[2]


def _each(given: object) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, or the object itself."""
    items = given if isinstance(given, list | tuple) else (given,)
    return (each for each in items if isinstance(each, Mapping))


def _embedded(message: str) -> Sequence[Metric] | None:
    """The metrics that a log event holds in CloudWatch's embedded format, which it reads in every log group; None if it holds some that cannot
    be read here. CloudWatch may read more than this program: a number of any length, any depth, a name that stands twice.

    Source: https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
    """
    if not message.lstrip().lstrip("\ufeff").lstrip().startswith("{"):
        return ()
    if _IN_LOGS not in _ESCAPED.sub(lambda found: chr(int(found[1], 16)), message):
        return ()
    try:
        document = json.loads(
            message, object_pairs_hook=_with_every_value, parse_int=str, parse_float=str, strict=False
        )
    except (ValueError, RecursionError):
        return None
    return [
        (str(namespace), str(name))
        for about in document.get("_aws", ())
        for blocks in (about.get(_IN_LOGS, ()) if isinstance(about, Mapping) else ())
        for block in _each(blocks)
        for namespace in block.get("Namespace", (None,))
        for metrics in block.get("Metrics", ())
        for metric in _each(metrics)
        for name in metric.get("Name", (None,))
    ]


def _with_every_value(pairs: Sequence[tuple[str, Any]]) -> Mapping[str, list[Any]]:
    """An object of JSON with each value of a name that stands in it more than once."""
    found: dict[str, list[Any]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found
