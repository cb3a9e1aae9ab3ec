"""Converts the answers of policies into findings, strictly: any unexpected form raises, which denies."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from gateway.core.errors import PolicyUnavailable
from gateway.core.model.claim import ConflictClass
from gateway.core.model.json import Json
from gateway.core.model.verdict import CounterOffer, Finding, Verdict

_REQUIRED = frozenset({"id", "verdict", "message", "address", "attribute"})
_OPTIONAL = frozenset({"holder", "retry_after_ns", "conflict"})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Kind = TypeVar("Kind")


def only(answer: Json, names: set[str]) -> Mapping[str, Json]:
    """The answer as an object with exactly these members. Raises `errors.PolicyUnavailable` for anything else."""
    if not isinstance(answer, Mapping) or set(answer) != names:
        raise PolicyUnavailable(f"The policies' answer does not have exactly the members {', '.join(sorted(names))}.")
    return answer


def member(answer: Mapping[str, Json], name: str, kind: type[Kind]) -> Kind:
    """The member `name`. Raises `errors.PolicyUnavailable` if it is missing or of another type."""
    value = answer.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise PolicyUnavailable(f"The policies' answer has no {name} of the expected kind.")
    return value


def finding(check: str, item: Json) -> Finding:
    """A finding of a policy. It can deny or hold, but not allow. Raises `errors.PolicyUnavailable` for any other form."""
    if not isinstance(item, Mapping) or not _REQUIRED <= set(item) <= _REQUIRED | _OPTIONAL:
        raise PolicyUnavailable("A policy's finding does not have the members that findings have.")
    verdict = {"deny": Verdict.DENY, "hold": Verdict.HOLD}.get(member(item, "verdict", str))
    rule, reason = member(item, "id", str), member(item, "message", str)
    if verdict is None or not rule or not reason:
        raise PolicyUnavailable("A policy's finding has no id, no message, or a verdict other than deny and hold.")
    address, attribute = member(item, "address", str), member(item, "attribute", str)
    return Finding(
        check=check,
        verdict=verdict,
        rule=rule,
        reason=reason,
        address=address,
        attribute=attribute,
        offer=_offer(item, address, attribute),
        conflict=_conflict(item),
        # A policy can mark an absolute denial only by its id.
        absolute=verdict is Verdict.DENY and rule.startswith("never."),
    )


def _conflict(item: Mapping[str, Json]) -> ConflictClass | None:
    """The class of the conflict; None if the policy names none."""
    if "conflict" not in item:
        return None
    named = member(item, "conflict", str)
    if named not in (ConflictClass.DIRECT, ConflictClass.INDIRECT):
        raise PolicyUnavailable(f"A policy's finding names a class of conflict that there is not: {named[:64]!r}.")
    return ConflictClass(named)


def _offer(item: Mapping[str, Json], address: str, attribute: str) -> CounterOffer | None:
    """The holder of the conflicting claim and the end of that claim; None if the policy names neither."""
    holder = member(item, "holder", str) if "holder" in item else ""
    nanoseconds = item.get("retry_after_ns")
    after = None if nanoseconds is None else _time(member(item, "retry_after_ns", int))
    if not holder and after is None:
        return None
    return CounterOffer(address=address, attribute=attribute, holder=holder, retry_after=after)


def _time(nanoseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=nanoseconds // 1000)
    except OverflowError as error:
        raise PolicyUnavailable("A policy's finding names a time outside the calendar.") from error
