"""Plausible outputs of AWS operations: what the requests said under the same name, else values made up from the names of members."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from botocore.loaders import Loader

from tests.tools.effects_tracing.request_reader import DOMAIN

ACCOUNT: Final = "123456789012"
_DEEPEST: Final = 7
_ABSENT: Final = frozenset(
    [
        "nexttoken",
        "nextmarker",
        "marker",
        "nextpagetoken",
        "paginationtoken",
        "position",
        "nextrecordname",
        "nextkeymarker",
        "nexttokens",
        "continuationtoken",
        "nextcontinuationtoken",
        "pagetoken",
        "nextlink",
        "lastevaluatedkey",
        "lastevaluatedtablename",
        "nextpage",
        "failures",
        "unprocessedkeys",
        "errors",
        "failedentries",
        "failedrecords",
        "errorcode",
        "errormessage",
        "error",
        "failurereason",
        "deletedat",
        "deletiontime",
        "deletiondate",
        "statusreason",
        "deleteddate",
        "failureinfo",
        "unprocesseditems",
        "errordetails",
        "failedentrycount",
        "failedrecordcount",
        "batcherrors",
        "unprocessedaccounts",
        "failedresources",
    ]
)
"""Members that no output has: tokens of a next page, and what tells a failure or a deletion."""
_GOOD: Final = [
    "active",
    "available",
    "inservice",
    "in-service",
    "enabled",
    "deployed",
    "completed",
    "complete",
    "succeeded",
    "success",
    "running",
    "created",
    "create_complete",
    "creation_complete",
    "ready",
    "issued",
    "online",
    "attached",
    "associated",
    "healthy",
    "verified",
    "applied",
    "ok",
    "connected",
    "normal",
    "started",
    "updated",
    "update_complete",
    "operational",
    "stopped",
    "successful",
    "finished",
    "configured",
    "insync",
]
"""Statuses that end a wait, the likeliest first."""
_VAGUE: Final = frozenset(
    [
        "arn",
        "name",
        "id",
        "type",
        "value",
        "key",
        "status",
        "state",
        "values",
        "mode",
        "enabled",
        "version",
        "description",
        "rolearn",
        "kmskeyarn",
        "tags",
    ]
)
"""Names that say little: they are echoed only under the same parent."""
_STATUSES: Final = ("status", "state", "lifecyclestate", "statename", "provisioningstatus")
_LOWER_CASE: Final = ("rds", "elasticache", "redshift", "ec2", "neptune", "docdb")
"""Services whose statuses without an enumeration are written in lower case."""
_OWNERS: Final = ("ownerid", "accountid", "account", "awsaccountid", "registryid", "catalogid")


class Answers:
    """Makes outputs. Remembers what the calls of a phase said."""

    def __init__(self, echo: Mapping[str, Any] | None = None, status: str = "") -> None:
        """`echo` are values to answer with, by folded member name; `status` is what every status is, if its enumeration allows it."""
        self._echo: dict[str, Any] = dict(echo or {})
        self._asked: dict[str, Any] = {}
        self._status = status

    def remember(self, parameters: Mapping[str, Any]) -> None:
        """Answer from now on with what this change said."""
        self._remember(parameters, "")
        self._asked = {}

    def ask(self, parameters: Mapping[str, Any]) -> None:
        """The next answer is about what this read asks for."""
        self._asked = dict(_asked(parameters))

    def output(self, model: Any) -> dict[str, Any]:
        """The output of an operation."""
        if model.output_shape is None:
            return {}
        made = self._value(model.output_shape, "", 0, model.service_model.service_name, "")
        return made if isinstance(made, dict) else {}

    def _remember(self, value: Any, parent: str) -> None:
        if isinstance(value, Mapping):
            for key, item in value.items():
                self._remember_member(str(key).lower(), item, parent)
        elif isinstance(value, list):
            for item in value[:3]:
                self._remember(item, parent)

    def _remember_member(self, low: str, item: Any, parent: str) -> None:
        first = item[0] if isinstance(item, list) and item and isinstance(item[0], str) else item
        if isinstance(first, (str, int, float)):
            self._echo[f"{parent}/{low}"] = first
            if not parent or low not in _VAGUE:
                self._echo[low] = first
        elif isinstance(first, (dict, list)):
            self._echo.setdefault("/" + low, first)
        self._remember(first, low)

    def _value(self, shape: Any, name: str, depth: int, service: str, parent: str) -> Any:
        if depth > _DEEPEST:
            return None
        low = name.lower()
        match shape.type_name:
            case "structure":
                return self._structure(shape, low, depth, service)
            case "list":
                item = None if low in _ABSENT else self._value(shape.member, name, depth + 1, service, parent)
                return [] if item is None else [item]
            case "map":
                known = self._echo.get("/" + low)
                plain = known.items() if isinstance(known, dict) else ()
                return {str(key): item for key, item in plain if isinstance(item, (str, int, float))}
            case "blob":
                return ""
        known = self._known(low, parent)
        if shape.type_name == "string":
            return self._string(shape, low, known, service, parent)
        return _plain(shape.type_name, low, known)

    def _known(self, low: str, parent: str) -> Any:
        """What the requests said: of a name that says little, what stood under the same parent; else what a read asks for comes first."""
        near = self._echo.get(f"{parent}/{low}")
        if low in _VAGUE and parent and near is not None:
            return near
        return self._asked.get(low, near if near is not None else self._echo.get(low))

    def _structure(self, shape: Any, low: str, depth: int, service: str) -> dict[str, Any]:
        if shape.is_document_type:
            return {}
        members = [*shape.members.items()][: 1 if shape.is_tagged_union else None]
        made = {
            key: self._value(member, key, depth + 1, service, low)
            for key, member in members
            if key.lower() not in _ABSENT
        }
        return {key: item for key, item in made.items() if item is not None}

    def _string(self, shape: Any, low: str, known: Any, service: str, parent: str) -> str:
        enum = getattr(shape, "enum", None) or []
        is_status = low.endswith(_STATUSES)
        if enum or is_status:
            if isinstance(known, str) and not is_status and known in enum:
                return known
            return self._choice(enum, low, service)
        if isinstance(known, (str, int, float)) and not isinstance(known, bool):
            return str(known)
        if low == "address" and parent == "endpoints":  # endpoint discovery: the next request goes there
            return f"{service}{DOMAIN}"
        if low.endswith("arn"):
            return str(self._echo.setdefault(f"{parent}/{low}", self._arn(service, low)))
        return _made_up(service, low)

    def _arn(self, service: str, low: str) -> str:
        """An ARN that differs between resources but has no name in it: what has the name was made by the provider."""
        own = next((item for key, item in self._echo.items() if key in ("name", "id") or key.endswith("name")), "stub")
        return f"arn:aws:{service}:us-east-1:{ACCOUNT}:{low[:-3] or 'resource'}/{_marker(f'{service}/{low}/{own}')}"

    def _choice(self, enum: list[str], low: str, service: str) -> str:
        """A status or another of a few words: what a waiter wants, if any is known."""
        waited = _waited(service).get(low, ())
        wanted = [*([self._status] if self._status else []), *waited, *_GOOD]
        if not enum:
            if self._status or waited:
                return wanted[0]
            return "available" if service in _LOWER_CASE else "ACTIVE"
        by_fold = {each.lower(): each for each in enum}
        return next((by_fold[each.lower()] for each in wanted if each.lower() in by_fold), enum[0])


def _plain(kind: str, low: str, known: Any) -> Any:
    match kind:
        case "boolean":
            return known if isinstance(known, bool) else low in ("enabled", "active")
        case "timestamp":
            return 1767323045
        case "integer" | "long" | "float" | "double":
            if isinstance(known, (int, float)) and not isinstance(known, bool):
                return known
            if "limit" in low or low.startswith("max") or "quota" in low:
                return 100000
            return 0 if low.endswith("count") else 1
    return None


_PREFIXES: Final[Mapping[tuple[str, str], str]] = {
    ("ec2", "allocationid"): "eipalloc",
    ("ec2", "associationid"): "eipassoc",
}
"""Service and member → how its ids begin, where the provider reads something from that."""


def _made_up(service: str, low: str) -> str:
    if low in _OWNERS:
        return ACCOUNT
    if low.endswith(("time", "date", "at")) and len(low) > 4:
        return "2026-01-02T03:04:05Z"
    if low.endswith(("uri", "url", "endpoint")):
        return "https://stub.example.com/x"
    if low.endswith(("policy", "document")):
        return "{}"
    if prefix := _PREFIXES.get((service, low)):
        return f"{prefix}-{_marker(f'{service}/{low}')}"
    # The same in every answer of the service, so that the provider finds again what it created; like a marker, so that it is known again.
    return _marker(f"{service}/{low}")


def _marker(text: str) -> str:
    return "mk" + hashlib.sha256(text.encode()).hexdigest()[:6]


def _asked(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(folded member name, value) of what a read asks for. Lists and filters count as singular."""
    for key, item in parameters.items():
        low = key.lower()
        if low in ("filters", "filter") and isinstance(item, list):
            for each in item:
                if isinstance(each, dict) and each.get("Values"):
                    # A filter names what is inside another thing after a point: `association.subnet-id`.
                    yield str(each.get("Name", "")).rpartition(".")[2].replace("-", "").lower(), each["Values"][0]
        elif isinstance(item, list) and item and isinstance(item[0], str):
            yield low.removesuffix("s"), item[0]
        elif isinstance(item, str):
            yield low, item


@cache
def _waited(service: str) -> Mapping[str, tuple[str, ...]]:
    """Folded member name → the values that end the waits of a service, by botocore's waiters; not those for an end or a stop."""
    folder = Path(Loader.BUILTIN_DATA_PATH) / service
    versions = sorted(folder.iterdir()) if folder.is_dir() else []
    loader = Loader(include_default_search_paths=False, extra_search_paths=[Loader.BUILTIN_DATA_PATH])
    names = [path.name for path in versions[-1].iterdir()] if versions else []
    if not any(name.startswith("waiters-2") for name in names):
        return {}
    waiters = loader.load_service_model(service, "waiters-2")["waiters"]
    found: dict[str, list[str]] = defaultdict(list)
    for name, waiter in waiters.items():
        if any(word in name.lower() for word in ("delet", "terminat", "stop", "notexist", "inactive", "revoked")):
            continue
        for acceptor in waiter["acceptors"]:
            if acceptor["state"] == "success" and acceptor["matcher"] in ("path", "pathAll"):
                wanted = acceptor["expected"]
                if isinstance(wanted, str):
                    found[acceptor["argument"].rpartition(".")[2].rstrip("[]").lower()].append(wanted)
    return {name: tuple(dict.fromkeys(values)) for name, values in found.items()}
