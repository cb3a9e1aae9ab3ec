"""Finds what a call of a plan's session gives to attributes of which the plan does not tell the value: nobody has judged it yet.

Such an attribute is a secret, known only after the apply, or left to AWS. What the client says about it is no proof, so the value is judged
when it is sent, as without a plan. A value that names what the plan itself makes was judged with the plan.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from gateway.core.derived_rows import types_of_service
from gateway.core.model.json import Json, is_document, is_list, to_json
from gateway.core.model.masking import Masker
from gateway.core.model.mutation import Basis, Effect, EffectAction
from gateway.core.model.path import WHOLE
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import SessionChange
from gateway.effects.schema import match, snake
from gateway.effects.type_rows import upserted_types
from gateway.plans.call_match import CallMatch, SessionCall, is_untold
from gateway.plans.check import with_value
from gateway.plans.owners import kind_of
from gateway.plans.planned_values import PlannedResource
from gateway.plans.row_match import beside_known, leaves

_WRITES: Final = (EffectAction.SET, EffectAction.CREATE)
_MAKES: Final = (PlannedAction.CREATE, PlannedAction.REPLACE)
_NAMES: Final = ("name", "id", "arn", "key_id", "bucket", "function_name")
_ARN_PARTS: Final = 6
_BEFORE_NAME: Final = re.compile(r"([^:/]*)[:/]")
_BETWEEN_NAMES: Final = re.compile(r"[:/]")
Written = tuple[str, str]
"""Address and attribute."""


def with_untold(asked: SessionCall, found: CallMatch, masker: Masker) -> tuple[tuple[Effect, ...], frozenset[Written]]:
    """The effects of a call that fits the plan, those with a value that the plan does not tell among them, and which these are."""
    by_hand = found.row == "hand"
    changes = {change.address: asked.resource(change) for change in asked.session.changes}
    makes = _Makes(asked)
    used = [resource for use in found.uses if (resource := changes.get(use.address)) is not None]
    strange = frozenset(each.change.address for each in used if _is_of_a_stranger(asked, each, found, makes))
    given = tuple(effect for effect in found.effects if by_hand) or tuple(_of_parameters(asked, found, masker, strange))
    untold = {
        (effect.address, effect.attribute): effect
        for effect in given
        if effect.action in _WRITES
        and effect.attribute != WHOLE
        and effect.value is not None
        and (resource := changes.get(effect.address)) is not None
        and (effect.address in strange or (is_untold(resource, effect.attribute) and not makes.names(effect)))
    }
    if by_hand:
        return found.effects, frozenset(untold)
    rest = [each for each in found.effects if (each.address, each.attribute) not in untold]
    return (*rest, *untold.values()), frozenset(untold)


def _is_of_a_stranger(asked: SessionCall, resource: PlannedResource, found: CallMatch, makes: "_Makes") -> bool:
    """Whether the plan does not tell what a new resource is a setting of, and the call names for that what the session did not make: then
    nothing of it was judged for what it changes.
    """
    change = resource.change
    if change.action not in _MAKES or change.resource_type not in upserted_types():
        return False
    by_hand = [effect.identity for effect in found.effects if effect.address == change.address]
    by_row = [
        {source.attribute: str(value)}
        for row in asked.rows
        if row.resource_type == change.resource_type
        for path, source in row.identity.items()
        for steps, value in leaves(asked.call.parameters, ())
        if ".".join(steps) == path
    ]
    return any(
        resource.is_free(name) and not makes.is_made(value, name)
        for identity in (*by_hand, *by_row)
        for name, value in identity.items()
    )


def _of_parameters(asked: SessionCall, found: CallMatch, masker: Masker, strange: frozenset[str]) -> Iterator[Effect]:
    """What a call gives to the attributes of the planned resources that it was matched with, as far as the plan does not tell the value; all
    that it gives to those whose addresses are in `strange`.
    """
    uses = {use.address: EffectAction(use.action) for use in found.uses}
    for change in asked.session.changes:
        action = uses.get(change.address)
        if action not in _WRITES or not change.free:
            continue
        resource = asked.resource(change)
        bare = Effect(
            address=change.address,
            attribute=WHOLE,
            action=action,
            resource_type=change.resource_type,
            declared=asked.stack.knows(change.address),
            basis=Basis.DERIVED,
            upserted=change.address in strange,
        )
        values: dict[str, list[Json]] = {}
        for steps, value in leaves(asked.call.parameters, ()):
            for attribute in _carried(asked, resource, steps, every=change.address in strange):
                values.setdefault(attribute, []).append(to_json(value))
        for attribute, several in values.items():
            value = several[0] if len(several) == 1 else several
            yield with_value(replace(bare, attribute=attribute), value, resource.recorded, masker)


def _carried(asked: SessionCall, resource: PlannedResource, steps: tuple[str, ...], *, every: bool) -> Iterator[str]:
    """The attributes with an untold value that a parameter may carry: by a row, by its place, or by its name alone. With `every`, the others too."""
    change, path = resource.change, ".".join(steps)
    rows = [row for row in asked.rows if row.resource_type == change.resource_type]
    named = {row.attributes[path].attribute for row in rows if path in row.attributes}
    schema = asked.schemas.get(change.resource_type)
    if not named and schema is not None:
        placed = {match(schema, steps), *(beside_known(row, schema, steps) for row in rows)}
        named = {attribute for attribute in placed if attribute is not None}
    last = snake(steps[-1])
    named = named or set(resource.free_names.get(last, ()))
    yield from sorted(attribute for attribute in named if every or resource.is_untold(attribute))


@dataclass(frozen=True)
class _Makes:
    """The names of what the plan makes."""

    asked: SessionCall

    def names(self, effect: Effect) -> bool:
        """Whether every text of a value is the name, id or ARN of a planned new resource, and not of another type than it says."""
        texts = list(_texts(effect.value))
        return bool(texts) and all(self.is_made(text, effect.attribute) for text in texts)

    def is_made(self, text: Json, attribute: str) -> bool:
        """Whether the text is the name, id or ARN of what the session made, of the kind that the attribute refers to."""
        if not isinstance(text, str):
            return False
        if text in self.asked.made.values():
            return True
        parts = text.split(":", _ARN_PARTS - 1)
        if parts[0] != "arn":
            kind = kind_of(snake(attribute.rpartition(".")[2]))
            return any(change.resource_type.endswith(f"_{kind}") for change in self._named(text))
        if len(parts) < _ARN_PARTS:
            return False
        call = self.asked.call
        accounts = {call.account} if call.account else self.asked.stack.places.accounts
        # Before anything is recorded nobody knows the account; then the names alone tell.
        here = parts[3] in ("", call.region) and (not accounts or parts[4] in ("", *accounts))
        return here and any(
            change.resource_type in _types(parts[2], kind)
            for kind, name in _named_in(parts[-1])
            for change in self._named(name)
        )

    def _named(self, name: str) -> Iterator[SessionChange]:
        for change in self.asked.session.changes:
            if change.action in _MAKES and any(change.values.get(each) == name for each in _NAMES):
                # Until AWS has created it, what has the name is another's.
                recorded = self.asked.stack.recorded(change.address) or {}
                if change.address in self.asked.there or any(recorded.get(each) == name for each in _NAMES):
                    yield change


def _named_in(resource: str) -> Iterator[tuple[str, str]]:
    """Each way to read the last part of an ARN as a kind and a name: names have slashes too (`log-group:/aws/x`), and paths before them."""
    found = _BEFORE_NAME.match(resource)
    if found is None:
        yield "", resource
        return
    name = resource[found.end() :].removesuffix(":*")
    yield found[1], name
    for end in _BETWEEN_NAMES.finditer(name):
        yield found[1], name[end.end() :]


@lru_cache(maxsize=256)
def _types(service: str, kind: str) -> frozenset[str]:
    """The resource types that an ARN of this service and kind may name: that of the two, else those of the service's calls that end so."""
    known, named = types_of_service(service), f"aws_{service}_{snake(kind)}"
    if not kind:
        return frozenset(name for name in known if name.startswith(named))
    own = frozenset({named})
    return own if named in known else own | {name for name in known if name.endswith(f"_{snake(kind)}")}


def _texts(value: Json) -> Iterator[Json]:
    """The members of a list, or the value itself. Of a document what is inside, unless it is a policy; numbers name nothing."""
    for item in value if is_list(value) else (value,):
        inside = json.loads(item) if isinstance(item, str) and is_document(item) else None
        if isinstance(inside, Mapping) and not any(str(name).lower() == "statement" for name in inside):
            yield from (text for text in inside.values() if not isinstance(text, int | float))
        else:
            yield item
