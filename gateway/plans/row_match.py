"""Matches a call of a plan's session to the planned changes by derived rows: the resource type, the direction, and what the row knows of identity and values."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gateway.core.model.json import Json, is_list, to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlanUse, SessionChange
from gateway.effects.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.effects.schema import match, snake
from gateway.effects.tags import tag_map
from gateway.effects.values import NotUnderstood
from gateway.plans.call_match import OWN, CallMatch, SessionCall, as_planned, fits_direction, most_uses
from gateway.plans.named_texts import misnamed
from gateway.plans.planned_values import PlannedResource, as_map, same, same_in_form

_ORDER = (EffectAction.DELETE, EffectAction.CREATE, EffectAction.SET)
_SURENESS = tuple(Confidence)
_ORIGINS = (Origin.LEARNED, Origin.TRACED, Origin.MODEL)


def by_rows(asked: SessionCall) -> CallMatch:
    """The match of a call by the rows of its operation, the surest first; the objection of the first one if none fits."""
    if not asked.rows:
        return CallMatch(objection="no table says which resource it concerns")
    objections: list[str] = []
    for row, action in _surest(asked.rows):
        if asked.is_exact and row.confidence is not Confidence.ATTRIBUTES:
            objections.append("such a call passes only by a row that knows all of its attributes")
            continue
        found = _RowMatch(asked, row, action).match()
        if found.uses:
            return found
        objections.append(found.objection)
    types = ", ".join(sorted({row.resource_type for row in asked.rows})[:5])
    known = [each for each in objections if each]
    return CallMatch(objection=known[0] if known else f"the plan changes no {types} in this way")


def _surest(rows: Sequence[DerivedRow]) -> Iterator[tuple[DerivedRow, EffectAction]]:
    """The surest row for each type and direction. A weaker one would explain what that one contradicts."""
    seen: set[tuple[str, EffectAction]] = set()
    for row in sorted(
        rows, key=lambda row: (_SURENESS.index(row.confidence), _ORIGINS.index(row.origin), row.resource_type)
    ):
        for action in _ORDER:
            if action in row.actions and (row.resource_type, action) not in seen:
                seen.add((row.resource_type, action))
                yield row, action


@dataclass(frozen=True, slots=True)
class _RowMatch:
    """One row in one direction."""

    asked: SessionCall
    row: DerivedRow
    action: EffectAction

    def match(self) -> CallMatch:
        """The planned changes that the call is a part of: one, or one for each resource that it names."""
        if unlike := next(self._other_constants(), ""):
            return CallMatch(objection=f"it gives {unlike} a value that Terraform never sends")
        says_nothing = self.row.confidence is Confidence.TYPE and not self.asked.call.parameters
        if says_nothing and self.action is EffectAction.SET:
            return CallMatch(objection="it has no parameter that says what it changes")
        if self.action is EffectAction.CREATE and self.asked.creates_several(self.row.resource_type):
            return CallMatch(objection=f"it creates several {self.row.resource_type}, and the plan does not")
        fitting = [
            each
            for each in self.asked.session.changes
            if each.resource_type == self.row.resource_type
            and fits_direction(each, self.action)
            and self.asked.is_here(each)
        ]
        if not fitting:
            return CallMatch(objection="")
        taken: Counter[tuple[str, str]] = Counter()
        chosen: list[SessionChange] = []
        objection = ""
        for named in self._named():
            change, reason = self._choose(fitting, named, taken)
            if change is None:
                objection = reason
                break
            taken[change.address, self.action.value] += 1
            chosen.append(change)
        if objection:
            return CallMatch(objection=objection)
        uses = tuple(
            PlanUse(address=each.address, action=self.action.value, most=most_uses(each, self.action))
            for each in chosen
        )
        effects = tuple(effect for each in chosen for effect in as_planned(self.asked, each, self.action))
        return CallMatch(effects=effects, uses=uses, row=f"{self.row.origin.value} {self.row.confidence.value}")

    def _choose(
        self, fitting: Sequence[SessionChange], named: "_Named", taken: Counter[tuple[str, str]]
    ) -> tuple[SessionChange | None, str]:
        """The first change that the call fits, preferably one that it names; else why the best one does not fit."""
        reason = f"the plan changes another {self.row.resource_type} than the one that it names"
        by_name = [(sure, each) for each in fitting if (sure := self._identifies(each, named)) is not None]
        for sure, change in sorted(by_name, key=lambda pair: not pair[0]):
            if (change.address, self.action.value) in taken:
                continue
            resource = self.asked.resource(change)
            if not sure and self._must_name(change):
                reason = f"it does not say which {change.resource_type} it deletes"
            elif not sure and (unlike := self._misnamed(change)):
                reason = unlike
            elif differing := next(self._differences(resource), ""):
                reason = f"it gives {differing} of {change.address} another value than the plan does"
            elif not self.asked.has_left(change, self.action, taken):
                reason = f"it was sent for {change.address} as often as the plan has such changes"
            else:
                return change, ""
        return None, reason

    def _misnamed(self, change: SessionChange) -> str:
        """Why the call may be about another resource; empty if it is about this one, or only makes a new one."""
        makes = self.row.actions == {EffectAction.CREATE}
        return "" if makes else misnamed(self.asked, self.row, self.action, change)

    def _must_name(self, change: SessionChange) -> bool:
        return self.action is EffectAction.DELETE and change.resource_type in self.asked.rules.stores

    def _named(self) -> "list[_Named]":
        """The resources that the call names: one, unless a parameter that identifies them is a list."""
        given = {
            name: values
            for name in self.row.identity
            if (values := tuple(_values_at(self.asked.call.parameters, name.split("."))))
        }
        longest = max((len(values) for values in given.values()), default=1)
        if longest == 1:
            return [{name: values[0] for name, values in given.items()}]
        return [
            {name: values[place] if len(values) == longest else values[0] for name, values in given.items()}
            for place in range(longest)
        ]

    def _identifies(self, change: SessionChange, named: "_Named") -> bool | None:
        """Whether the call names this resource for sure; None if it names another one."""
        resource = self.asked.resource(change)
        sure = False
        for parameter, value in named.items():
            source = self.row.identity[parameter]
            known = resource.known(source.attribute)
            if known:
                if not any(same_in_form(value, each, source.form) for each in known) or not self._is_local(value):
                    return None
                sure = True
            elif (source.attribute in OWN and not resource.may_be(value)) or (
                not _is_new(change) and resource.recorded and not resource.is_free(source.attribute)
            ):
                return None
        return sure

    def _is_local(self, value: object) -> bool:
        """Whether an ARN is of the account and region of the call."""
        parts = str(value).split(":", 5)
        if parts[0] != "arn" or len(parts) < 6:  # noqa: PLR2004  an ARN has six parts
            return True
        region, account = parts[3], parts[4]
        call = self.asked.call
        return (not region or not call.region or region == call.region) and (
            not account or not call.account or account == call.account
        )

    def _other_constants(self) -> Iterator[str]:
        """Parameters with another value than in every call that was traced. To switch an option off is no more than they do."""
        for name, value in self.row.constants.items():
            given = tuple(_values_at(self.asked.call.parameters, name.split(".")))
            guarded = bool(self._guarded(tuple(name.split("."))))
            if any(to_json(each) != value and (guarded or not same(to_json(each), None)) for each in given):
                yield name

    def _differences(self, resource: PlannedResource) -> Iterator[str]:
        """The attributes and parameters to which the call gives something that the plan does not."""
        if self.action is EffectAction.DELETE:
            yield from self._forced(resource)
            return
        explained = {
            *self.row.identity,
            *self.row.attributes,
            *self.row.removes,
            *self.row.constants,
            *self.row.controls,
        }
        for parameter, source in self.row.attributes.items():
            values = list(_values_at(self.asked.call.parameters, parameter.split(".")))
            if values and not _gives(resource, source, values):
                yield source.attribute
        for steps, value in _leaves(self.asked.call.parameters, ()):
            path = ".".join(steps)
            if any(path == each or path.startswith(f"{each}.") for each in explained):
                continue
            if self.asked.is_exact:
                yield path
            elif (attribute := self._guarded(steps)) and not _may_have(resource, attribute, value):
                yield attribute

    def _forced(self, resource: PlannedResource) -> Iterator[str]:
        """Switches by which the call deletes more than the plan does: those that the state has not on, or Terraform never sends."""
        never = self.row.origin is Origin.TRACED
        known = {*self.row.identity, *self.row.constants, *self.row.controls, *self.row.unexplained}
        for steps, value in _leaves(self.asked.call.parameters, ()):
            path = ".".join(steps)
            source = self.row.attributes.get(path)
            if value is not True or path in known:
                continue
            if (source is None and never) or (
                source is not None and resource.recorded and not _gives(resource, source, [value])
            ):
                yield path

    def _guarded(self, steps: tuple[str, ...]) -> str:
        """The attribute that a parameter seems to carry, if a guardrail judges it; else empty."""
        kind = self.row.resource_type
        schema = self.asked.schemas.get(kind)
        attribute = (match(schema, steps) if schema is not None else None) or snake(steps[-1])
        return attribute if self.asked.rules.is_guarded(kind, attribute) else ""


def _is_new(change: SessionChange) -> bool:
    return change.action in (PlannedAction.CREATE, PlannedAction.REPLACE)


_Named = Mapping[str, object]
"""Parameter → its value, for one resource."""


def _gives(resource: PlannedResource, source: AttributeSource, values: Sequence[object]) -> bool:
    """Whether the plan gives these values to the attribute."""
    if resource.is_free(source.attribute):
        return True
    if source.attribute in ("tags", "tags_all"):
        return _fits_tags(resource, values)
    value: object = values[0] if len(values) == 1 else list(values)
    known = resource.known(source.attribute)
    if any(same_in_form(value, each, source.form) for each in known):
        return True
    if any(
        is_list(each) and all(any(same_in_form(one, item, source.form) for item in each) for one in values)
        for each in known
    ):
        return True
    said = to_json(value)
    if resource.fits(source.attribute, said):
        return True
    pairs = as_map(to_json(list(values)))
    is_map = any(isinstance(each, Mapping) for each in known)
    return is_map and isinstance(pairs, Mapping) and resource.fits(source.attribute, pairs)


def _fits_tags(resource: PlannedResource, values: Sequence[object]) -> bool:
    """Whether the tags are planned. What is in no form of tags is not."""
    given = values[0] if len(values) == 1 and isinstance(values[0], Mapping) and "Value" not in values[0] else None
    try:
        tags = tag_map(list(values))
    except NotUnderstood:
        if given is None:
            return False
        tags = tag_map(given)
    return resource.fits("tags", dict(tags))


def _may_have(resource: PlannedResource, attribute: str, value: object) -> bool:
    """Whether the plan has the value at the attribute, or anywhere: the name alone does not say in which block."""
    said = to_json(value)
    # A switch of which the plan says nothing may be on without the call.
    unsaid = said is False and not resource.known(attribute)
    if resource.is_free(attribute) or (not unsaid and resource.fits(attribute, said)):
        return True
    name = attribute.rpartition(".")[2]
    places: list[Json] = [*resource.change.values.values(), *resource.remains.values()]
    free = any(free.rpartition(".")[2] == name for free in resource.change.free)
    return free or any(_holds(place, said) for place in places)


def _holds(place: Json, value: Json) -> bool:
    if place == value:
        return True
    if isinstance(place, Mapping):
        return any(_holds(item, value) for item in place.values())
    return is_list(place) and any(_holds(item, value) for item in place)


def _values_at(value: object, steps: Sequence[str]) -> Iterator[object]:
    """The values at a path; members of lists have no step of their own."""
    if is_list(value) and not isinstance(value, bytes):
        for item in value:
            yield from _values_at(item, steps)
    elif not steps:
        if value is not None:
            yield value
    elif isinstance(value, Mapping) and steps[0] in value:
        yield from _values_at(value[steps[0]], steps[1:])


def _leaves(value: object, steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The path and value of everything that the call gives."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from _leaves(item, (*steps, str(name)))
    elif is_list(value) and not isinstance(value, bytes) and any(isinstance(item, Mapping) for item in value):
        for item in value:
            yield from _leaves(item, steps)
    elif value is not None and steps:
        yield steps, value
