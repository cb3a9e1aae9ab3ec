"""Judges a mutation in doubt by CloudTrail: each request that the gateway sends names its mutation in its user agent."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Final

from gateway.core.cloudtrail_files import event_files, read_records, unwrapped
from gateway.core.errors import NotSendable
from gateway.core.model.outcome import SettledBy
from gateway.core.service_models import ServiceModels
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.changes.cloudtrail import principal_of
from reconciler.drift.in_doubt.live_evidence import DoubtAnswer, DoubtVerdict

_USER_AGENT: Final = re.compile(r"\[?sentinel/\S+ mutation/(mut_[0-9a-z]{26})\]?")
_VERSION: Final = re.compile(r"\d{4}_?\d{2}_?\d{2}(?:v\d+)?")
"""The API version that some services append to the operation: `UpdateFunctionConfiguration20150331v2`."""
_UNSURE: Final = re.compile(
    r"internal|unavailable|timeout|timedout|server\.?(?:error|exception)|servicefailure", re.IGNORECASE
)
"""Error codes after which AWS may have carried out the call all the same."""
_SKEW: Final = timedelta(minutes=5)
_LATEST: Final = timedelta(minutes=20)
"""After the decision; by then AWS accepts the signature no more."""
_DOMAIN: Final = re.compile(r"\.amazonaws\.com(?:\.cn)?$")
_MORE_SOURCES: Final = {"application-autoscaling": "autoscaling"}
"""By service: an event source that no name in botocore's model tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trail:
    """Where CloudTrail's events are, and who the gateway is in them."""

    path: Path
    """A file, or a directory of `.json` and `.json.gz` files, as CloudTrail delivers them."""
    identity: str
    """ARN of the IAM role or user with whose credentials the gateway sends."""
    assumed: tuple[str, ...] = ()
    """ARNs of the roles that it assumes to send."""


def verdict_of_trail(trail: Trail, applied: AppliedMutation) -> DoubtVerdict | None:
    """What the events say; None if they say nothing, or contradict each other.

    An event counts only if the gateway's own identity made it, in the account of the call, and it is of the same service and operation
    and within the time in which AWS accepted the request: anyone with AWS credentials can write a mutation's id into a user agent.
    Raises `errors.EventsInvalid`.
    """
    events = [event for event in _events(trail.path) if _is_of(event, applied) and _is_own(event, trail, applied)]
    answers = {_answer(event) for event in events}
    if len(answers) != 1 or (answer := answers.pop()) is None:
        return None
    [request_id, *_] = sorted({str(event.get("requestID") or "") for event in events})
    how = "carried it out" if answer is DoubtAnswer.APPLIED else "refused it"
    return DoubtVerdict(
        answer=answer, by=SettledBy.CLOUDTRAIL, reason=f"CloudTrail says that AWS {how}.", request_id=request_id
    )


def _events(path: Path) -> Iterator[Mapping[str, Any]]:
    for file in event_files(path):
        for record in read_records(file):
            event = unwrapped(record)
            if isinstance(event, dict):
                yield event


def _is_of(event: Mapping[str, Any], applied: AppliedMutation) -> bool:
    agent = _USER_AGENT.fullmatch(str(event.get("userAgent") or ""))
    if agent is None or agent[1] != applied.id:
        return False
    service, _, operation = applied.operation.partition(":")
    if _DOMAIN.sub("", str(event.get("eventSource") or "")) not in _sources(service):
        return False
    name = str(event.get("eventName") or "")
    if name != operation and not (name.startswith(operation) and _VERSION.fullmatch(name.removeprefix(operation))):
        return False
    try:
        at = datetime.fromisoformat(str(event.get("eventTime")))
    except ValueError:
        return False
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return applied.at - _SKEW <= at <= applied.at + _LATEST


def _is_own(event: Mapping[str, Any], trail: Trail, applied: AppliedMutation) -> bool:
    """Whether the gateway's identity made the call, in the account that it was meant for."""
    who = event.get("userIdentity")
    principal = principal_of(who) if isinstance(who, dict) else ""
    if not isinstance(who, dict) or principal not in (trail.identity, *trail.assumed):
        return False
    own = principal.split(":")[4]
    accounts = str(who.get("accountId", own)), str(event.get("recipientAccountId", own))
    return accounts == (own, applied.account or own)


@cache
def _sources(service: str) -> frozenset[str]:
    """The names under which CloudTrail may know a service, by its name in botocore."""
    try:
        model = ServiceModels().service(service)
    except NotSendable:
        return frozenset()
    names = {service, model.endpoint_prefix.removeprefix("api."), model.signing_name}
    return frozenset(names | {_MORE_SOURCES.get(service, service)})


def _answer(event: Mapping[str, Any]) -> DoubtAnswer | None:
    error = str(event.get("errorCode") or "")
    if not error:
        return DoubtAnswer.APPLIED
    return None if _UNSURE.search(error) else DoubtAnswer.FAILED
