"""Says whether what a call names is a planned resource and no other, where no row knows for sure which parameter identifies it.

Such a call has to name the resource by a text that its state or the plan has, and whatever in it looks like a name or an id has to be one of
theirs. A text that nobody knows is an id that AWS chose in this session, or another resource's.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from gateway.core.derived_rows import DerivedRow
from gateway.core.model.json import is_list
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import SessionChange
from gateway.effects.schema import folded, snake
from gateway.plans.call_match import ADOPTED, SessionCall
from gateway.plans.planned_values import PlannedResource

_IDENTIFIER: Final = re.compile(r"(?:^|_)(?:id|arn|name|identifier|ur[li]|uuid|key)s?$")
"""The ends of parameters and attributes, in snake case, that tell one resource from others."""
_SERVES_THE_CALL: Final = re.compile(
    r"^tags?$|^tag_|token|client_?request|creator_?request|caller_?reference|(?:version|revision)_?id$"
)
"""Parameters that name the call, a tag or a version, and no resource."""
_PARTS: Final = re.compile(r"[/:,|]")
_ARN_PARTS: Final = 6
Named = tuple[tuple[str, ...], str]
"""The names of the parameters around a text, and the text."""


def misnamed(asked: SessionCall, row: DerivedRow, action: EffectAction, change: SessionChange) -> str:
    """Why the call may be about another resource than the planned one, as half a sentence; empty if it is about that one."""
    named = list(_named(asked, row, action))
    if not named:
        return ""
    texts = _Texts(asked, change, asked.resource(change))
    strange = [(steps, text) for steps, text in named if not texts.has(text)]
    if strange and texts.may_be_new and not any(texts.is_another(text) for _, text in strange):
        return ""
    if strange:
        return f"its {strange[0][0][-1]} may be of another resource than {change.address}"
    if not any(texts.tells(text) for _, text in named) and not texts.names_new(text for _, text in named):
        return f"it does not say which {change.resource_type} it means"
    return ""


def names(asked: SessionCall, row: DerivedRow, action: EffectAction, change: SessionChange) -> bool:
    """Whether a text of the call tells the resource from others, and none is of another."""
    texts = _Texts(asked, change, asked.resource(change))
    named = [text for _, text in _named(asked, row, action)]
    return any(texts.tells(text) for text in named) and all(texts.has(text) for text in named)


def serves_the_call(steps: tuple[str, ...]) -> bool:
    """Whether a parameter names the call, a tag or a version, and nothing that is changed."""
    return any(_SERVES_THE_CALL.search(snake(step)) for step in steps)


def is_identifier(parameter: str) -> bool:
    """Whether a parameter is called like one that tells a resource from others."""
    return bool(_IDENTIFIER.search(snake(parameter)))


def _named(asked: SessionCall, row: DerivedRow, action: EffectAction) -> Iterator[Named]:
    """What the call names that no row compares: in a deletion every text, else those whose parameter is called like an identifier."""
    compared = {*row.controls, *row.constants}
    if action is not EffectAction.DELETE:
        compared |= {*row.attributes, *row.removes}
    schema = asked.schemas.get(row.resource_type)
    words = {folded(word) for word in schema.steps} if schema is not None else set[str]()
    for steps, text in _texts(asked.call.parameters):
        name = snake(steps[-1])
        looks = action is EffectAction.DELETE or _IDENTIFIER.search(name) or f"_{name}_" in f"{row.resource_type}_"
        serves = serves_the_call(steps)
        # An operation that changes one attribute may take the name of the attribute.
        if looks and not serves and ".".join(steps) not in compared and folded(snake(text)) not in words:
            yield steps, text


def _texts(value: object, steps: tuple[str, ...] = ()) -> Iterator[Named]:
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _texts(item, (*steps, str(name)))
    elif isinstance(value, str):
        if value and steps:
            yield steps, value
    elif is_list(value):
        for item in value:
            yield from _texts(item, steps)


@dataclass(frozen=True)
class _Texts:
    """The texts of a planned resource in the state and in the plan."""

    asked: SessionCall
    change: SessionChange
    resource: PlannedResource

    @cached_property
    def _planned(self) -> frozenset[str]:
        return frozenset(text for _, text in _texts(dict(self.change.values)))

    @cached_property
    def _all(self) -> frozenset[str]:
        recorded = {text for _, text in _texts(dict(self.resource.recorded))}
        found = {*recorded, *self._planned, *self.asked.made.values()}
        parts = {part for text in found for part in _PARTS.split(text)}
        return frozenset(found | parts | {self.asked.call.account}) - {""}

    @cached_property
    def _own(self) -> frozenset[str]:
        recorded = str(self.resource.recorded.get("id") or "")
        parts = () if recorded.startswith("arn:") or "://" in recorded else _PARTS.split(recorded)
        found = {self.resource.made, *parts}
        for attributes in (self.resource.recorded, self.change.values):
            found |= {text for name, text in attributes.items() if isinstance(text, str) and _IDENTIFIER.search(name)}
        return frozenset(found) - {"", self.asked.call.account, self.asked.call.region}

    def has(self, text: str) -> bool:
        """Whether the state or the plan has the text, or it is an ARN or URL of here that ends with a name of the resource."""
        if self.is_another(text) and text not in self._planned:
            return False
        return text in self._all or self._is_around(text)

    def tells(self, text: str) -> bool:
        """Whether the text tells the resource from others."""
        return text in self._own or self._is_around(text)

    def names_new(self, named: Iterable[str]) -> bool:
        """Whether the call makes or sets up what joins others, and names nothing but the account and what this session made.

        What an account has once is named by the account, beside which the plan's own values may stand.
        """
        is_new = self.change.action in (PlannedAction.CREATE, PlannedAction.REPLACE)
        account, texts = self.asked.call.account, list(named)
        known = {*self.asked.made.values(), account}
        if account in texts:
            known |= self._planned
        return is_new and all(text in known for text in texts)

    def _is_around(self, text: str) -> bool:
        parts = text.split(":", _ARN_PARTS - 1)
        call = self.asked.call
        if "://" in text:
            return _PARTS.split(text)[-1] in self._own
        if parts[0] != "arn" or len(parts) < _ARN_PARTS:
            return False
        here = parts[3] in ("", call.region) and parts[4] in ("", call.account)
        return here and not self._own.isdisjoint(_ends(parts[-1]))

    @property
    def may_be_new(self) -> bool:
        """Whether the session created something whose id nobody knows, so that a strange text may be that."""
        return self.change.resource_type.startswith(ADOPTED) or not self.asked.created <= self.asked.made.keys()

    def is_another(self, text: str) -> bool:
        """Whether another recorded resource of the type has the text as its id, ARN or name."""
        stack = self.asked.stack
        found = {
            address
            for attribute in ("id", "arn", "name")
            for address in stack.find(self.change.resource_type, attribute, text)
        }
        return bool(found - {stack.local(self.change.address)})


def _ends(resource: str) -> Iterator[str]:
    """The ends of the last part of an ARN: `function:app` and `app`."""
    yield resource
    for found in _PARTS.finditer(resource):
        yield resource[found.end() :]
