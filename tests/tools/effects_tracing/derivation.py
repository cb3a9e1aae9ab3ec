"""Derives the rows of one resource type from its traces: which operation creates, changes or deletes it, and which parameter carries what."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin, ValueForm
from gateway.core.model.json import Json, is_document
from gateway.core.model.mutation import EffectAction
from gateway.core.service_models import ServiceModels
from gateway.effects.schema import TypeSchema, match
from tests.tools.effects_tracing.actions import actions_of
from tests.tools.effects_tracing.by_name import blocks_beside, explain_by_name
from tests.tools.effects_tracing.columns import ITEM, KEY, leaf, top
from tests.tools.effects_tracing.comparison import Way, is_unique
from tests.tools.effects_tracing.composition import composed_id
from tests.tools.effects_tracing.evidence import Evidence, Observation, evidence_of
from tests.tools.effects_tracing.explanation import (
    SELF,
    Explanation,
    Sureness,
    candidates,
    config_of,
    explain,
    explain_by_cause,
    folded,
    state_of,
)
from tests.tools.effects_tracing.forms import MARKER, is_own
from tests.tools.effects_tracing.seeds import Seed, seeds
from tests.tools.effects_tracing.traces import Phase, Trace

CREATE, SET, DELETE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE
_CONFIGURED: Final = (Phase.CREATE, Phase.UPDATE, Phase.EACH)
_WITH_STATE: Final = (Phase.UPDATE, Phase.EACH, Phase.OMIT, Phase.DELETE)
_CONTROLS: Final = re.compile(
    r"(client_?token|client_?request_?token|idempotency_?token|caller_?reference|creator_?request_?id|dry_?run|if_?match|lock_?token|"
    r"change_?token|policy_?exists_?condition|current_?version|current_?application_?version_?id|update_?token)"
)
"""Parameters that only control how a call is made, or refuse it if the resource is not the expected version; in lower case."""
_OF_THE_BODY: Final = re.compile(r"content-(length|md5)|x-amz-checksum-(crc|md5|sha|xxhash)\w*")
"""Headers, in lower case, that the SDK computes of the request's body: they say nothing that the body does not."""
_HOW_COMPUTED: Final = re.compile(r"x-amz-sdk-checksum-algorithm")
"""The header, in lower case, that says how it computed them: the SDK's choice, unless an attribute says it."""
_LOCKS: Final = frozenset(
    {
        "checksum",
        "config_version",
        "create_timestamp",
        "etag",
        "if_match",
        "lock_token",
        "policy_update_token",
        "policy_version",
        "revision_id",
        "update_token",
        "version_number",
    }
)
"""Attributes that only say which version of the resource a change was made for."""
_NAMES: Final = re.compile(r"(^|_)(id|ids|arn|arns|url|name|identifier|key|path)$")
"""How the attributes end that AWS makes and that name a resource."""
_FEWEST_MADE: Final = 3
"""In how many runs a value that the provider makes was another one and stood in the state."""
_PAIR_KEYS: Final = frozenset({"key", "tagkey"})
"""How the key is named in a list of pairs."""
_REMOVES: Final = re.compile(r"(Remove|Delete|Detach|Disassociate|Deregister|Untag|Unassign|Revoke|Unsubscribe|Reset)")
_DESTROYS: Final = re.compile(r"(Batch)?(Delete|Terminate|Purge|Destroy)(?![a-z])")


@dataclass(slots=True, kw_only=True)
class Draft:
    """A row while it is derived."""

    evidence: Evidence
    actions: frozenset[EffectAction]
    identity: dict[str, Explanation] = field(default_factory=dict)
    id_form: str = ""
    attributes: dict[str, Explanation] = field(default_factory=dict)
    removes: dict[str, Explanation] = field(default_factory=dict)
    constants: dict[str, Json] = field(default_factory=dict)
    controls: set[str] = field(default_factory=set)
    unexplained: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeFacts:
    """What is known about a type besides the requests of one operation."""

    name: str
    schema: TypeSchema
    create_only: frozenset[str]
    """Attributes at the top whose change needs a replacement."""
    changeable: frozenset[str]
    """Attributes at the top that were changed in place."""
    is_only_one: bool = False
    """Whether there is one such resource in an account and region: nothing identifies it."""

    def is_settable(self, attribute: str) -> bool:
        """Whether code sets the attribute."""
        return attribute not in SELF and top(attribute) in self.schema.kinds

    def may_name(self, attribute: str) -> bool:
        """Whether the attribute is of a kind that can name a resource: one value at the top, which AWS made with such a name."""
        if "." in attribute:
            return False
        if self.is_settable(attribute):
            return self.schema.kinds[attribute].rstrip("!") in ("string", "number")
        return attribute in SELF or bool(_NAMES.search(attribute))


def rows_of_type(traces: Sequence[Trace], schema: TypeSchema, models: ServiceModels) -> tuple[DerivedRow, ...]:
    """The rows of one type, sorted by operation."""
    name = traces[0].summary.resource_type
    create_only = {each for trace in traces for each in trace.summary.create_only}
    found = evidence_of(traces)
    in_place = [each for evidence in found.values() for each in evidence.of(Phase.UPDATE, Phase.EACH)]
    changeable = frozenset(top(path) for each in in_place for path in each.changed if path in each.config)
    facts = TypeFacts(name=name, schema=schema, create_only=frozenset(create_only), changeable=changeable - create_only)
    actions = actions_of(found)
    drafts = [_draft(each, actions[key], facts, models) for key, each in sorted(found.items())]
    for draft in drafts:
        _name_the_rest(draft, facts)
        _take_single_values(draft, models)
    _check_across(drafts)
    _take_over_constants(drafts)
    _identify_alike(drafts, models)
    _identify_as_the_delete(drafts)
    _identify_creates(drafts)
    for draft in drafts:
        _compose_id(draft)
    if _is_only_one(drafts):
        facts = replace(facts, is_only_one=True)
    return tuple(_row(draft, facts) for draft in drafts)


def _draft(evidence: Evidence, actions: frozenset[EffectAction], facts: TypeFacts, models: ServiceModels) -> Draft:
    draft = Draft(evidence=evidence, actions=actions)
    shape = models.shape(evidence.service, evidence.operation)
    computed = _in_headers(shape, _OF_THE_BODY)
    controls = _idempotency_tokens(evidence, models) | _in_headers(shape, _HOW_COMPUTED)
    for path in evidence.parameters:
        named = _modelled(shape, path)
        if path in computed:
            draft.controls.add(path)
        elif named == path:
            _place(draft, path, facts, is_control=path in controls)
        elif named:  # a member of a JSON document, which no model describes
            draft.unexplained.add(named)
    return draft


def _name_the_rest(draft: Draft, facts: TypeFacts) -> None:
    """Explain by their whole names the parameters that nothing else explains, and those of which only a column says something else."""
    certain = {**draft.attributes, **draft.identity}
    for path in [*sorted(draft.unexplained), *sorted(draft.attributes)]:
        column = draft.attributes.get(path)
        if column is not None and column.sureness is not Sureness.CODE:
            continue
        found = _named(path, draft, facts, certain)
        if found is not None:
            draft.unexplained.discard(path)
            draft.attributes[path] = found


def _named(path: str, draft: Draft, facts: TypeFacts, certain: Mapping[str, Explanation]) -> Explanation | None:
    """What the names say: of the configuration, or of the state where the operation ends the resource, which then has to have the value."""
    configured = draft.evidence.of(*_CONFIGURED)
    blocks = blocks_beside(path, certain)
    if any(path in each.parameters for each in configured):
        return explain_by_name(path, configured, config_of, facts.schema, blocks)
    if draft.actions != {DELETE}:
        return None
    return explain_by_name(path, draft.evidence.of(Phase.DELETE), state_of, facts.schema, blocks)


def _take_single_values(draft: Draft, models: ServiceModels) -> None:
    """A parameter for which the model has one value alone says nothing: it is a constant, whatever attribute has the value too."""
    shape = models.shape(draft.evidence.service, draft.evidence.operation)
    for path in sorted(draft.unexplained):
        known, member = _described(shape, path)
        values = getattr(member, "enum", None) or []
        sent = [each.parameters[path] for each in draft.evidence.observations if path in each.parameters]
        if known == path and len(values) == 1 and sent and all(each == [*values] for each in sent):
            draft.unexplained.discard(path)
            draft.constants[path] = values[0]


def _modelled(shape: Any, path: str) -> str:
    """The path as far as the operation's model describes it."""
    return _described(shape, path)[0]


def _described(shape: Any, path: str) -> tuple[str, Any]:
    """The path as far as the operation's model describes it, and the shape of its end."""
    steps = path.split(".")
    for at, step in enumerate(steps):
        shape = _of_items(shape)
        if shape is not None and shape.type_name == "map":
            shape = shape.value
        elif shape is not None and shape.type_name == "structure" and step in shape.members:
            shape = shape.members[step]
        else:
            return ".".join(steps[:at]), shape
    return path, _of_items(shape)


def _of_items(shape: Any) -> Any:
    while shape is not None and shape.type_name == "list":
        shape = shape.member
    return shape


def _place(draft: Draft, path: str, facts: TypeFacts, *, is_control: bool) -> None:
    """Find out what one parameter carries."""
    evidence = draft.evidence
    named = explain(path, evidence.of(*_WITH_STATE), state_of)
    carried = _carried(path, evidence)
    identifying = _identifying(path, named, carried, evidence, facts)
    if identifying is None and carried is None:
        identifying = _self_throughout(path, evidence, facts)
    if identifying is not None:
        draft.identity[path] = identifying
    elif carried is not None:
        draft.attributes[path] = carried
    elif (
        is_control or _CONTROLS.fullmatch(leaf(path).lower()) or (named is not None and leaf(named.attribute) in _LOCKS)
    ):
        draft.controls.add(path)
    elif named is not None and _is_removal(path, named, evidence, facts):
        draft.removes[path] = named
    elif named is not None and draft.actions == {DELETE} and top(named.attribute) in facts.changeable:
        draft.attributes[path] = named
    elif (constant := _constant(path, evidence)) is not None:
        draft.constants[path] = constant
    elif (made := _made_by_the_provider(path, evidence, facts)) is not None:
        draft.attributes[path] = made
    else:
        draft.unexplained.add(path)


def _made_by_the_provider(path: str, evidence: Evidence, facts: TypeFacts) -> Explanation | None:
    """The attribute that no code sets and that every state had this value of after its create, under the parameter's whole name: a password.

    The first call only, since before it AWS has answered nothing that the provider could have the value from.
    """
    seen = [each for each in evidence.observations if path in each.parameters]
    values = {str(value) for each in seen for value in each.parameters[path]}
    first = all(each.phase is Phase.CREATE and each.place == 0 and each.state for each in seen)
    if not first or len(seen) < _FEWEST_MADE or len(values) != len(seen) or "." in path:
        return None
    same = candidates(path, seen, state_of)
    names = [name for name, way in same.items() if way is Way.SAME and folded(name) == folded(path)]
    if len(names) != 1 or facts.is_settable(names[0]) or names[0] in SELF:
        return None
    return Explanation(attribute=names[0], way=Way.SAME, sureness=Sureness.MARKER)


def _carried(path: str, evidence: Evidence) -> Explanation | None:
    """The attribute of the configuration that the parameter carries, the same in create and update."""
    configured = evidence.of(*_CONFIGURED)
    if not any(path in each.parameters for each in configured):
        return None
    everywhere = explain(path, configured, config_of)
    caused = explain_by_cause(path, evidence.observations)
    if everywhere is None or everywhere.sureness is Sureness.MARKER:
        found = everywhere
        if found is None and caused is not None and _never_denied(path, caused.attribute, configured):
            found = caused
        return found
    return everywhere if caused is None or caused.attribute == everywhere.attribute else caused


def _never_denied(path: str, attribute: str, observations: Sequence[Observation]) -> bool:
    """Whether the attribute fits in every run that has both: a cause that other runs deny is none."""
    both = [each for each in observations if path in each.parameters and attribute in each.config]
    return attribute in candidates(path, both, config_of)


def _identifying(
    path: str, named: Explanation | None, carried: Explanation | None, evidence: Evidence, facts: TypeFacts
) -> Explanation | None:
    """The attribute that the parameter identifies the resource by; None if it does not identify it, or that is not certain."""
    created = [each for each in evidence.of(Phase.CREATE) if path in each.parameters]
    if named is None and not any(path in each.parameters for each in evidence.of(*_WITH_STATE)):
        return _identifying_what_was_made(path, carried, created, facts)
    if named is None and carried is not None and carried.sureness is Sureness.MARKER:
        fixed = carried.attribute in facts.create_only and facts.may_name(carried.attribute)
        return carried if fixed and evidence.of(Phase.UPDATE, Phase.EACH) else None
    if named is None or named.sureness is not Sureness.MARKER or not facts.may_name(named.attribute):
        return None
    if leaf(named.attribute) in _LOCKS:
        return None
    if created:
        return _identifying_from_start(path, named, carried, evidence, facts)
    in_place = [each for each in evidence.of(Phase.UPDATE, Phase.EACH, Phase.OMIT) if path in each.parameters]
    if not in_place:
        names_it = named.attribute not in facts.changeable or _is_self(path, evidence)
        return named if names_it or named.way is Way.ARN else None
    if any(named.attribute in each.changed and named.attribute in each.config for each in in_place):
        # The old value of what changes: the name of what is renamed, or what is taken away.
        return None if _takes_away(path, evidence) else named
    return named


def _self_throughout(path: str, evidence: Evidence, facts: TypeFacts) -> Explanation | None:
    """The id, if the parameter was it in every run, also in the same create after the resource was made."""
    runs = [each for each in evidence.observations if path in each.parameters and each.state.get("id")]
    if (
        not runs
        or any(each.phase is Phase.CREATE and each.place == 0 for each in runs)
        or _names_another(path, evidence)
    ):
        return None
    same = candidates(path, runs, state_of)
    if same.get("id") is not Way.SAME or not all(is_unique(value) for each in runs for value in each.parameters[path]):
        return None
    named = [name for name in same if folded(name) == folded(leaf(path)) and name not in SELF]
    created = [each for each in runs if each.phase is Phase.CREATE]
    for name in named:
        # The stub may give the id of something else the same value; then the configuration says another one.
        if facts.is_settable(name) and (not created or candidates(path, created, config_of).get(name) is not Way.SAME):
            return None
    own = next((name for name in named if not facts.is_settable(name)), "id")
    return Explanation(attribute=own, way=Way.SAME, sureness=Sureness.MARKER)


def _identifying_what_was_made(
    path: str, carried: Explanation | None, created: Sequence[Observation], facts: TypeFacts
) -> Explanation | None:
    """What the resource is named by after the same create, for operations that only complete a create."""
    known = [each for each in created if each.state and each.place > 0]
    if not known or len(known) < len(created):
        return None
    same = candidates(path, known, state_of)
    if not any(same.get(name) is Way.SAME for name in SELF):
        made = explain(path, known, state_of) if carried is None else None
        may = made is not None and made.sureness is Sureness.MARKER and facts.may_name(made.attribute)
        return made if may and made is not None and not facts.is_settable(made.attribute) else None
    if carried is not None and carried.sureness is Sureness.MARKER and facts.may_name(carried.attribute):
        return carried
    own = {name: each for name, each in same.items() if name in SELF}
    return explain(path, [replace(each, state={name: each.state[name] for name in own}) for each in known], state_of)


def _identifying_from_start(
    path: str, named: Explanation, carried: Explanation | None, evidence: Evidence, facts: TypeFacts
) -> Explanation | None:
    """As `_identifying`, for a parameter that the create has as well."""
    created = [each for each in evidence.of(Phase.CREATE) if path in each.parameters]
    if carried is not None and carried.attribute == named.attribute:
        return None if named.attribute in facts.changeable and not _is_self(path, evidence) else named
    if named.attribute not in SELF:
        return None
    at_first = explain(path, created, config_of)
    if at_first is not None:
        # Its create sends an attribute of the code where its changes send the id, so the id is made of that attribute.
        may = at_first.sureness is Sureness.MARKER and facts.may_name(at_first.attribute)
        return at_first if may and at_first.attribute not in facts.changeable else None
    return None if _names_another(path, evidence) or candidates(path, created, config_of) else named


def _names_another(path: str, evidence: Evidence) -> bool:
    """Whether the first call of a create names something that is there before, which the resource is in no state."""
    first = [each for each in evidence.of(Phase.CREATE) if path in each.parameters and each.place == 0]
    known = {str(value) for each in evidence.observations for name in SELF for value in each.state.get(name, ())}
    return bool(first) and not any(str(value) in known for each in first for value in each.parameters[path])


def _is_self(path: str, evidence: Evidence) -> bool:
    """Whether a delete has the resource's id or ARN in the parameter."""
    same = candidates(path, evidence.of(Phase.DELETE), state_of)
    return any(same.get(name) is Way.SAME for name in SELF)


def _takes_away(path: str, evidence: Evidence) -> bool:
    return bool(_REMOVES.search(evidence.operation) or _REMOVES.search(leaf(path)))


def _is_removal(path: str, named: Explanation, evidence: Evidence, facts: TypeFacts) -> bool:
    """Whether the parameter names an old value that the configuration has no more."""
    if (
        named.sureness is not Sureness.MARKER
        or not facts.is_settable(named.attribute)
        or Phase.CREATE in evidence.phases
    ):
        return False
    seen = [each for each in evidence.of(Phase.UPDATE, Phase.EACH, Phase.OMIT) if path in each.parameters]
    gone = [named.attribute in each.changed for each in seen]
    return bool(seen) and all(gone) and (_takes_away(path, evidence) or top(named.attribute) != named.attribute)


def _constant(path: str, evidence: Evidence) -> Json:
    """The value that the parameter had in every run, if no attribute had it too.

    An empty text and a document are none: the provider wrote them of something that it could not read or that a marker left out.
    Nor is what the tracer made up, such as its region: another caller's has another value.
    """
    seen = [each for each in evidence.observations if path in each.parameters]
    values = {json.dumps(each.parameters[path], default=str, sort_keys=True) for each in seen}
    if len(values) != 1 or len(seen) < 2:
        return None
    items = seen[0].parameters[path]
    if len(items) != 1 or is_own(str(items[0])) or is_unique(items[0]) or items[0] == "":
        return None
    if isinstance(items[0], str) and is_document(items[0]):
        return None
    configured = [each for each in seen if each.config]
    if configured and candidates(path, configured, config_of):
        return None
    constant: Json = items[0]
    return constant


def _idempotency_tokens(evidence: Evidence, models: ServiceModels) -> frozenset[str]:
    shape: Any = models.shape(evidence.service, evidence.operation)
    if shape is None:
        return frozenset()
    return frozenset(name for name, member in shape.members.items() if member.metadata.get("idempotencyToken"))


def _in_headers(shape: Any, pattern: re.Pattern[str]) -> frozenset[str]:
    """The parameters that an operation sends in headers of such names."""
    if shape is None:
        return frozenset()
    sent = {
        name: member.serialization["name"].lower()
        for name, member in shape.members.items()
        if member.serialization.get("location") == "header"
    }
    return frozenset(name for name, header in sent.items() if pattern.fullmatch(header))


def _check_across(drafts: Sequence[Draft]) -> None:
    """Take back what several operations say differently about a parameter of the same name, unless single changes prove it.

    Two attributes that the provider keeps equal may come out swapped if both change at once, as those of Cognito's triggers do.
    """
    said: dict[str, dict[str, list[Draft]]] = defaultdict(lambda: defaultdict(list))
    for draft in drafts:
        for path, explanation in draft.attributes.items():
            said[path][explanation.attribute].append(draft)
    for path, by_attribute in said.items():
        if len(by_attribute) < 2:
            continue
        tops = [top(attribute) for attribute in by_attribute]
        for attribute, found in by_attribute.items():
            alone = attribute == top(attribute) or tops.count(top(attribute)) == 1
            for draft in found:
                caused = explain_by_cause(path, draft.evidence.observations) if alone else None
                only_created = not draft.evidence.of(Phase.UPDATE, Phase.EACH)
                proved = caused is not None and caused.attribute == attribute
                if not proved and not (only_created and alone):
                    del draft.attributes[path]
                    draft.unexplained.add(path)


def _take_over_constants(drafts: Sequence[Draft]) -> None:
    """A parameter that was sent once is a constant if it is one of the same name and value in another operation of the type."""
    known = {(path, str(value)) for draft in drafts for path, value in draft.constants.items()}
    for draft in drafts:
        for path in sorted(draft.unexplained):
            seen = {str(value) for each in draft.evidence.observations for value in each.parameters.get(path, ())}
            if len(seen) == 1 and (path, *seen) in known:
                draft.constants[path] = next(
                    value for each in draft.evidence.observations for value in each.parameters.get(path, ())
                )
                draft.unexplained.discard(path)


def _identify_alike(drafts: Sequence[Draft], models: ServiceModels) -> None:
    """Move to the identity what is one by other evidence than the operation's own changes.

    Other operations of the type identify it by the same attribute, a delete cannot do without it, or it is the id while it does not change.
    """
    known = {each.attribute for draft in drafts for each in draft.identity.values()}
    for draft in drafts:
        if CREATE in draft.actions:
            continue
        shape: Any = models.shape(draft.evidence.service, draft.evidence.operation)
        required = {*shape.required_members} if shape is not None and draft.actions == {DELETE} else set()
        for path, each in [*draft.attributes.items()]:
            if each.sureness is not Sureness.MARKER:
                continue
            anew = _is_carried_anew(path, each.attribute, draft.evidence)
            alike = each.attribute in known and (not anew or _is_renamed_before(path, each.attribute, draft.evidence))
            if (
                alike
                or path in required
                or (not draft.identity and _is_self_unchanged(path, each.attribute, draft.evidence))
            ):
                draft.identity[path] = draft.attributes.pop(path)


def _identify_as_the_delete(drafts: Sequence[Draft]) -> None:
    """A parameter that is the id in the delete is the id elsewhere too, where the stub gave another attribute the same value."""
    ends = {
        path: each
        for draft in drafts
        if draft.actions == {DELETE}
        for path, each in draft.identity.items()
        if each.attribute in SELF and each.way is Way.SAME
    }
    for draft in drafts:
        for path, each in draft.identity.items():
            end = ends.get(path, each)
            runs = draft.evidence.of(*_WITH_STATE)
            if end.attribute != each.attribute and candidates(path, runs, state_of).get(end.attribute) is Way.SAME:
                draft.identity[path] = end


def _is_renamed_before(path: str, attribute: str, evidence: Evidence) -> bool:
    """Whether no change of the attribute alone sends the operation, and every other change alone has the name as it stays: it has the new
    name only where another call has renamed the resource before.
    """
    alone = [each for each in evidence.of(Phase.EACH) if path in each.parameters]
    if not alone or any(attribute in each.changed for each in alone):
        return False
    return candidates(path, alone, state_of).get(attribute) is Way.SAME


def _is_carried_anew(path: str, attribute: str, evidence: Evidence) -> bool:
    """Whether a change sends the new value of the attribute."""
    return any(attribute in run.changed for run in evidence.of(Phase.UPDATE, Phase.EACH) if path in run.parameters)


def _is_self_unchanged(path: str, attribute: str, evidence: Evidence) -> bool:
    """Whether the parameter is the id or ARN in the runs that leave its attribute as it is."""
    runs = [each for each in evidence.of(*_WITH_STATE) if path in each.parameters and attribute not in each.changed]
    same = candidates(path, runs, state_of)
    return any(same.get(name) is Way.SAME for name in SELF)


def _is_only_one(drafts: Sequence[Draft]) -> bool:
    """Whether no operation identifies the resource although all is known about those that create and delete it."""
    if any(draft.identity for draft in drafts):
        return False
    ends = [draft for draft in drafts if DELETE in draft.actions]
    starts = [draft for draft in drafts if CREATE in draft.actions]
    tidy = all(not draft.unexplained and not draft.evidence.is_unread for draft in (*ends, *starts))
    is_whole = bool(ends) or any(SET in draft.actions for draft in starts)
    return is_whole and bool(starts) and tidy and not any(_names_something(draft) for draft in (*ends, *starts))


def _names_something(draft: Draft) -> bool:
    """Whether a parameter could name one of several resources: its attribute never changed in place, or it is there to delete."""
    carried = [each for each in draft.attributes.values() if each.sureness is Sureness.MARKER]
    deletes = DELETE in draft.actions and CREATE not in draft.actions
    changed = {name for each in draft.evidence.of(Phase.UPDATE, Phase.EACH) for name in each.changed}
    return any(deletes or each.attribute not in changed for each in carried)


def _identify_creates(drafts: Sequence[Draft]) -> None:
    """Move what identifies a created resource from the attributes to the identity.

    Only if the operations that change or delete it identify it by nothing else: otherwise AWS chooses a part of its identity.
    """
    deletes = [draft for draft in drafts if DELETE in draft.actions and draft.identity]
    changes = [draft for draft in drafts if CREATE not in draft.actions and draft.identity]
    by = [{each.attribute for each in draft.identity.values()} for draft in deletes or changes]
    for draft in drafts:
        if CREATE not in draft.actions or draft.identity:
            continue
        carried = {each.attribute: path for path, each in draft.attributes.items() if each.sureness is Sureness.MARKER}
        enough = next((names for names in by if names <= carried.keys()), None) or _made_id(draft)
        for name in sorted(enough or ()):
            path = carried[name]
            draft.identity[path] = draft.attributes.pop(path)


def _made_id(draft: Draft) -> set[str]:
    """The attribute that is the id after every create that succeeded; empty if AWS makes the id."""
    made = [each for each in draft.evidence.of(Phase.CREATE) if each.state.get("id")]
    for path, each in draft.attributes.items():
        if each.sureness is Sureness.MARKER and each.way is Way.SAME and "." not in each.attribute:
            named = [run.state["id"] == run.parameters.get(path) for run in made]
            if len(named) > 1 and all(named):
                return {each.attribute}
    return set()


def _compose_id(draft: Draft) -> None:
    """Identify the resource by the parts of its id that the parameters are, where nothing else says all of it."""
    runs = [each for each in draft.evidence.observations if each.state.get("id")]
    if draft.actions == {CREATE} or not runs or (draft.identity and all(_names_id(draft, each) for each in runs)):
        return
    form = composed_id(draft.evidence.observations)
    for path in re.findall(r"\{([^{}]+)\}", form):
        draft.id_form = form
        draft.unexplained.discard(path)
        draft.attributes.pop(path, None)
        draft.identity.setdefault(path, Explanation(attribute="id", way=Way.PART, sureness=Sureness.MARKER))


def _row(draft: Draft, facts: TypeFacts) -> DerivedRow:
    evidence = draft.evidence
    identity = _sources(draft.identity)
    attributes, lost = _collapsed(draft.attributes)
    removes, lost_too = _collapsed(draft.removes)
    doubted = {path for path, source in attributes.items() if _is_named_otherwise(path, source.attribute, facts.schema)}
    finite = {path: each for path, each in draft.attributes.items() if each.sureness is Sureness.CODE}
    doubted |= {path for path, each in finite.items() if _has_namesake(path, each.attribute, facts.schema)}
    # A seed makes some attributes equal, so that no value tells them apart.
    equal = {name for pair in seeds().get(facts.name, Seed()).same.items() for name in pair}
    doubted |= {path for path, source in attributes.items() if source.attribute in equal}
    attributes = {path: source for path, source in attributes.items() if path not in doubted}
    unexplained = draft.unexplained | lost | lost_too | doubted
    clears = _cleared(draft.evidence) if not attributes and not removes and draft.actions == {SET} else frozenset()
    ends_the_only_one = DELETE in draft.actions and not attributes and not unexplained and not evidence.is_unread
    is_identified = not _empties(draft) and (
        (bool(identity) and _is_whole(draft, facts))
        or draft.actions == {CREATE}
        or facts.is_only_one
        or ends_the_only_one
    )
    confidence = Confidence.TYPE
    if is_identified:
        # A change of nothing that is known is a change of something else.
        says_what = draft.actions != {SET} or attributes or removes or clears
        is_whole = says_what and not unexplained and not evidence.is_unread
        confidence = Confidence.ATTRIBUTES if is_whole else Confidence.RESOURCE
    return DerivedRow(
        service=evidence.service,
        operation=evidence.operation,
        resource_type=facts.name,
        actions=draft.actions,
        origin=Origin.TRACED,
        confidence=confidence,
        identity=identity,
        id_form=draft.id_form if any(each.way is Way.PART for each in draft.identity.values()) else "",
        attributes=attributes,
        removes={path: source.attribute for path, source in removes.items()},
        clears=clears,
        resets=_resets(evidence, attributes),
        constants=draft.constants,
        controls=frozenset(draft.controls),
        unexplained=frozenset(_without_marker_keys(unexplained)),
    )


def _empties(draft: Draft) -> bool:
    """Whether the operation destroys what is inside the resource before its delete: that is no change of the resource, and has a name of its own."""
    only_then = draft.actions == {SET} and draft.evidence.phases == {Phase.DELETE}
    return only_then and bool(draft.unexplained) and _DESTROYS.match(draft.evidence.operation) is not None


def _is_whole(draft: Draft, facts: TypeFacts) -> bool:
    """Whether the identity names one resource, and not only what it is in, as the instance of a user.

    It does if it is the id or ARN, or all that the id is made of; else if no other parameter could be a part of it.
    """
    if draft.actions == {CREATE}:
        return True
    runs = [each for each in draft.evidence.observations if each.state.get("id")]
    if runs and all(_names_id(draft, each) for each in runs):
        return True
    if any(_names_part_of_id(draft, each) for each in runs):
        return False
    fixed = (each for each in draft.attributes.values() if each.sureness is Sureness.MARKER)
    others = {path for each in runs for path in draft.unexplained if any(map(is_unique, each.parameters.get(path, ())))}
    return not others and not any(top(each.attribute) in facts.create_only for each in fixed)


def _names_id(draft: Draft, run: Observation) -> bool:
    """Whether the identity of a call is the id or ARN of the resource, or all the values that the id is made of."""
    own = {str(value) for name in SELF for value in run.state.get(name, ())}
    given = sorted(
        (str(value) for path in draft.identity for value in run.parameters.get(path, ())), key=len, reverse=True
    )
    if own.intersection(given):
        return True
    rest = str(run.state["id"][0])
    for value in given:
        rest = rest.replace(value, " ")
    return bool(given) and not MARKER.search(rest) and not re.search(r"[0-9a-f]{6}", rest)


def _names_part_of_id(draft: Draft, run: Observation) -> bool:
    """Whether the identity of a call stands in the id of the resource beside another marker, which the call does not give."""
    own = str(run.state["id"][0])
    if own.startswith("arn:"):
        return False
    given = [str(value) for path in draft.identity for value in run.parameters.get(path, ())]
    rest = own
    for value in sorted(given, key=len, reverse=True):
        rest = rest.replace(value, " ")
    return rest != own and MARKER.search(rest) is not None


def _is_named_otherwise(path: str, attribute: str, schema: TypeSchema) -> bool:
    """Whether the names say another attribute, not only the block that this one is in: two sources that contradict each other prove nothing."""
    named = match(schema, tuple(path.split(".")))
    return named is not None and not f"{attribute}.".startswith(f"{named}.")


def _has_namesake(path: str, attribute: str, schema: TypeSchema) -> bool:
    """Whether another attribute, with the blocks that it is in, has the parameter's whole name: a column alone does not outweigh that."""
    name = folded(leaf(path))
    return any(folded(each.replace(".", "_")) == name for each in schema.kinds if each != attribute)


def _cleared(evidence: Evidence) -> frozenset[str]:
    """The attribute whose omission alone made the provider call the operation."""
    runs = {each.run for each in evidence.of(Phase.OMIT)}
    return frozenset(runs) if len(runs) == 1 and evidence.phases <= {Phase.OMIT, Phase.DELETE} else frozenset()


def _resets(evidence: Evidence, attributes: Mapping[str, AttributeSource]) -> frozenset[str]:
    """The parameters that the provider left out of a call when their attribute was omitted."""
    found = set()
    for path, source in attributes.items():
        for each in evidence.of(Phase.OMIT):
            below = (name == path or name.startswith(f"{path}.") for name in each.parameters)
            if each.run == top(source.attribute) and not any(below):
                found.add(path)
    return frozenset(found)


def _sources(explanations: Mapping[str, Explanation]) -> dict[str, AttributeSource]:
    return {
        path: AttributeSource(
            attribute=each.attribute,
            form=ValueForm.PART if each.way is Way.PART else each.way.form or ValueForm.SAME,
        )
        for path, each in explanations.items()
    }


def _collapsed(explanations: Mapping[str, Explanation]) -> tuple[dict[str, AttributeSource], set[str]]:
    """The sources, with maps as a whole in place of their keys and values; and the parameters for which that is not possible.

    A map of the provider is sent as a map (`Tags.{key}`, `Tags.{}`), as a list of pairs (`Tags.Key`, `Tags.Value`) or as its keys.
    """
    found: dict[str, AttributeSource] = {}
    lost: set[str] = set()
    whole: dict[str, dict[str, str]] = defaultdict(dict)
    for path, each in explanations.items():
        end = leaf(each.attribute)
        if end in (KEY, ITEM):
            parent = path.rpartition(".")[0] or path
            whole[path if _is_list_of_keys(path, end) else parent][path] = each.attribute
        elif KEY in path or ITEM in path or ITEM in each.attribute:
            lost.add(path)
        else:
            found[path] = AttributeSource(attribute=each.attribute, form=each.way.form or ValueForm.SAME)
    for path, members in whole.items():
        maps = {attribute.rpartition(".")[0] for attribute in members.values()}
        name = maps.pop()
        if not maps and ITEM not in path and ITEM not in name:
            found[path] = AttributeSource(attribute=name)
        else:
            lost |= members.keys()
    return found, lost


def _is_list_of_keys(path: str, end: str) -> bool:
    """Whether the parameter is a list of keys, not the key of a map or in a list of pairs."""
    name = leaf(path)
    return end == KEY and name not in (KEY, ITEM) and (name.lower().endswith("keys") or folded(name) not in _PAIR_KEYS)


def _without_marker_keys(paths: Iterable[str]) -> set[str]:
    """The paths as far as the model names their steps."""
    return {re.split(r"\.\{(?:key)?\}", path)[0] for path in paths}
