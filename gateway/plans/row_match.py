"""Matches a call of a plan's session to the planned changes by derived rows: the resource type, the direction, and what the row knows of identity and values."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm, types_of_service
from gateway.core.model.json import Json, is_list, to_json
from gateway.core.model.masking import is_masked
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import AttributePath, step_of
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import PlanUse, SessionChange
from gateway.effects.attribute_classes import JUDGED, class_of
from gateway.effects.derived_operations import ADDS, keeps_omitted
from gateway.effects.identification import id_of_parts
from gateway.effects.schema import TypeSchema, match, match_member, snake
from gateway.effects.tags import tag_map
from gateway.effects.values import NotUnderstood
from gateway.line.checks.derived_rows import DELICATE
from gateway.plans.call_match import (
    ADOPTED,
    DELETES,
    OWN,
    CallMatch,
    SessionCall,
    as_planned,
    fits_direction,
    most_uses,
    sent_unasked,
)
from gateway.plans.named_texts import is_identifier, misnamed, names, serves_the_call
from gateway.plans.planned_values import PlannedResource, are_among, as_map, fits_body, is_body, same, same_in_form
from gateway.plans.provider_forms import (
    deletes_by_default,
    is_content,
    is_next_version,
    is_of_a_block,
    is_taken_out,
    is_written,
    puts_in_force,
    says_no_value,
)
from gateway.plans.served_change import WRITES, lacks_kept, lost_members, names_what_goes, unserved
from gateway.terraform.forms import TWINS
from gateway.terraform.secrets import is_secret

_ORDER = (EffectAction.DELETE, EffectAction.CREATE, EffectAction.SET)
_SURENESS = tuple(Confidence)
_COUNT = "Quantity"
_PAIR = 2
"""Members of a pair of a name and a value."""
_SECRETS = frozenset({"passphrase", "password", "secret", "token"})
_BETWEEN = "/:,|_"
"""Signs that divide the parts of an id."""
_ORIGINS = (Origin.TRACED, Origin.LEARNED, Origin.MODEL)


def by_rows(asked: SessionCall) -> CallMatch:
    """The match of a call by the rows of its operation, the surest first; the objection of the first one if none fits."""
    if not asked.rows:
        return CallMatch(objection="no table says which resource it concerns")
    rows = tuple(row for row in _with_twins(asked) if _is_enough(asked, row))
    objections: list[str] = [] if rows else [_EXACT]
    for row, action in _surest(rows):
        if asked.is_exact and row.confidence is not Confidence.ATTRIBUTES and action is EffectAction.DELETE:
            objections.append(_EXACT)
            continue
        found = _RowMatch(asked, row, action).match()
        if found.uses:
            return found
        objections.append(found.objection)
    types = ", ".join(sorted({row.resource_type for row in asked.rows})[:5])
    known = [each for each in objections if each]
    return CallMatch(objection=known[0] if known else f"the plan changes no {types} in this way")


def _with_twins(asked: SessionCall) -> Sequence[DerivedRow]:
    """The rows, and each of them for other types that have none of their own: those by which code may declare the same resource, and, of a
    row that tags what an ARN names, the planned types of the service.
    """
    rows = asked.rows
    types = {row.resource_type for row in rows}
    twins = (
        replace(row, resource_type=twin.resource_type, actions=actions)
        for row in rows
        for twin in TWINS.get(row.resource_type, ())
        if twin.resource_type not in types and not twin.names and (actions := _actions_on(twin.resource_type, row))
    )
    tagging = next((row for row in rows if _tags_by_arn(row)), None)
    if tagging is None:
        return (*rows, *twins)
    others = {each.resource_type for each in asked.session.changes} & types_of_service(asked.call.service) - types
    return (*rows, *twins, *(replace(tagging, resource_type=each) for each in sorted(others)))


def _actions_on(twin: str, row: DerivedRow) -> frozenset[EffectAction]:
    """What the row does to the twin: what the plan adopts as AWS made it is set by it, and neither made nor deleted."""
    return row.actions & {EffectAction.SET} if twin.startswith(ADOPTED) else row.actions


def _tags_by_arn(row: DerivedRow) -> bool:
    """Whether the row says that the call changes the tags of what one ARN names, and nothing else."""
    given = {*(source.attribute for source in row.attributes.values()), *row.removes.values()}
    is_sure = row.confidence is Confidence.ATTRIBUTES and row.actions == {EffectAction.SET} and not row.id_form
    return is_sure and given == {"tags"} and [source.attribute for source in row.identity.values()] == ["arn"]


_EXACT = "such a call passes only by a row that knows all of its attributes"


def _is_enough(asked: SessionCall, row: DerivedRow) -> bool:
    """Whether the row may explain the call. Of one that must be exactly what the plan has, a traced row compares what it leaves open by name."""
    if row.confidence is Confidence.ATTRIBUTES or not asked.is_exact:
        return True
    if asked.needs_whole_row:
        return _goes_with_it(asked, row) or _puts_in_force(asked, row)
    return row.origin is not Origin.MODEL


def _goes_with_it(asked: SessionCall, row: DerivedRow) -> bool:
    """Whether the provider deletes by the call what is in a resource that it deletes next, and the call says nothing but which resource."""
    says_no_more = row.origin is Origin.TRACED and row.confidence is Confidence.RESOURCE and not row.unexplained
    only_takes = row.actions == {EffectAction.SET} and DELETES.match(asked.call.operation) is not None
    return says_no_more and only_takes and bool(row.identity)


def _puts_in_force(asked: SessionCall, row: DerivedRow) -> bool:
    """Whether the call puts in force what the plan changes of the resource that it names, and says nothing else."""
    is_sure = row.origin is Origin.TRACED and row.confidence is Confidence.RESOURCE and not row.unexplained
    return is_sure and bool(row.identity) and puts_in_force(asked.operation)


def _surest(rows: Sequence[DerivedRow]) -> Iterator[tuple[DerivedRow, EffectAction]]:
    """The surest row for each type and direction. A weaker one would explain what that one contradicts."""
    seen: set[tuple[str, EffectAction]] = set()
    for row in sorted(
        rows, key=lambda row: (_SURENESS.index(row.confidence), _ORIGINS.index(row.origin), row.resource_type)
    ):
        for action in _ORDER:
            if action in _directions(row) and (row.resource_type, action) not in seen:
                seen.add((row.resource_type, action))
                yield row, action


def _directions(row: DerivedRow) -> frozenset[EffectAction]:
    """The directions of a row. What takes a member out of a list changes the resource if other members stay."""
    return row.actions | {EffectAction.SET} if row.removes else row.actions


@dataclass(frozen=True)  # without slots, so that the call is walked once however many resources it names
class _RowMatch:
    """One row in one direction."""

    asked: SessionCall
    row: DerivedRow
    action: EffectAction

    def match(self) -> CallMatch:
        """The planned changes that the call is a part of: one, or one for each resource that it names."""
        says_nothing = self.row.confidence is Confidence.TYPE and not self.asked.call.parameters
        if says_nothing and self.action is EffectAction.SET:
            return CallMatch(objection="it has no parameter that says what it changes")
        if self.action is EffectAction.CREATE and self.asked.creates_several(self.row.resource_type):
            return CallMatch(objection=f"it creates several {self.row.resource_type}, and the plan does not")
        fitting = [
            each
            for each in self.asked.session.changes
            if each.resource_type == self.row.resource_type
            and (fits_direction(each, self.action) or self._lets_go(each))
            and (self._lets_go(each) or not self._only_goes_with_it)
            and self.asked.is_here(each)
            and self.asked.is_recorded(each, self.action)
        ]
        if not fitting:
            return CallMatch(objection="")
        taken: Counter[tuple[str, str]] = Counter()
        chosen: list[SessionChange] = []
        objection = ""
        names = self._named()
        if len(names) > len(fitting):
            return CallMatch(objection=f"it names more {self.row.resource_type} than the plan changes")
        likely = self._likely(fitting) if len(names) > 1 else {}
        for named in names:
            # What all names share (a cluster) finds every change, and what tells them apart one.
            exact = min((found for value in named.values() if (found := likely.get(str(value)))), key=len, default=())
            change, reason = self._choose(exact, named, taken)
            if change is None:
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

    @property
    def _only_goes_with_it(self) -> bool:
        """Whether the row explains the call only where the plan deletes the resource."""
        is_sure = self.row.confidence is Confidence.ATTRIBUTES or _puts_in_force(self.asked, self.row)
        return self.asked.needs_whole_row and not is_sure

    def _likely(self, fitting: Sequence[SessionChange]) -> Mapping[str, Sequence[SessionChange]]:
        """The changes by what names them, so that a call with many names does not compare each with each."""
        found: dict[str, list[SessionChange]] = {}
        for change in fitting:
            resource = self.asked.resource(change)
            known = {name: resource.known(source.attribute) for name, source in self.row.identity.items()}
            for values in known.values():
                for value in values[:1]:
                    found.setdefault(str(value), []).append(change)
        return found

    def _choose(
        self, fitting: Sequence[SessionChange], named: "_Named", taken: Counter[tuple[str, str]]
    ) -> tuple[SessionChange | None, str]:
        """The first change that the call fits, preferably one that it names; else why the best one does not fit."""
        reason = f"the plan changes another {self.row.resource_type} than the one that it names"
        by_name = [(sure, each) for each in fitting if (sure := self._identifies(each, named)) is not None]
        for sure, change in sorted(by_name, key=lambda pair: (not pair[0], self.asked.unsaid(pair[1]))):
            if (change.address, self.action.value) in taken:
                continue
            resource = self.asked.resource(change)
            if not sure and (self._must_name(change) or (self._lets_go(change) and not self._names(change))):
                reason = f"it does not say which {change.resource_type} it deletes"
            elif not sure and (unlike := self._misnamed(change)):
                reason = unlike
            elif unlike := next(self._other_constants(resource), ""):
                reason = f"it gives {unlike} a value that Terraform never sends"
            elif differing := next(self._differences(resource), ""):
                reason = f"it gives {differing} of {change.address} another value than the plan does"
            elif needless := self._unserved(resource):
                reason = needless
            elif not self.asked.has_left(change, self.action, taken):
                reason = f"it was sent for {change.address} as often as the plan has such changes"
            else:
                return change, ""
        return None, reason

    def _unserved(self, resource: PlannedResource) -> str:
        """Why the call serves no planned change of the resource that it sets; empty if it does."""
        if self.action is not EffectAction.SET or resource.change.action is not PlannedAction.UPDATE:
            return ""
        for steps, value in () if self.asked.is_exact else self._unsent:
            if is_body(body := self.asked.call.parameters.get(steps[0])) and fits_body(resource, body):
                continue
            if not self._has(resource, steps, value) and not self._is_planned(resource, steps, value):
                return f"it gives {'.'.join(steps)}, which Terraform never sends and the plan does not have"
        other = [(self._attribute_of(steps), steps, to_json(value)) for steps, value, _ in self._unexplained]
        return unserved(self.asked.call, self.row, resource, self._paths, other)

    @cached_property
    def _paths(self) -> frozenset[str]:
        """The paths of all that the call gives, and those around them."""
        found = (
            steps[:count] for steps, _ in leaves(self.asked.call.parameters, ()) for count in range(1, len(steps) + 1)
        )
        return frozenset(".".join(steps) for steps in found)

    def _lets_go(self, change: SessionChange) -> bool:
        """Whether the call could switch off what the plan deletes: some resources must be let go of before they are deleted."""
        return self.action is EffectAction.SET and change.action is PlannedAction.DELETE

    def _misnamed(self, change: SessionChange) -> str:
        """Why the call may be about another resource; empty if it is about this one, or only makes a new one."""
        if self.action is EffectAction.DELETE and deletes_by_default(self.asked.call, self.asked.resource(change)):
            return ""
        makes = self.row.actions == {EffectAction.CREATE}
        return "" if makes else misnamed(self.asked, self.row, self.action, change)

    def _names(self, change: SessionChange) -> bool:
        """Whether the call names the resource by a text that tells it from others, and by no other's."""
        return names(self.asked, self.row, self.action, change)

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
        sure = bool(self.row.id_form) and bool(resource.known("id"))
        if self.row.id_form and not _may_make_id(self.row, resource, named):
            return None
        for parameter, value in named.items():
            source = self.row.identity[parameter]
            if source.form is ValueForm.PART or self._is_version_of_object(source):
                continue
            known = [each for each in resource.known(source.attribute) if each != ""]
            if known:
                is_named = any(same_in_form(value, each, source.form) for each in known)
                is_named = is_named or _is_own(resource, source.attribute, value)
                is_named = is_named or is_of_a_block(self.asked.call, resource, parameter, value)
                is_named = is_named or (source.attribute in OWN and _is_its_replacement(resource, value))
                if not is_named or not self._is_local(value):
                    return None
                sure = True
            elif str(value) == self.asked.call.account:
                continue  # the account that the call goes to anyway
            elif (source.attribute in OWN and not resource.may_be(value)) or (
                not _is_new(change) and resource.recorded and not resource.is_free(source.attribute)
            ):
                return None
        return sure

    def _is_version_of_object(self, source: AttributeSource) -> bool:
        """Whether it names a version of an object that is deleted: the provider deletes all of them, each by a call, and none stays."""
        named = {each.attribute for each in self.row.identity.values()}
        return self.action is EffectAction.DELETE and source.attribute == "version_id" and {"bucket", "key"} <= named

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

    def _other_constants(self, resource: PlannedResource) -> Iterator[str]:
        """Parameters with another value than in every call that was traced, which the plan does not have either.

        To switch an option off is no more than they do.
        """
        for name, value in self.row.constants.items():
            steps = tuple(name.split("."))
            guarded = bool(self._guarded(steps))
            if _counts_items(self.asked.call.parameters, steps):
                continue
            for each in _values_at(self.asked.call.parameters, steps):
                is_off = not guarded and same(to_json(each), None)
                if to_json(each) != value and not (is_off or self._has(resource, steps, each)):
                    yield name

    def _has(self, resource: PlannedResource, steps: tuple[str, ...], value: object) -> bool:
        """Whether the plan or the state has this value at the attribute that is called like the parameter; a guarded one at no other place.

        An id that nobody knows yet is that of what the session made, and no other.
        """
        said, attribute = to_json(value), self._attribute_of(steps)
        if resource.is_free(attribute):
            new = self.action is EffectAction.CREATE or not is_identifier(steps[-1])
            return new or (bool(resource.made) and resource.may_be(value))
        # A switch of which the plan says nothing may be on without the call.
        unsaid = same(said, None) and not resource.known(attribute) and bool(self._guarded(steps))
        if not unsaid and resource.fits(attribute, said):
            return True
        if is_written(resource, steps, value) or is_content(resource, steps, value):
            return True
        call = self.asked.call
        if is_next_version(call, resource, steps, value, self.asked.used):
            return True
        if steps[0] == "patchOperations" and is_taken_out(call, resource):
            return True
        places = (dict(resource.change.values), dict(resource.remains))
        return not self._guarded(steps) and any(_has_named(place, steps[-1], said) for place in places)

    def _differences(self, resource: PlannedResource) -> Iterator[str]:
        """The attributes and parameters to which the call gives something that the plan does not."""
        if self.action is EffectAction.DELETE:
            yield from self._forced(resource)
            return
        for source, values in self._given:
            unasked = len(values) == 1 and sent_unasked(resource, source.attribute, values[0])
            unasked = unasked or self._is_made_by_the_provider(resource, source.attribute)
            if not unasked and not _gives(resource, source, values) and not self._gives_blocks(resource, source):
                yield source.attribute
        yield from self._kept_members(resource)
        exact = self.asked.is_exact or self._lets_go(resource.change)
        for steps, value, guarded in self._unexplained if exact else self._weighty:
            if exact:
                if not self._has(resource, steps, value) and not self._ends_a_version(steps):
                    yield ".".join(steps)
            elif is_written(resource, steps, value) or is_content(resource, steps, value):
                continue
            elif (
                guarded and not _may_have(resource, guarded, value) and not self._is_made_inside(resource, steps, value)
            ):
                yield guarded
            elif self._is_delicate(steps, value) and not self._is_planned(resource, steps, value):
                yield ".".join(steps)

    def _is_made_by_the_provider(self, resource: PlannedResource, attribute: str) -> bool:
        """Whether it is a secret that no code can give to a new resource, so that the provider makes one: the first password of a login profile."""
        schema = self.asked.schemas.get(self.row.resource_type)
        is_new = _is_new(resource.change) and not resource.known(attribute)
        return (
            is_new
            and schema is not None
            and not schema.knows(attribute)
            and is_secret(self.row.resource_type, attribute)
        )

    def _gives_blocks(self, resource: PlannedResource, source: AttributeSource) -> bool:
        """Whether the call gives some of the blocks of a planned list, each with all that it says of it from one planned block."""
        top = source.attribute.partition(".")[0]
        given = [(each, values) for each, values in self._given if each.attribute.startswith(f"{top}.")]
        blocks = [block for block in _items(resource.change.values.get(top)) if isinstance(block, Mapping)]
        count = len(given[0][1]) if given else 0
        if not blocks or top == source.attribute or any(len(values) != count for _, values in given):
            return False
        return all(
            any(
                all(
                    same_in_form(values[place], block.get(each.attribute[len(top) + 1 :]), each.form)
                    for each, values in given
                )
                for block in blocks
            )
            for place in range(count)
        )

    def _ends_a_version(self, steps: tuple[str, ...]) -> bool:
        """Whether the parameter says which version of a deleted resource is deleted before it: none of them stays."""
        deletes = DELETES.match(self.asked.call.operation) is not None
        return deletes and not self.asked.is_exact and serves_the_call(steps)

    @cached_property
    def _given(self) -> Sequence[tuple[AttributeSource, Sequence[object]]]:
        """What the call gives to the attributes that the row knows."""
        found = (
            (source, list(_values_at(self.asked.call.parameters, parameter.split("."))))
            for parameter, source in self.row.attributes.items()
        )
        return [(source, values) for source, values in found if values]

    @cached_property
    def _unexplained(self) -> "Sequence[_Unexplained]":
        """What the call gives besides."""
        row = self.row
        explained = {*row.identity, *row.attributes, *row.removes, *row.constants, *row.controls}
        return [
            (steps, value, self._guarded(steps))
            for steps, value in leaves(self.asked.call.parameters, ())
            if not any(".".join(steps[:count]) in explained for count in range(1, len(steps) + 1))
        ]

    @cached_property
    def _unsent(self) -> Sequence[tuple[tuple[str, ...], object]]:
        """What of it Terraform never sends, as far as the row knows, and says something."""
        sent = {name for row in self.asked.rows if row.origin is Origin.TRACED for name in row.unexplained}
        return [
            (steps, value)
            for steps, value, _ in self._unexplained
            if not same(to_json(value), None)
            and not serves_the_call(steps)
            and not any(".".join(steps[:count]) in sent for count in range(1, len(steps) + 1))
        ]

    @cached_property
    def _weighty(self) -> "Sequence[_Unexplained]":
        """What of it must be planned even where the rest need not."""
        return [each for each in self._unexplained if each[2] or self._is_delicate(each[0], each[1])]

    def _kept_members(self, resource: PlannedResource) -> Iterator[str]:
        """Lists of which the call takes out a member that they keep by the plan, and what a list that it writes lacks of them."""
        operation, is_update = self.asked.call.operation, resource.change.action is PlannedAction.UPDATE
        for parameter, attribute in self.row.removes.items():
            before = resource.recorded.get(attribute)
            given = list(_values_at(self.asked.call.parameters, parameter.split(".")))
            if isinstance(before, str) and not self._lets_go(resource.change) and resource.keeps(attribute):
                if before in map(to_json, given):
                    yield attribute
            elif EffectAction.SET not in self.row.actions or (is_update and names_what_goes(operation, parameter)):
                yield from lost_members(resource, attribute, given)
        for parameter, source in self.row.attributes.items() if is_update and WRITES.match(operation) else ():
            values = list(_values_at(self.asked.call.parameters, parameter.split(".")))
            adds = ADDS.search(parameter) or (source.attribute in ("tags", "tags_all") and keeps_omitted(operation))
            if values and not adds and lacks_kept(resource, source.attribute, values, source.form):
                yield source.attribute

    def _forced(self, resource: PlannedResource) -> Iterator[str]:
        """Switches by which the call deletes more than the plan does: those that the state has not on, or Terraform never sends."""
        never = self.row.origin is Origin.TRACED
        known = {*self.row.identity, *self.row.constants, *self.row.controls, *self.row.unexplained}
        for steps, value in leaves(self.asked.call.parameters, ()):
            path = ".".join(steps)
            source = self.row.attributes.get(path)
            if value is not True or path in known:
                continue
            if (source is None and never) or (
                source is not None and resource.recorded and not _gives(resource, source, [value])
            ):
                yield path

    def _is_delicate(self, steps: tuple[str, ...], value: object) -> bool:
        """Whether a parameter that no row explains may say who can reach the resource, or with which rights, and says so."""
        says = not same(to_json(value), None) and to_json(value) != self.asked.call.account
        return says and bool(DELICATE.search(steps[-1])) and not serves_the_call(steps)

    def _is_planned(self, resource: PlannedResource, steps: tuple[str, ...], value: object) -> bool:
        """Whether the plan or the state has the value somewhere, or it names what the session made."""
        attribute = self._attribute_of(steps)
        return (
            _is_untold_secret(resource, steps[-1])
            or says_no_value(resource, steps, value)
            or _may_have(resource, attribute, value)
            or to_json(value) in self.asked.made.values()
            or self._is_the_recorded_secret(resource, attribute, value)
        )

    def _is_the_recorded_secret(self, resource: PlannedResource, attribute: str, value: object) -> bool:
        """Whether the provider writes again the secret that the state has at this attribute, and the plan keeps it: both have one keyed digest."""
        recorded = AttributePath(attribute).value_at(resource.recorded)
        is_kept = isinstance(value, str) and is_masked(recorded) and resource.keeps(attribute)
        return is_kept and self.asked.stack.state.masker.mask(to_json(value)) == recorded

    def _is_made_inside(self, resource: PlannedResource, steps: tuple[str, ...], value: object) -> bool:
        """Whether the value is the id of what the session made, in blocks with such a member of which the plan does not tell all."""
        schema = self.asked.schemas.get(self.row.resource_type)
        if schema is None or to_json(value) not in self.asked.made.values():
            return False
        ends = f".{snake(steps[-1])}"
        return any(name.endswith(ends) and resource.is_free(name) for name in schema.kinds)

    def _guarded(self, steps: tuple[str, ...]) -> str:
        """The attribute that a parameter seems to carry, if a guardrail judges it; else empty."""
        attribute = self._attribute_of(steps)
        kind = self.row.resource_type
        guarded = self.asked.rules.is_guarded(kind, attribute) or class_of(kind, attribute) in JUDGED
        return attribute if guarded else ""

    def _attribute_of(self, steps: tuple[str, ...]) -> str:
        """The attribute that a parameter seems to carry: by its whole name, as a key of a map, or by its last name alone."""
        schema = self.asked.schemas.get(self.row.resource_type)
        if schema is None:
            return snake(steps[-1])
        if (whole := match(schema, steps) or beside_known(self.row, schema, steps)) is not None:
            return whole
        around = (match(schema, steps[:-1]) or snake(steps[-2])) if len(steps) > 1 else ""
        is_map = schema.kinds.get(around, "").startswith("map")
        return f"{around}.{step_of(steps[-1])}" if is_map else snake(steps[-1])


def beside_known(row: DerivedRow, schema: TypeSchema, steps: tuple[str, ...]) -> str | None:
    """The attribute that a parameter seems to carry by those beside it, if the row has all of these in one block that has such a member."""
    around = ".".join(steps[:-1])
    blocks = {
        source.attribute.rpartition(".")[0]
        for parameter, source in row.attributes.items()
        if around and parameter.rpartition(".")[0] == around
    }
    return match_member(schema, blocks.pop(), steps[-1]) if len(blocks) == 1 else None


def _may_make_id(row: DerivedRow, resource: PlannedResource, named: "_Named") -> bool:
    """Whether the parts of an id that the call gives make that of the resource, as far as it is known."""
    texts = {parameter: str(to_json(value)) for parameter, value in named.items()}
    known = [str(each) for each in resource.known("id")]
    try:
        return not known or id_of_parts(_without_last(row, texts), texts) in known
    except NotUnderstood:
        return False


def _without_last(row: DerivedRow, given: Mapping[str, str]) -> DerivedRow:
    """The row without the last parts of its id that the call leaves out: an id of which such a part is optional ends before it."""
    form = row.id_form
    while (start := form.rfind("{")) > 0 and form.endswith("}") and not given.get(form[start + 1 : -1]):
        form = form[:start].rstrip(_BETWEEN)
    return replace(row, id_form=form)


def _is_own(resource: PlannedResource, attribute: str, value: object) -> bool:
    """Whether the call names a recorded resource by its ARN, where others may be named by their name."""
    arn = resource.recorded.get("arn")
    is_there = resource.change.action is not PlannedAction.CREATE
    return attribute == "name" and is_there and isinstance(arn, str) and bool(arn) and value == arn


def _is_its_replacement(resource: PlannedResource, value: object) -> bool:
    """Whether the call names what the session made in the place of a resource, while the state still has the id of the old one."""
    return resource.change.action is PlannedAction.REPLACE and bool(resource.made) and resource.may_be(value)


def _items(value: Json) -> Sequence[Json]:
    return value if is_list(value) else ()


def _is_untold_secret(resource: PlannedResource, parameter: str) -> bool:
    """Whether the plan sets a secret that is called like the parameter, but for words that AWS adds: `MasterUserPassword`, `master_password`."""
    words = set(snake(parameter).split("_"))
    return bool(words & _SECRETS) and any(
        set(name.split("_")) & _SECRETS and set(name.split("_")) <= words for name in resource.free_names
    )


def _has_named(place: Json, name: str, value: Json) -> bool:
    """Whether a value stands under this name, in snake case, or beside it in a pair, at any depth."""
    if is_list(place):
        return any(_has_named(item, name, value) for item in place)
    if not isinstance(place, Mapping):
        return False
    pair = place.get("key", place.get("name"))
    if pair == name and len(place) == _PAIR and same(place.get("value"), value):
        return True
    return any(
        (key.rpartition(".")[2] in (name, snake(name)) and same(item, value)) or _has_named(item, name, value)
        for key, item in place.items()
    )


def _counts_items(parameters: Mapping[str, object], steps: Sequence[str]) -> bool:
    """Whether the parameter is the number of the items beside it, as CloudFront writes lists."""
    if steps[-1] != _COUNT:
        return False
    parents = [each for each in _values_at(parameters, steps[:-1]) if isinstance(each, Mapping)]
    return all(each.get(_COUNT) in (None, len(each.get("Items") or ())) for each in parents)


def _is_new(change: SessionChange) -> bool:
    return change.action in (PlannedAction.CREATE, PlannedAction.REPLACE)


_Named = Mapping[str, object]
"""Parameter → its value, for one resource."""
_Unexplained = tuple[tuple[str, ...], object, str]
"""The path of a parameter, its value, and the guarded attribute that it seems to carry."""


def _gives(resource: PlannedResource, source: AttributeSource, values: Sequence[object]) -> bool:
    """Whether the plan gives these values to the attribute."""
    if resource.is_free(source.attribute):
        return True
    if source.attribute in ("tags", "tags_all"):
        return _fits_tags(resource, values)
    value: object = values[0] if len(values) == 1 else list(values)
    if is_body(value):
        return fits_body(resource, value)
    known = resource.known(source.attribute)
    if any(same_in_form(value, each, source.form) for each in known):
        return True
    if any(
        is_list(each)
        and are_among(list(map(to_json, values)), each, lambda one, item: same_in_form(one, item, source.form))
        for each in known
    ):
        return True
    said = to_json(value)
    if resource.fits(source.attribute, said):
        return True
    pairs = as_map(to_json(list(values)))
    is_map = any(isinstance(each, Mapping) for each in known)
    if not is_map or not isinstance(pairs, Mapping):
        return False
    # A call may give some entries of a map: those that change.
    entries = ((f"{source.attribute}.{step_of(str(key))}", each) for key, each in pairs.items())
    return resource.fits(source.attribute, pairs) or all(resource.fits(name, each) for name, each in entries)


def _fits_tags(resource: PlannedResource, values: Sequence[object]) -> bool:
    """Whether the tags are planned. What is in no form of tags is not."""
    given = values[0] if len(values) == 1 and isinstance(values[0], Mapping) and "Value" not in values[0] else None
    try:
        tags = tag_map(list(values))
    except NotUnderstood:
        if given is None:
            return False
        tags = tag_map(given)
    return resource.fits_some_tags(dict(tags))


def _may_have(resource: PlannedResource, attribute: str, value: object) -> bool:
    """Whether the plan has the value at the attribute, or anywhere: the name alone does not say in which block."""
    said = to_json(value)
    # A switch of which the plan says nothing may be on without the call.
    unsaid = said is False and not resource.known(attribute)
    if resource.is_free(attribute) or (not unsaid and resource.fits(attribute, said)):
        return True
    return attribute.rpartition(".")[2] in resource.free_names or resource.has(said)


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


def leaves(value: object, steps: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], object]]:
    """The path and value of everything that the call gives."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield from leaves(item, (*steps, str(name)))
    elif is_list(value) and not isinstance(value, bytes) and any(isinstance(item, Mapping) for item in value):
        for item in value:
            yield from leaves(item, steps)
    elif value is not None and steps:
        yield steps, value
