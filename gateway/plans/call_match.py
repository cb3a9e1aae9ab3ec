"""Matches a call of a plan's session to the planned changes: by its effects if they are known, else by the rows that name its resource."""

import base64
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gateway.core.derived_rows import Confidence, DerivedRow
from gateway.core.model.json import Json
from gateway.core.model.mutation import Basis, Call, CallClass, Effect, EffectAction
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.plan import PlannedAction
from gateway.core.model.plan_session import (
    FEWEST_SETTING_CALLS,
    PlanRules,
    PlanSession,
    PlanUse,
    SessionChange,
    UsedChange,
)
from gateway.effects.schema import TypeSchema
from gateway.effects.type_rows import directions_of_types
from gateway.plans.owners import NewOwners
from gateway.plans.planned_values import PlannedResource, same
from gateway.plans.provider_forms import is_default_policy
from gateway.terraform.aws_location import GLOBAL_SERVICES, GLOBAL_TYPES
from gateway.terraform.stack import Stack

OWN = frozenset({"arn", "id", "key_id"})
"""Attributes that name the resource itself and are not known before it is created."""
ADOPTED = "aws_default_"
"""How the types begin that take over what AWS made with a VPC or an account: a plan creates them, and nothing is created."""
DELETES = re.compile(r"Delete(?![a-z])")
"""How the operations begin that delete a resource or something in it."""
EXACT_CLASSES = frozenset({CallClass.EXECUTE, CallClass.CREDENTIAL, CallClass.SECRET})
"""Calls of these classes need a row that knows every attribute."""

CHANGED_WHILE_STOPPED: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "aws_instance": (
        frozenset({"ec2:StopInstances", "ec2:StartInstances"}),
        frozenset({"instance_type", "user_data", "user_data_base64"}),
    ),
}
"""Resource type → the operations that stop and start it, and the attributes that the provider changes only in between."""
PUBLISHED: Mapping[str, tuple[str, frozenset[str], str, frozenset[str]]] = {
    "aws_lambda_function": (
        "lambda:PublishVersion",
        frozenset({"FunctionName"}),
        "publish",
        frozenset({"reserved_concurrent_executions", "tags", "tags_all"}),
    ),
}
"""Type → the operation that publishes a version, its parameters, the switch by which the code asks for it, and the attributes that are in no version."""
DIGESTED: Mapping[tuple[str, str], tuple[str, str]] = {
    ("aws_instance", "user_data_base64"): ("UserData", "user_data"),
}
"""Type and attribute of an effect → the parameter that has the content, and the attribute in which a plan has its SHA-1 in hexadecimal."""
SENT_UNASKED: Mapping[tuple[str, str], frozenset[str]] = {
    ("aws_codebuild_project", "logs_config.cloudwatch_logs.status"): frozenset({"ENABLED"}),
    ("aws_codebuild_project", "logs_config.s3_logs.status"): frozenset({"DISABLED"}),
    # What AWS gives to burstable instances by itself: T2, and those after it (EC2 user guide, "Unlimited mode").
    ("aws_instance", "credit_specification.cpu_credits"): frozenset({"standard", "unlimited"}),
}
"""What the provider sends where the code says nothing, and AWS sets if nobody does. Reviewed against the provider and AWS's documentation."""

_OF_ANOTHER = "_id"
"""How the attributes end that have the id of another resource."""
NOT_YET = "no call of its session has, and what has its name now is another's"
_EXCLUSIVE = "_exclusive"
"""How types end that are no resources of their own: the provider takes away what another resource has besides."""
_MAKING = (PlannedAction.CREATE, PlannedAction.REPLACE)
_DIRECTIONS: Mapping[EffectAction, tuple[PlannedAction, ...]] = {
    EffectAction.CREATE: _MAKING,
    EffectAction.DELETE: (PlannedAction.DELETE, PlannedAction.REPLACE),
    EffectAction.SET: (PlannedAction.UPDATE, *_MAKING),
}
"""The planned changes that a call in each direction can be a part of. What is created is often set up by further calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCall:
    """One call of a session, with what it is compared with."""

    session: PlanSession
    call: Call
    call_class: CallClass
    effects: tuple[Effect, ...]
    """What a hand-made row says that it does; empty if none understands it."""
    rows: tuple[DerivedRow, ...]
    stack: Stack
    rules: PlanRules
    used: Mapping[UsedChange, int]
    made: Mapping[str, str]
    """By address, the id that AWS chose for what this session created."""
    schemas: Mapping[str, TypeSchema] = field(repr=False)
    there: frozenset[str] = frozenset()
    """The addresses of what calls of this session created, as AWS answered."""

    defaults: Mapping[str, Json] = field(default_factory=dict)
    """What a hand-made row says that AWS sets if the call leaves it out, by attribute."""
    empty_secret: Json = field(default=None, repr=False)
    """How an effect shows an empty text in the place of a secret."""
    carries: bool = False
    """Whether it makes AWS carry out other calls. Those of the plan were judged with the plan, so it must be exactly what the plan has."""

    _resources: dict[str, PlannedResource] = field(default_factory=dict, init=False, repr=False, compare=False)
    _unsaid: dict[str, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _said: set[str] = field(default_factory=set, init=False, repr=False, compare=False)
    _new: list[NewOwners[SessionChange]] = field(default_factory=list, init=False, repr=False, compare=False)
    _created: list[frozenset[str]] = field(default_factory=list, init=False, repr=False, compare=False)
    _made_types: list[frozenset[str]] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def operation(self) -> str:
        """`service:Operation`."""
        return f"{self.call.service}:{self.call.operation}"

    def creates_several(self, resource_type: str) -> bool:
        """Whether the call creates more than the one resource that is planned."""
        asked = self.call.parameters.get(self.rules.counted.get(resource_type, ""))
        return asked is not None and str(asked) != "1"

    @property
    def is_exact(self) -> bool:
        """Whether each of its parameters must be what the plan has."""
        return self.carries or self.needs_whole_row

    @property
    def needs_whole_row(self) -> bool:
        """Whether only a row that knows every attribute explains it: what is executed, who may do what, and secrets, are compared by no name."""
        return self.call_class in EXACT_CLASSES or self.call.service in self.rules.exact_services

    def resource(self, change: SessionChange) -> PlannedResource:
        """The change beside what the state records."""
        known = self._resources.get(change.address)
        if known is None:
            made = self.made.get(change.address, "")
            known = PlannedResource(change, self.stack.recorded(change.address) or {}, made)
            self._resources[change.address] = known
        return known

    @property
    def created(self) -> frozenset[str]:
        """The addresses of what the session created."""
        if not self._created:
            self._created.append(frozenset(each for each, action, _ in self.used if action == EffectAction.CREATE))
        return self._created[0]

    @property
    def knows_all_made(self) -> bool:
        """Whether the session made something, and the id of each resource that it made is known."""
        return bool(self.created) and self.created <= self.made.keys()

    def may_have_id(self, change: SessionChange) -> bool:
        """Whether a planned resource may have an id that nobody knows: it was created in the session, or adopted as AWS made it."""
        return change.address in self.created or change.resource_type.startswith(ADOPTED)

    def not_there(self, uses: Sequence[PlanUse]) -> Sequence[SessionChange]:
        """What the call would set although the plan creates it and nothing created it yet, so that what has its name is another's."""
        setting = {use.address for use in uses if use.action == EffectAction.SET.value}
        return [
            each
            for each in self.session.changes
            if each.address in setting and each.action in _MAKING and not self._may_be_there(each)
        ]

    def without(self, changes: Sequence[SessionChange]) -> "SessionCall":
        """The same call in a session whose plan does not have these changes."""
        absent = {each.address for each in changes}
        left = tuple(each for each in self.session.changes if each.address not in absent)
        return replace(self, session=replace(self.session, changes=left))

    def of_absent(self, uses: Sequence[PlanUse]) -> str:
        """Why a call may not make what refers to another resource that the plan creates and nothing created yet: what has its name is another's.
        Empty if it may.
        """
        making = {use.address for use in uses if use.action != EffectAction.DELETE.value}
        for change in self.session.changes:
            for attribute, value in (
                change.values.items() if change.address in making and change.action in _MAKING else ()
            ):
                owners = self._owners.called(change, attribute, value)
                if owners and not any(map(self._may_be_there, owners)):
                    return (
                        f"{attribute} of {change.address} names {owners[0].address}, which the plan creates, {NOT_YET}"
                    )
        return ""

    @property
    def _owners(self) -> NewOwners[SessionChange]:
        """What the plan makes, by the names by which others refer to it."""
        if not self._new:
            self._new.append(NewOwners(self.session.changes))
        return self._new[0]

    def _may_be_there(self, change: SessionChange) -> bool:
        """Whether a resource that the plan makes may be there. Some types are created by the calls that set them, and some adopt what is there."""
        if change.address in self.there or self.stack.recorded(change.address) is not None:
            return True
        if any(row.resource_type == change.resource_type and EffectAction.CREATE in row.actions for row in self.rows):
            return True  # the call itself creates it, as a user's being added to a group creates the membership
        if change.resource_type.endswith(_EXCLUSIVE) or self._names_made(change.resource_type):
            return True
        creates = directions_of_types().get(change.resource_type, {}).get(EffectAction.CREATE)
        return creates is not Confidence.ATTRIBUTES or change.resource_type.startswith(ADOPTED)

    def _names_made(self, resource_type: str) -> bool:
        """Whether the call names what this session made of the type, which may be recorded at another planned resource that looks the same."""
        if not self._made_types:
            # Only a parameter that is an id names it: a tag or another text that has the id says nothing of what the call sets.
            given = self.call.parameters.items()
            named = {value for name, value in given if name.endswith("Id") and isinstance(value, str)}
            types = {change.address: change.resource_type for change in self.session.changes}
            self._made_types.append(
                frozenset(types[address] for address, made in self.made.items() if made in named and address in types)
            )
        return resource_type in self._made_types[0]

    def is_recorded(self, change: SessionChange, action: EffectAction) -> bool:
        """Whether the state has the resource that is changed. What is not there can only be made: an update or a deletion may be of anything."""
        makes = change.action in _MAKING and action is not EffectAction.DELETE
        return makes or self.stack.recorded(change.address) is not None

    def is_here(self, change: SessionChange) -> bool:
        """Whether the resource may be in the account and region that the call goes to."""
        call = self.call
        region = "" if call.service in GLOBAL_SERVICES else call.region
        if self.stack.recorded(change.address) is not None:
            return self.stack.places.of(self.stack.local(change.address)).may_be(call.account, region)
        is_global = change.resource_type.startswith(GLOBAL_TYPES)
        return is_global or not (change.region and region) or change.region == region

    def unsaid(self, change: SessionChange) -> int:
        """How many planned values the call does not have: of several changes that it fits, it is the one that it leaves least of."""
        found = self._unsaid.get(change.address)
        if found is None:
            found = sum(not self.says(value) for value in change.values.values())
            self._unsaid[change.address] = found
        return found

    def says(self, value: Json) -> bool:
        """Whether the call has the value anywhere."""
        return self._given.issuperset(_texts(value))

    @property
    def _given(self) -> set[str]:
        """Every value of the call, as text."""
        if not self._said:
            self._said.update(_texts(self.call.parameters))
        return self._said

    def has_left(self, change: SessionChange, action: EffectAction, taken: Counter[tuple[str, str]]) -> bool:
        """Whether the operation was sent less often for the change than the plan has such changes; `taken` counts this call."""
        before = self.used.get((change.address, action.value, self.operation), 0)
        return before + taken[change.address, action.value] < most_uses(change, action)


def most_uses(change: SessionChange, action: EffectAction) -> int:
    """How often one operation may be sent for a planned change: once to create or delete, to set as often as it has attributes."""
    return max(FEWEST_SETTING_CALLS, change.size) if action is EffectAction.SET else 1


def fits_direction(change: SessionChange, action: EffectAction) -> bool:
    """Whether a call in this direction can be a part of the change."""
    return change.action in _DIRECTIONS.get(action, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMatch:
    """How a call fits the plan."""

    effects: tuple[Effect, ...] = ()
    """Its effects on the planned addresses."""
    uses: tuple[PlanUse, ...] = ()
    makes: tuple[PlanUse, ...] = ()
    """What it creates of the plan, by its name, with another value than the plan has, so that there is an objection."""
    row: str = ""
    objection: str = ""
    """Why it fits no planned change, as half a sentence; empty if it does."""
    foreign: bool = False
    """Whether it is about a resource that the plan does not change, so that another row may still explain it."""
    only_tags: bool = False
    """Whether it differs from the plan in tags only, which may be planned as resources of their own."""


def by_effects(asked: SessionCall) -> CallMatch:
    """The match of a call whose effects a hand-made row knows: each must be planned, with its value."""
    taken: Counter[tuple[str, str]] = Counter()
    effects: list[Effect] = []
    uses: list[PlanUse] = []
    for group in _by_address(asked.effects):
        action = _direction(group)
        if action is None and (around := _around_change(asked, group, taken)) is not None:
            taken[around.address, EffectAction.SET.value] += 1
            most = most_uses(around, EffectAction.SET)
            uses.append(PlanUse(address=around.address, action=EffectAction.SET.value, most=most))
            effects += group
            continue
        if action is None:
            return CallMatch(
                objection=f"it does something to {group[0].address} that is no planned change", foreign=True
            )
        change = _planned(asked, group, action, taken)
        if change is None:
            return CallMatch(objection=_unplanned(asked, group[0], action), foreign=not _is_planned(asked, group[0]))
        if not asked.has_left(change, action, taken):
            # By its own name it is that resource; by a name that nobody knows yet another row may know another one. What joined two
            # resources is let go of once more by the one of them that is deleted.
            others = change.address != group[0].address or change.action is PlannedAction.DELETE
            return CallMatch(objection=f"the plan has no more such changes of {change.address}", foreign=others)
        if action is EffectAction.CREATE and asked.creates_several(change.resource_type):
            return CallMatch(objection=f"it creates several, and {change.address} is one")
        resource = asked.resource(change)
        if differing := next((each.attribute for each in group if not _value_fits(asked, resource, each)), ""):
            # A call that creates or changes may be about another's resource.
            is_made = action is EffectAction.CREATE and not any(each.upserted for each in group)
            made = PlanUse(address=change.address, action=action.value, most=1)
            return CallMatch(
                makes=(made,) if is_made else (),
                objection=f"it gives {differing} of {change.address} another value than the plan does",
                only_tags=all(AttributePath(each.attribute).top == "tags" for each in group),
            )
        taken[change.address, action.value] += 1
        uses.append(PlanUse(address=change.address, action=action.value, most=most_uses(change, action)))
        effects += [_moved(each, change.address, asked.stack) for each in group]
    implied = [each for each in asked.effects if each.implied]
    return CallMatch(effects=(*effects, *implied), uses=tuple(uses), row="hand")


def _by_address(effects: Sequence[Effect]) -> list[list[Effect]]:
    groups: dict[str, list[Effect]] = {}
    for effect in effects:
        if not effect.implied:
            groups.setdefault(effect.address, []).append(effect)
    return list(groups.values())


def _direction(group: Sequence[Effect]) -> EffectAction | None:
    """Whether the effects create, delete or set; None if they invoke the resource as a whole."""
    whole = {each.action for each in group if each.attribute == WHOLE}
    if EffectAction.INVOKE in whole:
        return None
    return next((action for action in (EffectAction.DELETE, EffectAction.CREATE) if action in whole), EffectAction.SET)


def _around_change(
    asked: SessionCall, group: Sequence[Effect], taken: Counter[tuple[str, str]]
) -> SessionChange | None:
    """The planned change that the provider makes such a call for, before or after others; None if there is none."""
    change = next((each for each in asked.session.changes if each.address == group[0].address), None)
    if change is None or not (
        _goes_with(asked, change) or _is_stopped_for(asked, change) or _is_published(asked, change)
    ):
        return None
    here = asked.is_here(change) and asked.is_recorded(change, EffectAction.SET)
    return change if here and asked.has_left(change, EffectAction.SET, taken) else None


def _goes_with(asked: SessionCall, change: SessionChange) -> bool:
    """Whether the call deletes something in a resource that the plan deletes, as versions of a policy.

    Of a store it needs an approval of its own: AWS may refuse to delete one that is not empty, and that keeps the data.
    """
    deletes = change.action is PlannedAction.DELETE and DELETES.match(asked.call.operation) is not None
    return deletes and change.resource_type not in asked.rules.stores


def _is_stopped_for(asked: SessionCall, change: SessionChange) -> bool:
    """Whether the call stops or starts a resource that the provider can change in this way only while it is stopped."""
    operations, attributes = CHANGED_WHILE_STOPPED.get(change.resource_type, (frozenset(), frozenset()))
    changed = {name.partition(".")[0] for name in (*change.values, *change.free)}
    is_plain = asked.call.parameters.get("Force") is not True
    return (
        change.action is PlannedAction.UPDATE
        and is_plain
        and asked.operation in operations
        and bool(changed & attributes)
    )


def _is_published(asked: SessionCall, change: SessionChange) -> bool:
    """Whether the call publishes as a version what the plan changes, as the code says."""
    none = frozenset[str]()
    operation, parameters, switch, outside = PUBLISHED.get(change.resource_type, ("", none, "", none))
    resource = asked.resource(change)
    is_asked = asked.operation == operation and asked.call.parameters.keys() <= parameters
    is_on = resource.after.get(switch) is True and change.action is PlannedAction.UPDATE
    changed = {name.partition(".")[0] for name in (*change.values, *change.free)}
    return is_asked and is_on and bool(changed - outside)


def _planned(
    asked: SessionCall, group: Sequence[Effect], action: EffectAction, taken: Counter[tuple[str, str]]
) -> SessionChange | None:
    """The planned change that the effects belong to: that of their address, else one of their type whose identity fits.

    Of several, the one that has the id which AWS chose in this session, then one that has the values of the call.
    """
    effect = group[0]
    same = next((each for each in asked.session.changes if each.address == effect.address), None)
    if same is not None:
        # Some resources are deleted by a call that switches them off, and others must be let go of before they are deleted.
        off = action is EffectAction.SET and same.action is PlannedAction.DELETE
        return same if (off or fits_direction(same, action)) and asked.is_here(same) else None
    elsewhere = effect.declared and not asked.stack.knows(effect.address)
    if elsewhere or asked.stack.recorded(effect.address) is not None:
        return None  # a resource of its own, which the plan leaves as it is
    makes = action is EffectAction.CREATE
    fitting = [
        each
        for each in asked.session.changes
        if each.resource_type == effect.resource_type
        and fits_direction(each, action)
        and asked.is_here(each)
        and asked.is_recorded(each, action)
        and _identity_fits(asked, each, effect.identity, has_id=makes or asked.may_have_id(each))
    ]
    fitting = [each for each in fitting if _is_named(asked.resource(each), effect.identity)] or fitting
    left = [each for each in fitting if asked.has_left(each, action, taken)] or fitting
    alike = [each for each in left if all(_value_fits(asked, asked.resource(each), one) for one in group)]
    return min(alike, key=asked.unsaid) if alike else left[0] if left else None


def _texts(value: object) -> Iterator[str]:
    """Every value in it, as text."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _is_named(resource: PlannedResource, identity: Mapping[str, str]) -> bool:
    """Whether the call names the resource by the id that AWS chose for it in this session."""
    return bool(resource.made) and any(resource.may_be(value) for value in identity.values())


def _identity_fits(asked: SessionCall, change: SessionChange, identity: Mapping[str, str], *, has_id: bool) -> bool:
    """Whether the resource may be the one that the call names: every identifying attribute that is known is equal.

    Without `has_id` nothing has been created yet, so an id that nobody knows is another resource's. The id of another resource that the plan
    does not tell is that of what the session made, once the ids of all that it made are known.
    """
    resource = asked.resource(change)
    for name, value in identity.items():
        known = resource.known(name)
        if known and value not in map(str, known):
            return False
        if not known and not resource.is_free(name) and resource.change.action not in _MAKING:
            return False
        if not known and name in OWN and not (has_id and resource.may_be(value)):
            return False
        is_of_another = name.endswith(_OF_ANOTHER) and name not in OWN and resource.is_free(name)
        if not known and is_of_another and asked.knows_all_made and value not in asked.made.values():
            return False
    return True


def _is_planned(asked: SessionCall, effect: Effect) -> bool:
    return any(each.address == effect.address for each in asked.session.changes)


def _unplanned(asked: SessionCall, effect: Effect, action: EffectAction) -> str:
    verb = {EffectAction.CREATE: "create", EffectAction.DELETE: "delete"}.get(action, "change")
    if _is_planned(asked, effect):
        return f"the plan does not {verb} {effect.address} there"
    return f"the plan does not {verb} this {effect.resource_type}"


def _value_fits(asked: SessionCall, resource: PlannedResource, effect: Effect) -> bool:
    if effect.attribute == WHOLE:
        return True
    if effect.action is EffectAction.INVOKE:
        return resource.change.size > 0
    if effect.attribute in effect.identity and not resource.known(effect.attribute):
        return True  # a name that AWS or the provider chooses
    is_nothing = effect.value is not None and effect.value == asked.empty_secret
    if resource.fits(effect.attribute, None if is_nothing else effect.value):
        return True
    if sent_unasked(resource, effect.attribute, effect.value):
        return True
    if _is_of_digest(asked, resource, effect):
        return True
    if is_default_policy(asked.call.account, resource, effect.attribute, effect.value):
        return True
    return _is_taken_out(asked, resource, effect) or _is_left_to_aws(asked, resource, effect)


def sent_unasked(resource: PlannedResource, attribute: str, value: object) -> bool:
    """Whether the provider sends the value to a new resource although neither plan nor state has one."""
    usual = SENT_UNASKED.get((resource.change.resource_type, attribute), frozenset())
    is_usual = isinstance(value, str) and value in usual
    return is_usual and resource.change.action in _MAKING and resource.fits(attribute, None)


def is_untold(resource: PlannedResource, attribute: str) -> bool:
    """Whether the plan does not tell the value of the attribute, or of a part of it; or not the digest that it has in its place."""
    _, digested = DIGESTED.get((resource.change.resource_type, attribute), ("", ""))
    return resource.is_untold(attribute) or (bool(digested) and resource.is_free(digested))


def _is_of_digest(asked: SessionCall, resource: PlannedResource, effect: Effect) -> bool:
    """Whether the plan has the digest of what the call gives in another attribute, or masks it: of user data the provider keeps no more."""
    parameter, digested = DIGESTED.get((resource.change.resource_type, effect.attribute), ("", ""))
    if digested and resource.is_free(digested):
        return True
    planned = resource.change.values.get(digested)
    given = asked.call.parameters.get(parameter)
    content = given.get("Value") if isinstance(given, Mapping) else given
    try:
        plain = content if isinstance(content, bytes) else base64.b64decode(str(content), validate=True)
    except ValueError:
        return False
    return bool(content) and planned == hashlib.sha1(plain, usedforsecurity=False).hexdigest()


def _is_taken_out(asked: SessionCall, resource: PlannedResource, effect: Effect) -> bool:
    """Whether the call names the recorded value to take it out, before another call sets the planned one."""
    recorded = AttributePath(effect.attribute).value_at(resource.recorded)
    is_next = effect.attribute in resource.change.values or resource.is_free(effect.attribute)
    return effect.value is None and is_next and isinstance(recorded, str) and asked.says(recorded)


def _is_left_to_aws(asked: SessionCall, resource: PlannedResource, effect: Effect) -> bool:
    """Whether the value is what AWS sets if a call leaves it out, and plan and state have none either, so that the provider says nothing."""
    guarded = asked.rules.is_guarded(resource.change.resource_type, effect.attribute)
    is_default = effect.attribute in asked.defaults and same(effect.value, asked.defaults[effect.attribute])
    return is_default and not guarded and resource.fits(effect.attribute, None)


def _moved(effect: Effect, address: str, stack: Stack) -> Effect:
    """The effect on the planned address."""
    return replace(effect, address=address, declared=stack.knows(address))


def as_planned(asked: SessionCall, change: SessionChange, action: EffectAction) -> tuple[Effect, ...]:
    """The effects of a call of which only the resource is known: the resource as a whole, and of a change the planned attributes."""
    bare = Effect(
        address=change.address,
        attribute=WHOLE,
        action=action,
        resource_type=change.resource_type,
        declared=asked.stack.knows(change.address),
        basis=Basis.RESOURCE,
    )
    if action is not EffectAction.SET:
        return (bare,)
    invoked = replace(bare, action=EffectAction.INVOKE)
    names: Sequence[str] = [*change.values, *sorted(change.free)] or [WHOLE]
    return tuple(replace(invoked, attribute=name) for name in names)
