"""Which events created something, which deleted it again, and which are not about the account and region of the stack.

What is not known to be harmless counts as a creation: an event that nobody understands is named, never passed over in silence.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from gateway.core.derived_rows import derived_rows
from gateway.core.event_sources import services_of
from gateway.core.model.json import Json
from gateway.core.model.mutation import EffectAction
from reconciler.changes.cloudtrail import Event, letters
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
_UNDOES: Final[Mapping[str, frozenset[str] | None]] = {
    **dict.fromkeys(("delete", "terminate", "release", "deregister")),
    "cancel": frozenset({"request"}),
    "detach": frozenset({"attach"}),
    "disassociate": frozenset({"associate"}),
    "remove": frozenset({"add", "put"}),
    "revoke": frozenset({"authorize", "create", "grant"}),
    "unsubscribe": frozenset({"subscribe"}),
}
"""Verbs of calls that delete, each with the verbs of the calls that it undoes; None: any. A volume that is detached still exists."""
_ENDING: Final = frozenset({*_UNDOES, "disable", "purge", "reject", "withdraw"})
"""Verbs of calls that delete something, or that only end a use of it."""
MOST_DELETIONS: Final = 50
"""Deletions that are held against one creation."""
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
     "sso:CreateToken", "sso:Authenticate", "sso:Federate", "sso:Logout"}
)  # fmt: skip
"""Calls that are named like creations and make nothing that Terraform declares."""
_SIGNS_IN: Final = "signin"
"""The service of people who sign in: it creates nothing."""
_CREATING_ALL_THE_SAME: Final = frozenset({"ecr:SetRepositoryPolicy", "route53:ChangeResourceRecordSets"})
"""Calls that create something although their verb does not say so."""
_MAY_CREATE: Final = frozenset(
    {"autoscaling:BatchPutScheduledUpdateGroupAction", "glue:BatchCreatePartition", "cognito-identity:SetIdentityPoolRoles", "cognito-idp:SetUICustomization", "dynamodb:UpdateContributorInsights",
     "ec2:ModifyImageAttribute", "ec2:ModifySnapshotAttribute", "ec2:ModifyVpcEndpointServicePermissions", "ecr-public:SetRepositoryPolicy",
     "glacier:InitiateVaultLock", "iam:UpdateAccountPasswordPolicy", "lightsail:SetResourceAccessForBucket",
     "network-firewall:UpdateLoggingConfiguration", "secretsmanager:RotateSecret", "email:SetActiveReceiptRuleSet",
     "email:SetIdentityMailFromDomain", "email:SetIdentityNotificationTopic", "ses:SetActiveReceiptRuleSet",
     "ses:SetIdentityMailFromDomain", "ses:SetIdentityNotificationTopic"}
)  # fmt: skip
"""Calls named like changes, after which there may be something that Terraform declares as a resource of its own, and that is no attribute of
another one: a permission, a notification, a policy of the account.
"""
_MANY: Final = frozenset({"batch", "admin"})
"""Words before the verb of a call: `BatchPutScheduledUpdateGroupAction`, `AdminCreateUser`."""
_ACTING: Final = frozenset({"start", "confirm"})
"""Verbs of calls that create something only where a table says so: `StartActivityStream`. So do those with such a word before the verb."""
_REGION: Final = re.compile(r"[a-z]{2,4}(?:-[a-z]+)+-\d+")
"""An export of the ledger may say `global` where the call names none."""
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
_LISTS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "ec2:RunInstances": (("responseElements", "instancesSet"), ("responseElements", "instances")),
    "ec2:CreateFlowLogs": (("responseElements", "flowLogIdSet"), ("responseElements", "flowLogIds")),
    "ec2:AuthorizeSecurityGroupIngress": (("responseElements", "securityGroupRuleSet"), ("responseElements", "securityGroupRules")),
    "ec2:AuthorizeSecurityGroupEgress": (("responseElements", "securityGroupRuleSet"), ("responseElements", "securityGroupRules")),
    "autoscaling:BatchPutScheduledUpdateGroupAction": (("requestParameters", "scheduledUpdateGroupActions"),),
    "glue:BatchCreatePartition": (("requestParameters", "partitionInputList"),),
    "events:PutTargets": (("requestParameters", "targets"),),
    "elasticloadbalancing:RegisterTargets": (("requestParameters", "targets"),),
    "route53:ChangeResourceRecordSets": (("requestParameters", "changeBatch", "changes"),),
}  # fmt: skip
"""The list in a record whose items are one creation each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCreation:
    """A resource that was identified when it was found, and that the provider reads again when it is written."""

    resource_type: str
    import_id: str
    given: frozenset[str] = frozenset()
    """The arguments that the call gave."""


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
    known: KnownCreation | None = None
    """What it was identified as before; None: that is still to be found out."""

    @property
    def at(self) -> str:
        """When, as ISO 8601."""
        return self.event.origin.at.isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """A call that deleted something."""

    event: Event
    values: EventValues

    @property
    def said(self) -> frozenset[str]:
        """The names by which it says what it deleted."""
        return frozenset(each.value for each in self.values.asked if isinstance(each.value, str))

    def ends_itself(self, creation: Creation) -> bool:
        """Whether it deleted just what the creation made: it is the opposite call, and all that it names stands in that one."""
        return _singular(self.values.noun) == _singular(creation.values.noun) and self.ends(creation)

    def ends(self, creation: Creation) -> bool:
        """Whether it deleted what the creation made, or what that belonged to, by all the names that it says, in the same region."""
        values, made = self.values, creation.values
        opposites = _UNDOES[values.verb]
        undone = opposites is None or made.verb in opposites
        same = undone and values.service == made.service and {*_singular(values.noun)} <= {*_singular(made.noun)}
        late = self.event.origin.at >= creation.event.origin.at
        return same and late and _same_place(self.event, creation.event) and _all_in(self.said, made.texts)


def _all_in(said: frozenset[str], texts: frozenset[str]) -> bool:
    return bool(said) and said <= texts


def _singular(noun: Sequence[str]) -> list[str]:
    return sorted(word.removesuffix("s") for word in noun)


def _same_place(one: Event, other: Event) -> bool:
    """Whether two calls were made in one region, as far as both say theirs."""
    regions = {region for each in (one, other) if _REGION.fullmatch(region := str(each.call.get("awsRegion") or ""))}
    return len(regions) < 2 or one.origin.event.partition(":")[0] in _EVERYWHERE  # noqa: PLR2004  both say one, and another one


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the events tell about creations."""

    creations: tuple[Creation, ...] = ()
    deletions: tuple[Deletion, ...] = ()
    noted: tuple[str, ...] = ()
    """A sentence for each kind of events that are not the stack's."""
    by_name: Mapping[str, Sequence[Deletion]] = field(default_factory=dict)
    """The deletions by a name that each says, the latest first."""

    def deletions_of(self, creation: Creation) -> Iterator[Deletion]:
        """The deletions that say a name of the creation, the latest first. Of more than `MOST_DELETIONS` the rest ends nothing: it is named then."""
        found = (each for text in creation.values.texts for each in self.by_name.get(text, ()))
        return islice(found, MOST_DELETIONS)


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
        return account if account.isdecimal() and self.accounts and account not in self.accounts else ""

    def other_region(self, call: Mapping[str, Any], service: str) -> str:
        """The region of a call, if the stack has nothing there."""
        region = str(call.get("awsRegion") or "")
        known = not _REGION.fullmatch(region) or not self.regions or service in _EVERYWHERE
        return "" if known or region in self.regions else region


def told(events: Sequence[Event], place: Place) -> Told:
    """What the events tell, the oldest first, each event once. Events of failed calls and reads are not among them."""
    creations, noted = list[Creation](), dict[str, int]()
    deletions: list[Deletion] = []
    for event in sorted(_once(events), key=lambda each: each.origin.at):
        values = event_values(event.call)
        if account := place.other_account(event.call):
            sentence = f"events of the account {account}, which is not the stack's"
            noted[sentence] = noted.get(sentence, 0) + 1
            continue
        if values.words[:1] == ("schedule",) and values.words[-1:] == ("deletion",):
            values = replace(values, words=("delete", *values.words[1:-1]))
        if values.verb == "cancel" and values.words[-1:] == ("deletion",):
            deletions = [each for each in deletions if not _takes_back(values, each)]
            continue
        if values.verb in _UNDOES:
            deletions.append(Deletion(event=event, values=values))
            continue
        found = list(creations_in(event))
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
        by_name=_by_name(deletions),
    )


def _once(events: Sequence[Event]) -> Iterator[Event]:
    """Each event once, however often it was delivered. Events without an id are all told."""
    seen = set[str]()
    for event in events:
        if event.origin.event_id not in seen:
            yield event
        seen |= {event.origin.event_id} - {""}


def _takes_back(cancelled: EventValues, deletion: Deletion) -> bool:
    """Whether the call that cancels a deletion cancels this one."""
    return cancelled.service == deletion.values.service and _all_in(deletion.said, cancelled.texts)


def _by_name(deletions: Sequence[Deletion]) -> Mapping[str, Sequence[Deletion]]:
    """Each deletion under the name that it shares with the fewest others."""
    usual = Counter(name for each in deletions for name in each.said)
    found: dict[str, list[Deletion]] = {}
    for each in reversed(deletions):
        if each.said:
            found.setdefault(min(each.said, key=lambda name: (usual[name], name)), []).append(each)
    return found


def creations_in(event: Event) -> Iterator[Creation]:
    """What a call created, or may have created; nothing for a call that only changes or deletes."""
    values = event_values(event.call)
    name = f"{values.service}:{values.operation}"
    made = read_creation(event.call)
    types = _types_created_by(values)
    always = made is not None or name in _CREATING_ALL_THE_SAME
    if not always and not (name in _MAY_CREATE or _may_create(values, name, types)):
        return
    makes = _verb_of(values) in _MAKES and not _is_version(values)
    certain = made is not None or makes or name in _CREATING_ALL_THE_SAME
    parts = _parts(event.call, name)
    for part in parts:
        own = read_creation(part) if len(parts) > 1 else made
        yield Creation(event=event, values=event_values(part), made=own, types=types, certain=certain)


def _verb_of(values: EventValues) -> str:
    """The verb of a call, also where a word stands before it."""
    return values.words[1] if values.verb in _MANY and len(values.words) > 1 else values.verb


def _may_create(values: EventValues, name: str, types: Sequence[str]) -> bool:
    """Whether a call may create something, by its name and by what tables say of it."""
    if name in _NOT_CREATING or values.service == _SIGNS_IN:
        return False
    verb = _verb_of(values)
    if _TAGGING & {*values.noun}:
        # What tags something is no creation; a tag that is a resource of its own is, and a call that tags what it creates.
        return verb in {*_MAKES, "add", "associate"} and any(
            not each.endswith("_tag") or "lf_tag" in each for each in types
        )
    if values.verb in _MANY or verb in _ACTING:
        return verb not in _ENDING and bool(types)
    return verb not in _CHANGES_ONLY | _ENDING


def _types_created_by(values: EventValues) -> tuple[str, ...]:
    """The types that tables say a call creates."""
    services = services_of(values.service)
    return tuple(dict.fromkeys(each for service in services for each in _created_by(service, values.operation)))


def _is_version(values: EventValues) -> bool:
    """Whether a call makes a version of something, which tables know as a change of that, as `CreateLaunchTemplateVersion` one of the template."""
    rows = [row for service in services_of(values.service) for row in derived_rows(service, values.operation)]
    return values.noun[-1:] == ("version",) and bool(rows) and all(row.actions == {EffectAction.SET} for row in rows)


def _created_by(service: str, operation: str) -> Iterator[str]:
    """The types that derived rows say an operation creates. A call that starts something only sets it, if a row says that it may."""
    for row in derived_rows(service, operation):
        upsert = row.actions != {EffectAction.CREATE} and operation.startswith("Start")
        if EffectAction.CREATE in row.actions and row.resource_type.startswith("aws_") and not upsert:
            yield row.resource_type


def named_in_call(values: EventValues, resource_type: str) -> str:
    """The value by which a call names what it creates, by the one parameter that a derived row says identifies it; empty if AWS names it."""
    for service in services_of(values.service):
        for row in derived_rows(service, values.operation):
            if row.resource_type == resource_type and EffectAction.CREATE in row.actions and len(row.identity) == 1:
                wanted = letters(*row.identity)
                return next((each.text for each in values.asked if len(each.steps) == 1 and each.name == wanted), "")
    return ""


def _parts(call: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """The call once for each item of its list; the call itself if it has one item, or no list."""
    for path in _LISTS.get(name, ()):
        items = _at(call, path)
        if len(items) > 1:
            return [_with(call, path, item) for item in items]
    return [call]


def _at(call: Any, path: Sequence[str]) -> list[Any]:
    for step in path:
        call = call.get(_spelled(call, step)) if isinstance(call, Mapping) else None
    inner = call.get("items") if isinstance(call, Mapping) else call
    return list(inner) if isinstance(inner, list) else []


def _with(call: Mapping[str, Any], path: Sequence[str], item: Any) -> Mapping[str, Any]:
    first, *rest = path
    name = _spelled(call, first)
    return {**call, name: _with(call[name], rest, item) if rest else [item]}


def _spelled(call: Mapping[str, Any], name: str) -> str:
    """A member's name as the record spells it: as CloudTrail does, or as the API."""
    return name if name in call else name[:1].upper() + name[1:]
