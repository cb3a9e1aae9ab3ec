"""Knows what Sentinel decides by and writes its proofs to in AWS, and says of a call which of it the call reaches, and why it may not.

States and their locks, the trail of events, topics of signals with the alarms behind them, exports, the gateway's own role and the
database of the ledger: anyone who could write these through the gateway would decide in its place. They are known from the settings and
from the code's backends. No contract and no policy opens them.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol
from urllib.parse import unquote, urlsplit

from gateway.core.model.caller import RECONCILER, ActorKind, Caller
from gateway.core.model.mutation import Call, CallClass
from gateway.core.settings import Settings
from gateway.core.settings.publish import EventSourceKind
from gateway.core.settings.signals import SignalForm
from gateway.line.evidence import NO_EVIDENCE, Evidence, acted_on, evidence_of
from gateway.line.own_handles import NO_HANDLES, OwnHandles, databases_of, handles_of
from gateway.terraform.config.backend import StatePlace
from gateway.terraform.state_calls import LOCK_SUFFIX, lock_id_of, locked_state

S3: Final = "s3"
_BUCKET_URL: Final = "s3://"
_ACCESS_POINT: Final = re.compile(r"arn:.*|.*(?:-s3alias|--ol-s3|--xa-s3|\.mrap)")
"""Forms in which S3 takes an access point for a bucket. AWS gives no bucket such a name.
Source: https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html"""
_WRITES: Final = frozenset(
    {"PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "AbortMultipartUpload"}
)
"""How Terraform writes a state."""
_PLAIN: Final = frozenset(
    {
        *("Bucket", "Key", "Body", "UploadId", "PartNumber", "MultipartUpload", "MpuObjectSize", "ContentType", "ContentLength"),
        *("ContentMD5", "ContentEncoding", "IfMatch", "IfNoneMatch", "ExpectedBucketOwner", "RequestPayer"),
        *("ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled", "SSECustomerAlgorithm", "SSECustomerKey", "SSECustomerKeyMD5"),
    }
)  # fmt: skip
"""Parameters of a write that say nothing about who may read the object, or for how long it is kept."""
_ACLS: Final = frozenset({None, "private", "bucket-owner-full-control"})
_DECODINGS: Final = 4
"""How often a text may have been URL-encoded. A client encodes it once, and one on the way perhaps again."""
_WORD: Final = re.compile(r"[A-Za-z0-9_.-]+")
_ABOUT_TABLES: Final = ("Describe", "List", "GetResourcePolicy")
"""Starts of the reads of DynamoDB that return no item."""
_ABOUT_DATABASES: Final = ("Describe", "List")
"""Starts of the reads that return nothing of what is in a database."""


class GroundKind(StrEnum):
    """What something is that Sentinel decides by."""

    BUCKET = "bucket"
    TABLE = "table"
    QUEUE = "queue"
    TOPIC = "topic"
    ALARM = "alarm"
    RULE = "rule"
    BUS = "event bus"
    ENDPOINT = "endpoint"
    KEY = "key"
    IDENTITY = "identity"
    POLICY = "policy"
    GROUP = "group"
    PROFILE = "instance profile"
    DATABASE = "database"
    SNAPSHOT = "snapshot"


_OPEN_TO_PEOPLE: Final = frozenset(
    {GroundKind.ALARM, GroundKind.TOPIC, GroundKind.RULE, GroundKind.BUS, GroundKind.ENDPOINT}
)
"""What people may name in a change, which is then judged as ever: an alarm with a topic among its actions, a rule with it as a target."""
_OPEN_TO_NOBODY: Final = frozenset(
    {
        *(GroundKind.IDENTITY, GroundKind.POLICY, GroundKind.GROUP, GroundKind.PROFILE),
        *(GroundKind.DATABASE, GroundKind.SNAPSHOT),
    }
)
"""What is changed past Sentinel only: anyone who changes it through Sentinel could widen what Sentinel itself may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """A resource that Sentinel decides by or writes its proofs to."""

    kind: GroundKind
    name: str
    """Of a bucket, table, alarm, rule, bus or database; the ARN of a topic or identity; the URL's last part of a queue; an endpoint's path."""
    what: str
    """What it is to Sentinel: `the export of the ledger`."""
    prefix: str = ""
    """With a bucket: the objects that count. The bucket itself always does."""


class Known(Protocol):
    """What the stacks tell."""

    @property
    def generation(self) -> object:
        """Another object as soon as code or states are others."""
        ...

    @property
    def state_places(self) -> tuple[StatePlace, ...]:
        """Where states are kept."""
        ...

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Any]]:
        """The recorded attributes of every resource of a type."""
        ...


class GroundTruth:
    """The places, and the rule. `places` are those of the settings; those of the stacks follow their code and states."""

    def __init__(self, places: Sequence[Ground] = (), stacks: Known | None = None) -> None:
        self._settings = tuple(places)
        self._stacks = stacks
        self._generation: object = None
        self._index = _Index(self._settings, ())

    @property
    def any(self) -> bool:
        """Whether there is any such place."""
        return self._current().any

    def sets_off(self, call: Call) -> str:
        """What an acting alarm is measured from and this call makes up, in words; empty if nothing."""
        return self._current().acted_on.reached_by(call)

    def state_of(self, call: Call) -> StatePlace | None:
        """The state that the call writes or locks in one of Terraform's ways; None for every other call."""
        index = self._current()
        if call.service == S3 and call.operation in _WRITES | {"DeleteObject"}:
            return index.state_at(str(call.parameters.get("Bucket")), str(call.parameters.get("Key")))
        if call.service == "dynamodb" and call.operation in ("PutItem", "DeleteItem"):
            state = next(iter(index.states_locked(lock_id_of(call))), None)
            return state if state is not None and state.lock_table in _tables(call) else None
        return None

    def state_read(self, call: Call) -> StatePlace | None:
        """The state whose content the call returns; None for every other call."""
        if call.service != S3 or call.operation != "GetObject":
            return None
        bucket, key = str(call.parameters.get("Bucket")), str(call.parameters.get("Key"))
        place = self._current().state_at(bucket, key)
        return place if place is not None and place.key in (key, "") else None

    def objection(
        self, caller: Caller, call: Call, call_class: CallClass, *, direct: bool, plan_stack: str = ""
    ) -> str:
        """Why the caller may not send this call, as a sentence; empty if nothing of it is Sentinel's.

        `direct`: whether the caller signed this very request, so neither a presigned URL, nor a call that another one carries. `plan_stack`
        is the stack of the plan in whose session it is sent. Costs a look at each name, whatever the number of places.
        """
        index = self._current()
        if not index.any:
            return ""
        asked = _Asked(caller, call, call_class, direct, plan_stack, index)
        if call.service == S3 and (objection := asked.of_objects()):
            return objection
        if call.service == "dynamodb" and (objection := asked.of_items()):
            return objection
        return asked.of_names()

    def _current(self) -> "_Index":
        if self._stacks is not None and self._generation is not (generation := self._stacks.generation):
            evidence = evidence_of(
                self._stacks,
                topics=frozenset(place.name for place in self._settings if place.kind is GroundKind.TOPIC),
                queues=frozenset(place.name for place in self._settings if place.kind is GroundKind.QUEUE),
                endpoints=[place.name for place in self._settings if place.kind is GroundKind.ENDPOINT],
            )
            points = dict(_access_points(self._stacks))
            handles = self._handles(self._stacks)
            places = (*self._settings, *_places_of(evidence), *_own_places(handles))
            self._index = _Index(places, self._stacks.state_places, points, evidence, handles)
            self._index.acted_on = acted_on(self._stacks)
            self._generation = generation
        return self._index

    def _handles(self, stacks: Known) -> OwnHandles:
        named = {kind: [each.name for each in self._settings if each.kind is kind] for kind in GroundKind}
        states = stacks.state_places
        return handles_of(
            stacks,
            identity=next(iter(named[GroundKind.IDENTITY]), ""),
            databases=named[GroundKind.DATABASE],
            keys=[state.kms_key for state in states if state.kms_key],
            buckets=[*named[GroundKind.BUCKET], *(state.bucket for state in states)],
        )


class _Index:
    """All places by what calls name them with."""

    def __init__(
        self,
        places: Sequence[Ground],
        states: Sequence[StatePlace],
        points: Mapping[str, str] | None = None,
        evidence: Evidence = NO_EVIDENCE,
        handles: OwnHandles = NO_HANDLES,
    ) -> None:
        self.evidence = evidence
        self.acted_on = NO_EVIDENCE
        """What alarms are measured from whose actions do more than notify."""
        self.handles = handles
        self.states = tuple(states)
        self.points = points or {}
        """The bucket of each recorded access point, by its ARN and alias."""
        self.places: list[Ground] = [*places]
        self.closed = _by_name(places, GroundKind.BUCKET)
        """The buckets of which nobody uses the objects."""
        for state in states:
            what = f"the Terraform state of the stack {state.stack}"
            self.places.append(Ground(kind=GroundKind.BUCKET, name=state.bucket, what=what, prefix=state.key))
            if state.lock_table:
                self.places.append(
                    Ground(kind=GroundKind.TABLE, name=state.lock_table, what=f"the locks of {what}", prefix="")
                )
        self.any = bool(self.places)
        self.buckets = _by_name(self.places, GroundKind.BUCKET)
        self.tables = _by_name(self.places, GroundKind.TABLE)
        self._patterns = [(place, _pattern(place), _bare(place).lower()) for place in self.places]
        self.of_one_stack = len({state.stack for state in states}) <= 1
        """Whether there is no other stack whose state somebody could mean."""
        self._state_buckets = frozenset(state.bucket for state in states)

    def holds_states(self, bucket: str) -> bool:
        return bucket in self._state_buckets

    def states_at(self, bucket: str, key: str) -> list[StatePlace]:
        """The states of which this is the object or the lock."""
        return [
            each
            for each in self.states
            if each.bucket == bucket and (not each.key or key in (each.key, each.key + LOCK_SUFFIX))
        ]

    def state_at(self, bucket: str, key: str) -> StatePlace | None:
        return next(iter(self.states_at(bucket, key)), None)

    def states_locked(self, lock: str) -> list[StatePlace]:
        return [each for each in self.states if each.lock_table and locked_state(lock, each)]

    def named_in(self, call: Call) -> Iterator[Ground]:
        """What the texts of a call name, in the order of the places."""
        said = [(member, text, text.lower()) for member, text in _texts(call.parameters)]
        for place, pattern, part in self._patterns:
            # Nearly no text has the name in it, and that is found out faster than by a pattern.
            named = ((member, text) for member, text, lower in said if part in lower)
            if any(_names(place, pattern, call.service, member, text) for member, text in named):
                yield place


@dataclass(frozen=True, slots=True)
class _Asked:
    """One call, looked at."""

    caller: Caller
    call: Call
    call_class: CallClass
    direct: bool
    plan_stack: str
    index: _Index

    def of_objects(self) -> str:
        """About the objects that a call of S3 reads or writes."""
        parameters = self.call.parameters
        bucket = parameters.get("Bucket")
        keys = [str(parameters["Key"])] if "Key" in parameters else []
        deleted = parameters.get("Delete")
        if isinstance(deleted, Mapping):
            keys += [str(each.get("Key")) for each in deleted.get("Objects") or () if isinstance(each, Mapping)]
        named = [(str(bucket), key, False) for key in keys] if bucket is not None else []
        for member in ("CopySource", "RenameSource"):
            if (source := parameters.get(member)) is not None:
                at, key = _source(source, str(bucket))
                named.append((at, key, True))
        objections = (self._of_object(at, key, source=source) for at, key, source in named)
        return next((each for each in objections if each), "")

    def _of_object(self, bucket: str, key: str, *, source: bool) -> str:
        index, operation = self.index, self.call.operation
        if _ACCESS_POINT.fullmatch(bucket):
            if not index.buckets:
                return ""
            if (behind := index.points.get(bucket)) is None:
                return (
                    f"No state records the access point {bucket[:100]!r}, so it may lead into a bucket that Sentinel decides by. "
                    "Nothing was sent; name the bucket itself, or declare the access point in a stack."
                )
            if behind in index.buckets:
                return self._refused(index.buckets[behind][0], "An access point is no way to it for anyone.")
            return ""
        places = index.buckets.get(bucket, ())
        if not places:
            return ""
        if states := index.states_at(bucket, key):
            return self._of_state(states, bucket, key, source=source)
        closed = next((each for each in index.closed.get(bucket, ()) if key.startswith(each.prefix)), None)
        if closed is not None:
            return self._refused(closed, "Nobody reads or writes its objects through the gateway.")
        outsider = self.caller.kind in (ActorKind.AGENT, ActorKind.SERVICE) and not self._is_reconciler()
        if outsider and index.holds_states(bucket):
            return self._refused(places[0], f"No {self.caller.kind.value} uses a bucket of states ({operation}).")
        return ""

    def _of_state(self, states: Sequence[StatePlace], bucket: str, key: str, *, source: bool) -> str:
        place = self.index.buckets[bucket][0]
        if not any(self._keeps(each) for each in states):
            return self._refused(place, _WHO_KEEPS)
        if not self.direct:
            return self._refused(place, "It is used only by a request that its pipeline signs itself.")
        if self.call_class is CallClass.MUTATION:
            return ""  # access and retention of the object: judged as every change
        if source or not self._is_terraforms(key):
            return self._refused(place, f"Terraform itself never sends {self.call.operation} like this.")
        return ""

    def _is_terraforms(self, key: str) -> bool:
        """Whether it reads the object, or writes or locks it as Terraform does."""
        operation, parameters = self.call.operation, self.call.parameters
        if not self.call_class.changes_state:
            return True
        if operation == "DeleteObject":
            return key.endswith(LOCK_SUFFIX) and "VersionId" not in parameters
        rest = {name for name in parameters if name not in _PLAIN and not name.startswith("Checksum")}
        return operation in _WRITES and rest <= {"ACL"} and parameters.get("ACL") in _ACLS

    def of_items(self) -> str:
        """About the items of a table of locks."""
        if not self.index.tables or self.call.operation.startswith(_ABOUT_TABLES):
            return ""
        place = next((self.index.tables[each][0] for each in _tables(self.call) if each in self.index.tables), None)
        if place is None or self.call_class is CallClass.MUTATION:
            return ""  # changes of the table itself are told by its name
        if self._is_reconciler() and self.direct:
            return ""
        if self.caller.kind in (ActorKind.AGENT, ActorKind.SERVICE):
            return self._refused(place, f"No {self.caller.kind.value} uses a table of locks.")
        lock = lock_id_of(self.call)
        states = self.index.states_locked(lock)
        if not self.direct or not lock or (states and not any(self._keeps(each) for each in states)):
            return self._refused(place, _WHO_KEEPS)
        return ""

    def of_names(self) -> str:
        """About everything else that the call names, in any of its texts."""
        if self.call_class.changes_state and (made := self.index.evidence.reached_by(self.call)):
            planned = self.call_class is CallClass.MUTATION and self._is_planned()
            if not planned:
                return self._made_up(made)
        if self.call_class is CallClass.DATA:
            return self._of_data()
        if not self.call_class.changes_state:
            return self._of_read()
        planned = self._is_planned()
        if not planned and (unknown := self.index.handles.unknown_in(self.call)):
            return (
                f"{unknown} {self.call.service}:{self.call.operation} on it is sent only by a pipeline or the apply of a plan. "
                "Nothing was sent; declare it in a stack, or name what is meant by its own name."
            )
        if self.index.evidence.makes_alarm(self.call) and not planned and self.caller.kind is not ActorKind.HUMAN:
            return self._made_up("an alarm, and a rule passes on what every alarm does")
        for place in self.index.named_in(self.call):
            if place.kind in _OPEN_TO_NOBODY:
                return self._refused(place, "It is changed past Sentinel only.")
            person = self.caller.kind is ActorKind.HUMAN and place.kind in _OPEN_TO_PEOPLE
            if not planned and not person:
                return self._refused(
                    place, "Only a pipeline, or the apply of a plan, changes it, and is judged as ever."
                )
        return ""

    def _of_data(self) -> str:
        """About messages. What data says is not looked at, only which resource it is for."""
        for member in _ADDRESSEES.get(self.call.service, ()):
            text = str(self.call.parameters.get(member, ""))
            for place in self.index.places:
                if place.kind in (GroundKind.QUEUE, GroundKind.TOPIC) and _is_addressee(place, text):
                    return self._refused(place, "Nobody sends or takes its messages through the gateway.")
        return ""

    def _of_read(self) -> str:
        """About reads by another service's hand, which would return what is in an object."""
        if self.call.service in (S3, "s3control", "dynamodb"):
            return ""
        kinds = {GroundKind.BUCKET, GroundKind.TABLE}
        if not self.call.operation.startswith(_ABOUT_DATABASES):
            kinds |= {GroundKind.DATABASE, GroundKind.SNAPSHOT}
        place = next((each for each in self.index.named_in(self.call) if each.kind in kinds), None)
        return self._refused(place, "No other service reads it on anybody's behalf.") if place is not None else ""

    def _keeps(self, state: StatePlace) -> bool:
        if self._is_reconciler():
            return True
        if self.caller.kind not in (ActorKind.PIPELINE, ActorKind.HUMAN):
            return False
        if state.keepers and self.caller.actor not in state.keepers:
            return False
        if self.caller.plan:
            return self.plan_stack == state.stack
        if named := self.caller.stacks:
            return state.stack in named
        return bool(state.keepers) or self.index.of_one_stack

    def _is_planned(self) -> bool:
        return self.caller.kind is ActorKind.PIPELINE or bool(self.plan_stack)

    def _made_up(self, what: str) -> str:
        return (
            f"{self.call.service}:{self.call.operation} makes up {what}, by which an incident is proved to Sentinel. What is measured is "
            "sent past Sentinel, and changed by a pipeline or the apply of a plan. No contract and no policy opens it, in any mode; nothing was sent."
        )

    def _is_reconciler(self) -> bool:
        return self.caller.kind is ActorKind.SERVICE and RECONCILER in self.caller.roles

    def _refused(self, place: Ground, why: str) -> str:
        name = f"{self.call.service}:{self.call.operation}"
        return (
            f"{name} reaches {place.what} ({place.kind.value} {place.name}), by which Sentinel itself decides or proves. {why} "
            "No contract and no policy opens it, in any mode; nothing was sent."
        )


_WHO_KEEPS: Final = (
    "Only the pipelines of that stack and people who may apply it read and write it, as Terraform does: those of the setting `state_keepers`, or "
    "with several stacks a key with the role `stack/NAME`."
)
_ADDRESSEES: Final[Mapping[str, tuple[str, ...]]] = {"sqs": ("QueueUrl",), "sns": ("TopicArn", "TargetArn")}
"""The parameters that say where a message goes or comes from."""


def _by_name(places: Iterable[Ground], kind: GroundKind) -> dict[str, list[Ground]]:
    found: dict[str, list[Ground]] = {}
    for place in places:
        if place.kind is kind:
            found.setdefault(place.name, []).append(place)
    return found


def _source(source: Any, bucket: str) -> tuple[str, str]:
    """Bucket and key that a copy reads. S3 takes `bucket/key`, URL-encoded or not, and ARNs of access points."""
    if isinstance(source, Mapping):
        return str(source.get("Bucket")), str(source.get("Key"))
    text = _decoded(str(source)).lstrip("/").partition("?versionId=")[0]
    if text.startswith("arn:"):
        point, _, key = text.partition("/object/")
        return point, key
    first, slash, key = text.partition("/")
    return (first, key) if slash else (bucket, first)


def _decoded(text: str) -> str:
    """The text without its URL encoding, however often that was applied: who decodes it last is not known."""
    for _ in range(_DECODINGS):
        text = unquote(text)
    return text


def _tables(call: Call) -> Iterator[str]:
    """The names of the tables whose items the call is about; of statements every word, since those that nobody understands count too."""
    for member, text in _texts(call.parameters, skip_items=True):
        if member == "Statement":
            yield from _WORD.findall(text)
        if member.endswith(("TableName", "Arn", "TableArn")) or member == "RequestItems":
            yield text.rpartition("table/")[2].partition("/")[0] if text.startswith("arn:") else text


def _is_item(value: Mapping[Any, Any]) -> bool:
    """Whether it is the value of an attribute of DynamoDB: `{"S": …}`."""
    return len(value) == 1 and next(iter(value)) in ("S", "N", "B", "SS", "NS", "BS", "M", "L", "NULL", "BOOL")


def _texts(value: Any, member: str = "", *, skip_items: bool = False) -> Iterator[tuple[str, str]]:
    """Every text in the parameters, keys of maps among them, each with the name of its member; also what JSON texts hold."""
    waiting: list[tuple[str, Any]] = [(member, value)]
    while waiting:
        name, each = waiting.pop()
        if isinstance(each, str):
            yield name, each
            if "%" in each:
                yield name, _decoded(each)
            if "\\" in each and each.lstrip()[:1] in ("{", "["):
                waiting.append((name, _json(each)))
        elif isinstance(each, Mapping):
            if skip_items and _is_item(each):
                continue
            for key, inner in each.items():
                yield name, str(key)
                waiting.append((str(key), inner))
        elif isinstance(each, list | tuple):
            waiting += [(name, inner) for inner in each]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


_END: Final = r"(?:$|[\"'\s,])"
_PATTERNS: Final[Mapping[GroundKind, tuple[str, str]]] = {
    GroundKind.BUCKET: (
        r"(?i:(?:^|:::|://|amazonaws\.com(?:\.cn)?(?::\d+)?/|[\"'=,\[({:]\s*)",
        r"(?:$|[\"'/?#,:)\]*}\r\n]|\.s3[.-]))",
    ),
    GroundKind.TABLE: (r"(?:^|[:/\"'])table/", r"(?![A-Za-z0-9_.-])"),
    GroundKind.QUEUE: (r"(?:/\d{12}/|:sqs:[a-z0-9-]*:\d{12}:)", r"(?![A-Za-z0-9_-])"),
    GroundKind.TOPIC: ("", r"(?![A-Za-z0-9_-])"),
    GroundKind.ALARM: (":alarm:", _END),
    GroundKind.RULE: (r":rule/(?:[^/\s]{1,256}/)?", _END),
    GroundKind.BUS: (":event-bus/", _END),
    GroundKind.ENDPOINT: ("", r"(?![A-Za-z0-9_-])"),
    GroundKind.KEY: (r"(?:^|:key/|:)", "$"),
    GroundKind.IDENTITY: ("^", "$"),
    GroundKind.POLICY: ("^", "$"),
    GroundKind.GROUP: (r":group/(?:[^\s]{1,512}/)?", "$"),
    GroundKind.PROFILE: (r":instance-profile/(?:[^\s]{1,512}/)?", "$"),
    GroundKind.DATABASE: (":(?:db|cluster):", r"(?![A-Za-z0-9-])"),
    GroundKind.SNAPSHOT: ("(?:^|:)rds:", r"-\d{4}-"),
}
"""What stands before and after the name of a place where a text names it, besides being its name."""


_IN_ANY_CASE: Final = _OPEN_TO_NOBODY | {GroundKind.KEY}
"""What AWS finds whatever the case of its name, or has no other of that differs in case only."""


def _pattern(place: Ground) -> re.Pattern[str]:
    before, after = _PATTERNS[place.kind]
    return re.compile(
        f"{before}{re.escape(place.name)}{after}", re.IGNORECASE if place.kind in _IN_ANY_CASE else re.NOFLAG
    )


_MEMBERS: Final[Mapping[GroundKind, Callable[[str, str], bool]]] = {
    GroundKind.BUCKET: lambda _service, _member: True,
    GroundKind.TABLE: lambda _service, member: member.endswith("TableName"),
    GroundKind.QUEUE: lambda service, member: service == "sqs" and member in ("QueueUrl", "QueueName"),
    GroundKind.TOPIC: lambda _service, _member: False,
    GroundKind.ALARM: lambda service, member: service == "cloudwatch" and member in ("AlarmName", "AlarmNames"),
    GroundKind.RULE: lambda service, member: service == "events" and member in ("Name", "Rule"),
    GroundKind.BUS: lambda service, member: service == "events" and member == "Name",
    GroundKind.ENDPOINT: lambda _service, _member: False,
    GroundKind.KEY: lambda service, _member: service == "kms",
    GroundKind.IDENTITY: lambda service, member: service == "iam" and member in ("RoleName", "UserName"),
    GroundKind.POLICY: lambda _service, _member: False,
    GroundKind.GROUP: lambda service, member: service == "iam" and member == "GroupName",
    GroundKind.PROFILE: lambda service, member: (service, member) in (("iam", "InstanceProfileName"), ("ec2", "Name"), ("autoscaling", "IamInstanceProfile")),
    GroundKind.DATABASE: lambda service, member: service in ("rds", "docdb", "neptune", "pi") and member.endswith(("Identifier", "ResourceId")),
    GroundKind.SNAPSHOT: lambda _service, _member: False,
}  # fmt: skip
"""Where the bare name of a place counts: a name of a table elsewhere may be any word."""


def _bare(place: Ground) -> str:
    """The name without what an ARN says besides."""
    return place.name.rpartition("/")[2] if place.kind is GroundKind.IDENTITY else place.name


def _names(place: Ground, pattern: re.Pattern[str], service: str, member: str, text: str) -> bool:
    bare, said = _bare(place), text
    if place.kind in _IN_ANY_CASE:
        bare, said = bare.lower(), text.lower()
    if service == "cloudcontrol" and member == "Identifier" and bare in said.split("|"):
        return True
    if said == bare and _MEMBERS[place.kind](service, member):
        return True
    return pattern.search(text) is not None


def _is_addressee(place: Ground, text: str) -> bool:
    if place.kind is GroundKind.TOPIC:
        return text == place.name
    return urlsplit(text).path.rstrip("/").rpartition("/")[2] == place.name


def _places_of(evidence: Evidence) -> Iterator[Ground]:
    """What calls name of the evidence: anyone who sets an alarm or a rule makes a signal."""
    for name in sorted(evidence.alarms):
        yield Ground(kind=GroundKind.ALARM, name=name, what="an alarm that proves motives")
    for name in sorted(evidence.rules):
        yield Ground(
            kind=GroundKind.RULE, name=name, what="a rule that passes on what proves motives or who changed what"
        )
    for name in sorted(evidence.buses):
        yield Ground(kind=GroundKind.BUS, name=name, what="an event bus of what proves motives or who changed what")
    for name in sorted(evidence.topics):
        yield Ground(
            kind=GroundKind.TOPIC, name=name, what="a topic that passes on what proves motives or who changed what"
        )
    for name in sorted(evidence.queues):
        yield Ground(
            kind=GroundKind.QUEUE, name=name, what="a queue that passes on what proves motives or who changed what"
        )


def _own_places(handles: OwnHandles) -> Iterator[Ground]:
    """What calls name of Sentinel's own identity, its database, and the keys of buckets."""
    whose = "Sentinel's own identity"
    for name in sorted(handles.policies):
        yield Ground(kind=GroundKind.POLICY, name=name, what=f"a policy of {whose}")
    for name in sorted(handles.groups):
        yield Ground(kind=GroundKind.GROUP, name=name, what=f"a group of {whose}")
    for name in sorted(handles.profiles):
        yield Ground(kind=GroundKind.PROFILE, name=name, what=f"an instance profile of {whose}")
    for name in sorted(handles.databases):
        yield Ground(kind=GroundKind.DATABASE, name=name, what="the database of the ledger")
    for name in sorted({name for names in handles.keys.values() for name in names}):
        yield Ground(kind=GroundKind.KEY, name=name, what="the key of a Terraform state or a bucket")


def _access_points(stacks: Known) -> Iterator[tuple[str, str]]:
    for attributes in stacks.recorded_of("aws_s3_access_point"):
        if bucket := attributes.get("bucket"):
            for name in ("arn", "alias"):
                if text := attributes.get(name):
                    yield str(text), str(bucket)


def places_of(settings: Settings) -> tuple[Ground, ...]:
    """What the settings name: exports, pulled policies, the trail of events, topics of signals, the gateway's own identity and the database of the ledger."""
    found = []
    for export in settings.exports:
        if export.to.startswith(_BUCKET_URL):
            bucket, _, prefix = export.to.removeprefix(_BUCKET_URL).partition("/")
            found.append(
                Ground(
                    kind=GroundKind.BUCKET,
                    name=bucket,
                    what="an export of the ledger",
                    prefix=f"{prefix.strip('/')}/" if prefix.strip("/") else "",
                )
            )
    if (pulled := settings.policy.control_plane.bucket) is not None:
        what = "the policies that this gateway pulls"
        found.append(Ground(kind=GroundKind.BUCKET, name=pulled[0], what=what, prefix=pulled[1]))
    for source in settings.reconcile.events:
        what = "the trail of who changed what"
        if source.kind is EventSourceKind.BUCKET:
            found.append(Ground(kind=GroundKind.BUCKET, name=source.bucket, what=what, prefix=source.prefix))
        if source.kind is EventSourceKind.QUEUE:
            name = urlsplit(source.url).path.rstrip("/").rpartition("/")[2]
            found.append(Ground(kind=GroundKind.QUEUE, name=name, what=what))
    found += [
        Ground(kind=GroundKind.TOPIC, name=topic, what="a topic of signals, which prove motives")
        for topic in dict.fromkeys(each for source in settings.signals for each in source.topics)
    ]
    found += [
        Ground(
            kind=GroundKind.ENDPOINT,
            name=f"/v1/signals/{source.name}",
            what="an endpoint of signals, which prove motives",
        )
        for source in settings.signals
        if source.form is SignalForm.EVENTBRIDGE
    ]
    own = settings.reconcile.gateway_identity
    for name in (*([own] if own else []), *settings.assumed_roles):
        found.append(Ground(kind=GroundKind.IDENTITY, name=name, what="Sentinel's own identity"))
    databases, _ = databases_of(settings.ledger_url, settings.ledger_databases)
    for name in sorted(databases):
        found.append(Ground(kind=GroundKind.DATABASE, name=name, what="the database of the ledger"))
        found.append(Ground(kind=GroundKind.SNAPSHOT, name=name, what="a snapshot of the ledger's database"))
    return tuple(found)
