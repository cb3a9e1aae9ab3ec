"""Compares the ledger with CloudTrail: what AWS logged and Sentinel did not send, what Sentinel sent and AWS did not log, and what differs.

Pure: it gets events and mutations, and says what it finds. An event belongs to a mutation by its request id, by the mutation's id in the user
agent, or by the name of the session that was made for it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from gateway.core.event_sources import services_of
from gateway.core.model.caller import source_identity
from gateway.core.model.mutation import CallClass

_AGENT: Final = re.compile(r"\bmutation/((?:mut|dat)_[0-9a-hjkmnp-tv-z]{26})")
_SESSION: Final = re.compile(r":assumed-role/[^/]+/(mut_[0-9a-hjkmnp-tv-z]{26})$")
_VERSION: Final = re.compile(r"(?:20\d\d[_-]?\d\d[_-]?\d\d|v\d)$")
"""How the names of some operations end in CloudTrail: `CreateFunction20150331`, `UpdateFunctionCode20150331v2`."""
_SERVICE_ROLE: Final = ":role/aws-service-role/"
_MASKED: Final = "hmac_sha256:"
_NOT_LOGGED: Final = frozenset({CallClass.DATA, CallClass.EXECUTE})
"""Classes whose calls a trail tells only where it logs data events."""
MOST_LISTED: Final = 1_000
"""Findings of one kind that are listed; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A mutation that was sent, as the ledger tells it."""

    id: str
    at: datetime
    """When it was decided, a moment before it was sent."""
    actor: str
    service: str
    operation: str
    account: str
    region: str
    call_class: CallClass
    parameters: Mapping[str, Any]
    outcome: str
    """`applied`, `failed` or `in_doubt`."""
    request_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A write that CloudTrail tells."""

    id: str
    at: datetime
    source: str
    """The event source, without `.amazonaws.com`."""
    operation: str
    account: str
    region: str
    who: str
    error: str
    request_id: str
    mutation: str
    """The id of a mutation, or of a call of the data plane that passed, which its sender told; empty if none."""
    by_service: bool
    """Whether an AWS service acted by itself."""
    source_identity: str
    """Of a session that was made for one mutation; else empty."""
    parameters: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        """`source:Operation`."""
        return f"{self.source}:{self.operation}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailFinding:
    """One difference of ledger and trail."""

    kind: str
    """`foreign`, `missing` or `differing`."""
    call: str
    at: datetime
    why: str
    mutation: str = ""
    event: str = ""
    who: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What the comparison found."""

    findings: tuple[TrailFinding, ...]
    events: int
    """Writes that CloudTrail tells."""
    matched: int
    """Mutations with their event."""
    by_services: int
    """Writes of AWS services that acted by themselves, which are nobody's."""
    passed: int
    """Calls of the data plane that passed through the gateway."""
    not_covered: int
    """Mutations of regions, accounts or classes that the events say nothing about."""
    unread: int = 0
    """Records that are no events."""


def logged_writes(records: Iterable[Any]) -> tuple[list[Logged], int]:
    """The writes among CloudTrail's records, and how many records could not be read."""
    found, unread = [], 0
    for record in records:
        try:
            event = _logged(record)
        except (KeyError, TypeError, ValueError, AttributeError):
            unread += 1
            continue
        if event is not None:
            found.append(event)
    return found, unread


def audited(
    sent: Sequence[Sent], events: Sequence[Logged], *, unread: int = 0, margin: timedelta = timedelta(minutes=5)
) -> Audit:
    """Compare. A mutation is missing only if the events cover its time (but for `margin` at both ends), its account and its region."""
    by_request = {each.request_id: each for each in sent if each.request_id}
    by_id = {each.id: each for each in sent}
    matched: dict[str, list[Logged]] = {}
    findings: list[TrailFinding] = []
    passed = services = 0
    for event in events:
        mutation = by_id.get(event.mutation) or by_request.get(event.request_id)
        if mutation is not None:
            matched.setdefault(mutation.id, []).append(event)
        elif event.by_service:
            services += 1
        elif event.mutation.startswith("dat_"):
            passed += 1
        elif not event.error:
            findings.append(_foreign(event))
    for name, found in matched.items():
        findings += _differences(by_id[name], found)
    missing, not_covered = _missing([each for each in sent if each.id not in matched], events, margin)
    findings += missing
    return Audit(
        findings=tuple(sorted(findings, key=lambda each: (each.kind, each.at, each.call))),
        events=len(events),
        matched=len(matched),
        by_services=services,
        passed=passed,
        not_covered=not_covered,
        unread=unread,
    )


def _foreign(event: Logged) -> TrailFinding:
    claimed = f" It names the mutation {event.mutation}, which this ledger does not have." if event.mutation else ""
    return TrailFinding(
        kind="foreign",
        call=event.name,
        at=event.at,
        why=f"{event.who} called it in {event.account} {event.region}, and Sentinel sent no such request.{claimed}",
        event=event.id,
        who=event.who,
    )


def _missing(unmatched: Sequence[Sent], events: Sequence[Logged], margin: timedelta) -> tuple[list[TrailFinding], int]:
    if not events:
        return [], len(unmatched)
    first, last = min(each.at for each in events) + margin, max(each.at for each in events) - margin
    regions, accounts = {each.region for each in events}, {each.account for each in events}
    findings, not_covered = [], 0
    for each in unmatched:
        covered = (
            first <= each.at <= last
            and each.region in regions
            and (not each.account or each.account in accounts)
            and each.call_class not in _NOT_LOGGED
        )
        if not covered or each.outcome != "applied":
            not_covered += not covered
            continue
        why = f"The ledger says that it was applied for {each.actor}, and the trail tells no such request."
        findings.append(
            TrailFinding(
                kind="missing",
                call=f"{each.service}:{each.operation}",
                at=each.at,
                why=why,
                mutation=each.id,
                who=each.actor,
            )
        )
    return findings, not_covered


def _differences(mutation: Sent, events: Sequence[Logged]) -> Iterator[TrailFinding]:
    """What the events say otherwise than the ledger."""
    carried_out = [each for each in events if not each.error]
    whys = []
    if len(carried_out) > 1:
        whys.append(f"The trail tells it {len(carried_out)} times, and a change is sent once.")
    if mutation.outcome == "applied" and not carried_out:
        whys.append(f"The ledger says that it was applied, and AWS refused it ({events[0].error}).")
    if mutation.outcome == "failed" and carried_out:
        whys.append("The ledger says that it failed, and the trail shows no error.")
    if mutation.outcome == "in_doubt":
        told = "was carried out" if carried_out else f"was refused ({events[0].error})"
        whys.append(
            f"The ledger is in doubt about it, and the trail shows that it {told}: `sentinel settle` records it."
        )
    for event in events:
        whys += _differing_call(mutation, event)
    for why in dict.fromkeys(whys):
        yield TrailFinding(
            kind="differing",
            call=f"{mutation.service}:{mutation.operation}",
            at=mutation.at,
            why=why,
            mutation=mutation.id,
            event=events[0].id,
            who=events[0].who,
        )


def _differing_call(mutation: Sent, event: Logged) -> Iterator[str]:
    services = services_of(event.source)
    same_operation = _VERSION.sub("", _VERSION.sub("", event.operation)).lower() == mutation.operation.lower()
    if not same_operation or mutation.service not in (*services, event.source):
        yield f"The trail tells {event.name} under its id."
        return
    if mutation.region and event.region != mutation.region:
        yield f"The trail tells it in {event.region}, and it was sent to {mutation.region}."
    if mutation.account and event.account and event.account != mutation.account:
        yield f"The trail tells it in the account {event.account}, and it was decided for {mutation.account}."
    if event.source_identity and event.source_identity != source_identity(mutation.actor):
        yield f"Its source identity is {event.source_identity}, and {mutation.actor} asked for it."
    told = {_letters(name): value for name, value in event.parameters.items()}
    for name, value in mutation.parameters.items():
        other = told.get(_letters(name))
        if _plain(value) and _plain(other) and _text(value) != _text(other):
            yield f"Its parameter {name} is another one in the trail."


def _plain(value: object) -> bool:
    """Whether it can be compared: no list or object, no secret that either side hides."""
    if isinstance(value, str):
        return _MASKED not in value and "HIDDEN" not in value and "***" not in value
    return isinstance(value, bool | int)


def _text(value: object) -> str:
    return str(value).lower()


def _letters(name: str) -> str:
    return "".join(each for each in name.lower() if each.isalnum())


def _logged(record: Any) -> Logged | None:
    """The write of a record; None if it only reads."""
    if record is None:
        raise ValueError("no JSON")
    if record.get("readOnly") in {True, "true"}:
        return None
    source, operation = str(record["eventSource"]).removesuffix(".amazonaws.com"), str(record["eventName"])
    at = datetime.fromisoformat(str(record["eventTime"]))
    identity = record.get("userIdentity") or {}
    context = identity.get("sessionContext") or {}
    issuer = context.get("sessionIssuer") or {}
    arn = str(identity.get("arn") or "")
    agent, session = _AGENT.search(str(record.get("userAgent") or "")), _SESSION.search(arn)
    by_service = bool(identity.get("invokedBy")) and (
        not arn or identity.get("type") == "AWSService" or _SERVICE_ROLE in str(issuer.get("arn"))
    )
    parameters = record.get("requestParameters")
    return Logged(
        id=str(record.get("eventID") or ""),
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
        source=source,
        operation=operation,
        account=str(record.get("recipientAccountId") or identity.get("accountId") or ""),
        region=str(record.get("awsRegion") or ""),
        who=arn or str(identity.get("invokedBy") or identity.get("userName") or identity.get("type") or "unknown"),
        error=str(record.get("errorCode") or ""),
        request_id=str(record.get("requestID") or ""),
        mutation=agent[1] if agent else session[1] if session else "",
        by_service=by_service,
        source_identity=str(context.get("sourceIdentity") or "") if session is not None else "",
        parameters=parameters if isinstance(parameters, dict) else {},
    )
