"""The names and values in a CloudTrail record: what was asked, and what was answered."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from reconciler.changes.cloudtrail import letters

_VERSION: Final = re.compile(r"_?20\d{2}(?:_\d{2}_\d{2}|\d{4})(?:v\d+)?$")
"""The version that Lambda and CloudFront put after the name of an operation: `CreateFunction20150331`."""
_WORD: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z0-9]+")
_WRAPPERS: Final = frozenset({"items", "member", "entry"})
MOST_VALUES: Final = 500
"""Values of one record that are looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedValue:
    """A text, number or switch in a record."""

    steps: tuple[str, ...]
    """The names of the members that lead to it, without the wrappers of lists."""
    value: str | int | float | bool

    @property
    def name(self) -> str:
        """The last name, as letters."""
        return letters(self.steps[-1]) if self.steps else ""

    @property
    def text(self) -> str:
        """The value as Terraform writes it as text."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventValues:
    """What a record says, ready to be compared with a resource."""

    service: str
    """The event source without `.amazonaws.com`."""
    operation: str
    """Without the version that some services add."""
    asked: tuple[NamedValue, ...] = ()
    answered: tuple[NamedValue, ...] = ()
    account: str = ""
    """The account that the call was made in."""
    words: tuple[str, ...] = ()
    """The words of the operation in lower case: `put`, `bucket`, `policy`."""

    @property
    def verb(self) -> str:
        """The first word."""
        return self.words[0] if self.words else ""

    @property
    def noun(self) -> tuple[str, ...]:
        """The other words."""
        return self.words[1:]

    @property
    def texts(self) -> frozenset[str]:
        """Every text in it."""
        return frozenset(each.value for each in (*self.asked, *self.answered) if isinstance(each.value, str))


def event_values(call: Mapping[str, Any]) -> EventValues:
    """The values of a CloudTrail record."""
    operation = _VERSION.sub("", str(call.get("eventName") or ""))
    return EventValues(
        service=str(call.get("eventSource") or "").removesuffix(".amazonaws.com"),
        operation=operation,
        asked=_named(call.get("requestParameters")),
        answered=_named(call.get("responseElements")),
        account=str(call.get("recipientAccountId") or ""),
        words=tuple(word.lower() for word in _WORD.findall(operation)),
    )


def _named(value: Any) -> tuple[NamedValue, ...]:
    found: list[NamedValue] = []
    for each in _walk(value, ()):
        if len(found) == MOST_VALUES:
            break
        found.append(each)
    return tuple(found)


def _walk(value: Any, steps: tuple[str, ...]) -> Iterator[NamedValue]:
    match value:
        case bool() | int() | float() | str():
            if steps and value != "":
                yield NamedValue(steps=steps, value=value)
        case Mapping():
            for name, item in value.items():
                yield from _walk(item, steps if name in _WRAPPERS else (*steps, str(name)))
        case list():
            for item in value:
                yield from _walk(item, steps)
