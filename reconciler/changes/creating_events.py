"""Which events created something, which deleted it again, and which are not about the account and region of the stack.

What is not known to be harmless counts as a creation: an event that nobody understands is named, never passed over in silence.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from gateway.effects.derived_rows import derived_rows
from reconciler.changes.cloudtrail import Event
from reconciler.changes.event_creations import Created, read_creation
from reconciler.changes.event_values import EventValues, event_values

_MAKES: Final = frozenset(
    [
        "create",
        "run",
        "register",
        "allocate",
        "import",
        "copy",
        "restore",
        "request",
        "purchase",
        "provision",
        "issue",
        "upload",
        "launch",
        "clone",
    ]
)
"""Verbs of calls that create something for sure. Others, such as `put`, may only change what is there."""
_ENDING: Final = frozenset(
    [
        "delete",
        "terminate",
        "remove",
        "revoke",
        "detach",
        "disassociate",
        "deregister",
        "release",
        "unsubscribe",
        "cancel",
        "disable",
        "purge",
        "reject",
        "withdraw",
    ]
)
"""Verbs of calls that delete."""
_CHANGES_ONLY: Final = frozenset(
    [
        "update",
        "modify",
        "set",
        "reset",
        "stop",
        "start",
        "reboot",
        "tag",
        "untag",
        "rotate",
        "send",
        "receive",
        "invoke",
        "execute",
        "test",
        "validate",
        "assume",
        "get",
        "list",
        "describe",
        "head",
        "batch",
        "complete",
        "post",
        "poll",
        "change",
        "pause",
        "resume",
        "replace",
        "rename",
        "move",
        "promote",
        "failover",
        "switch",
        "rebuild",
        "refresh",
        "apply",
        "signal",
        "retry",
        "schedule",
        "unmonitor",
        "monitor",
        "unassign",
        "assign",
        "unshare",
        "report",
        "record",
        "confirm",
        "respond",
        "admin",
        "initiate",
        "forgot",
        "resend",
        "login",
        "abort",
        "finalize",
        "acknowledge",
        "heartbeat",
        "extend",
        "renew",
        "redrive",
        "split",
        "merge",
        "increase",
        "decrease",
        "lookup",
        "search",
        "query",
        "scan",
        "check",
        "preview",
        "estimate",
        "simulate",
        "decrypt",
        "encrypt",
        "sign",
        "exit",
        "notify",
        "stage",
        "unlock",
        "lock",
        "restart",
        "reload",
        "flush",
        "begin",
        "commit",
        "rollback",
        "continue",
        "approve",
        "evaluate",
    ]
)
"""Verbs of calls that create nothing of their own."""
_NOT_CREATING: Final = frozenset(
    {"ec2:CreateTags", "sns:Publish", "logs:PutLogEvents", "events:PutEvents", "monitoring:PutMetricData", "cloudwatch:PutMetricData",
     "kms:GenerateDataKey", "kms:GenerateDataKeyWithoutPlaintext", "kms:GenerateDataKeyPair", "kms:GenerateRandom", "kms:GenerateMac",
     "sts:GetSessionToken", "kinesis:PutRecord", "kinesis:PutRecords", "dynamodb:PutItem", "ssm:PutComplianceItems", "ssm:PutInventory",
     "firehose:PutRecord", "firehose:PutRecordBatch", "xray:PutTraceSegments", "xray:PutTelemetryRecords", "config:PutEvaluations",
     "iam:GenerateCredentialReport", "iam:GenerateServiceLastAccessedDetails", "ssm:CreateSession",
     "signin:CreateOAuth2Token", "sso:CreateToken"}
)  # fmt: skip
"""Calls that are named like creations and make nothing that Terraform declares."""
_CREATING_ALL_THE_SAME: Final = frozenset({"ecr:SetRepositoryPolicy", "route53:ChangeResourceRecordSets"})
"""Calls that create something although their verb does not say so."""
_TAGGING: Final = frozenset({"tags", "tag", "tagging"})
_EVERYWHERE: Final = frozenset(
    {
        "iam",
        "route53",
        "cloudfront",
        "organizations",
        "sts",
        "globalaccelerator",
        "shield",
        "waf",
        "budgets",
        "ce",
        "s3",
    }
)
"""Services whose resources, or their names, belong to no region."""
_SERVICES: Final[Mapping[str, tuple[str, ...]]] = {
    "access-analyzer": ("accessanalyzer",),
    "airflow": ("mwaa",),
    "aoss": ("opensearchserverless",),
    "apigateway": ("apigateway", "apigatewayv2"),
    "aps": ("amp",),
    "autoscaling": ("autoscaling", "application-autoscaling"),
    "cassandra": ("keyspaces",),
    "elasticfilesystem": ("efs",),
    "elasticloadbalancing": ("elbv2", "elb"),
    "elasticmapreduce": ("emr",),
    "email": ("ses", "sesv2"),
    "es": ("opensearch", "es"),
    "kinesisanalytics": ("kinesisanalyticsv2", "kinesisanalytics"),
    "models": ("lexv2-models", "lex-models"),
    "monitoring": ("cloudwatch",),
    "rds": ("rds", "neptune", "docdb"),
    "ses": ("ses", "sesv2"),
    "sso": ("sso-admin",),
    "states": ("stepfunctions",),
    "tagging": ("resourcegroupstaggingapi",),
}
"""botocore's services by event source, where the names differ."""
_LISTS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "ec2:RunInstances": (("responseElements", "instancesSet"), ("responseElements", "instances")),
    "ec2:CreateFlowLogs": (("responseElements", "flowLogIdSet"), ("responseElements", "flowLogIds")),
    "ec2:AuthorizeSecurityGroupIngress": (("responseElements", "securityGroupRuleSet"), ("responseElements", "securityGroupRules")),
    "ec2:AuthorizeSecurityGroupEgress": (("responseElements", "securityGroupRuleSet"), ("responseElements", "securityGroupRules")),
    "events:PutTargets": (("requestParameters", "targets"),),
    "elasticloadbalancing:RegisterTargets": (("requestParameters", "targets"),),
    "route53:ChangeResourceRecordSets": (("requestParameters", "changeBatch", "changes"),),
}  # fmt: skip
"""The list in a record whose items are one creation each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Creation:
    """A call, or one of several items of a call, that may have created something."""

    event: Event
    values: EventValues
    made: Created | None = None
    """What a hand-made table reads from the call."""
    types: tuple[str, ...] = ()
    """The types that a table says the call creates."""
    elsewhere: str = ""
    """Why it cannot be read where the stack is, as a sentence; empty if it can."""
    certain: bool = True
    """Whether the call creates something for sure, and does not only change what was there."""

    @property
    def at(self) -> str:
        """When, as ISO 8601."""
        return self.event.origin.at.isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A call that deleted something."""

    event: Event
    values: EventValues

    def ends_itself(self, creation: Creation) -> bool:
        """Whether it deleted just what the creation made: it is the opposite call, and all that it names stands in that one."""
        return sorted(self.values.noun) == sorted(creation.values.noun) and self.ends(creation)

    def ends(self, creation: Creation) -> bool:
        """Whether it deleted what the creation made, or what that belonged to, by all the names that it says."""
        said = {each.value for each in self.values.asked if isinstance(each.value, str)}
        own, made = set(self.values.noun), set(creation.values.noun)
        nouns = own <= made or made <= own
        same = self.values.service == creation.values.service and nouns
        return (
            same and bool(said) and said <= creation.values.texts and self.event.origin.at >= creation.event.origin.at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the events tell about creations."""

    creations: tuple[Creation, ...] = ()
    deletions: tuple[Deletion, ...] = ()
    noted: tuple[str, ...] = ()
    """A sentence for each kind of events that are not the stack's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The accounts and regions of a stack, as far as the ARNs of its resources say them."""

    accounts: frozenset[str] = frozenset()
    regions: frozenset[str] = frozenset()

    @classmethod
    def of(cls, live: Mapping[str, Mapping[str, Json]]) -> "Place":
        """That of resources with these attributes, by address."""
        arns = [str(own.get("arn") or "").split(":") for own in live.values()]
        places = [parts for parts in arns if len(parts) > 5]  # noqa: PLR2004  arn:partition:service:region:account:resource
        return cls(
            accounts=frozenset(parts[4] for parts in places if parts[4].isdecimal()),
            regions=frozenset(parts[3] for parts in places if parts[3]),
        )

    def other_account(self, call: Mapping[str, Any]) -> str:
        """The account of a call, if it is not the stack's."""
        account = str(call.get("recipientAccountId") or "")
        return account if account and self.accounts and account not in self.accounts else ""

    def other_region(self, call: Mapping[str, Any], service: str) -> str:
        """The region of a call, if the stack has nothing there."""
        region = str(call.get("awsRegion") or "")
        known = not region or not self.regions or service in _EVERYWHERE
        return "" if known or region in self.regions else region


def told(events: Sequence[Event], place: Place) -> Told:
    """What the events tell, the oldest first. Events of failed calls and reads are not among them."""
    creations, deletions, noted = [], [], dict[str, int]()
    for event in sorted(events, key=lambda each: each.origin.at):
        values = event_values(event.call)
        if account := place.other_account(event.call):
            sentence = f"events of the account {account}, which is not the stack's"
            noted[sentence] = noted.get(sentence, 0) + 1
            continue
        if values.words[:1] == ("schedule",) and values.words[-1:] == ("deletion",):
            values = replace(values, words=("delete", *values.words[1:-1]))
        if values.verb in _ENDING:
            deletions.append(Deletion(event=event, values=values))
            continue
        found = list(_creations(event))
        if found and event.origin.actor.endswith(".amazonaws.com"):
            sentence = f"{event.origin.event} by the AWS service {event.origin.actor}: a controller owns what it made"
            noted[sentence] = noted.get(sentence, 0) + 1
            continue
        region = place.other_region(event.call, values.service)
        elsewhere = f"It was created in {region}, where the stack has nothing." if region else ""
        creations += [replace(each, elsewhere=elsewhere) for each in found]
    return Told(
        creations=tuple(creations),
        deletions=tuple(deletions),
        noted=tuple(f"{count} × {sentence}." for sentence, count in noted.items()),
    )


def _creations(event: Event) -> Iterator[Creation]:
    values = event_values(event.call)
    name = f"{values.service}:{values.operation}"
    made = read_creation(event.call)
    always = made is not None or name in _CREATING_ALL_THE_SAME
    if not always and (name in _NOT_CREATING or values.verb in _CHANGES_ONLY or _TAGGING & {*values.noun}):
        return
    services = services_of(values.service)
    types = tuple(dict.fromkeys(each for service in services for each in _created_by(service, values.operation)))
    certain = made is not None or values.verb in _MAKES or name in _CREATING_ALL_THE_SAME
    parts = _parts(event.call, name)
    for part in parts:
        own = read_creation(part) if len(parts) > 1 else made
        yield Creation(event=event, values=event_values(part), made=own, types=types, certain=certain)


def _created_by(service: str, operation: str) -> Iterator[str]:
    """The types that derived rows say an operation creates."""
    for row in derived_rows(service, operation):
        if EffectAction.CREATE in row.actions and row.resource_type.startswith("aws_"):
            yield row.resource_type


def services_of(source: str) -> tuple[str, ...]:
    """Botocore's names of the services that an event source may be."""
    return _SERVICES.get(source, (source,))


def _parts(call: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The call once for each item of its list; the call itself if it has one item, or no list."""
    for path in _LISTS.get(name, ()):
        items = _at(call, path)
        if len(items) > 1:
            return [_with(call, path, item) for item in items]
    return [call]


def _at(call: Any, path: Sequence[str]) -> list[Any]:
    for step in path:
        call = call.get(step) if isinstance(call, Mapping) else None
    inner = call.get("items") if isinstance(call, Mapping) else call
    return list(inner) if isinstance(inner, list) else []


def _with(call: Mapping[str, Any], path: Sequence[str], item: Any) -> Mapping[str, Any]:
    first, *rest = path
    return {**call, first: _with(call[first], rest, item) if rest else [item]}
