"""Interprets a call that no hand-made row knows by the derived rows of its operation: exactly, or as touching one declared resource.

No person wrote a derived row, so whatever it leaves open counts against it: a parameter that it does not name, a name that does not say all
of the resource's id, an omitted parameter whose attribute AWS may reset. Then only the resource is known, or nothing.
"""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, ValueForm
from gateway.core.errors import Ambiguous
from gateway.core.model.json import Json, is_list
from gateway.core.model.mutation import Basis, Effect
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext, Target
from gateway.effects.call_controls import is_reviewed
from gateway.effects.derived_operations import BLOCKS, deletes, keeps_omitted, operation_of
from gateway.effects.identification import id_of_parts, names_fully, resources_named
from gateway.effects.interpreter import attributes, effects_on
from gateway.effects.operation import CREATE, DELETE, INVOKE, SET, Operation
from gateway.effects.schema import TypeSchema
from gateway.effects.values import NotUnderstood
from gateway.terraform.forms import PARTS_OF_TYPE
from gateway.terraform.resource_index import as_text

MOST_OPERATIONS = 256
"""Operations whose rows are kept in memory."""
_IDENTIFIER = re.compile(r"(?:Id|ID|Arn|ARN|Name|Identifier|Ur[li]|UR[LI]|Key)s?$|^(?:id|arn|name|ur[li]|key)s?$")
"""The ends of parameters that may say which resource is meant."""
_IDENTIFIES_NEW = re.compile(r"(?:^|_)(?:name|identifier|id|arn|key)$")
"""The ends of attributes by which a new resource is told from others of its type."""
_ORIGINS = (Origin.TRACED, Origin.LEARNED, Origin.MODEL)
"""Of two rows that are equally sure the traced one holds: a learned one comes from a few calls, which somebody chose."""
_COMPUTED = frozenset({"id", "arn", "call"})
_EMPTY: tuple[Json, ...] = (None, "", [], {})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyRow:
    """A row with the operation that it describes."""

    row: DerivedRow
    operation: Operation | None
    """None if it describes none: it may do more than its parameters say."""
    reason: str
    """Why it describes no operation."""
    may_change: tuple[str, ...]
    """The names of which the attributes of the type consist."""
    resets: tuple[str, ...]
    """The attributes that AWS may reset if a call omits them."""
    by_arn: tuple[str, ...]
    """The parameters of whose ARN an attribute has the last part only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What a derived row says about a call."""

    row: DerivedRow
    effects: tuple[Effect, ...]
    reason: str = ""
    """Why only the resource is known; empty if every parameter is accounted for."""


class DerivedRows:
    """The derived rows, those of an operation read when it is first called. Those that were not asked for lately are forgotten."""

    def __init__(self, schemas: Mapping[str, TypeSchema], rows: Callable[[str, str], Sequence[DerivedRow]]) -> None:
        """`rows` returns the rows of a service's operation, whatever their confidence."""
        self.all = rows
        self._schemas = schemas
        self._ready: OrderedDict[tuple[str, str], tuple[ReadyRow, ...]] = OrderedDict()
        self._changing = threading.Lock()

    def of(self, service: str, operation: str) -> tuple[ReadyRow, ...]:
        """The rows that can say something about a call alone, the surest of each type: Terraform has the type, and more than it is certain."""
        key = service, operation
        found = self._ready.get(key)
        if found is None:
            found = tuple(self._made_ready(service, operation))
            with self._changing:
                self._ready[key] = found
                if len(self._ready) > MOST_OPERATIONS:
                    self._ready.popitem(last=False)
        return found

    def _made_ready(self, service: str, operation: str) -> Iterator[ReadyRow]:
        types: set[str] = set()
        for row in sorted(self.all(service, operation), key=lambda row: (row.confidence, _ORIGINS.index(row.origin))):
            known = row.confidence is not Confidence.TYPE and row.resource_type in self._schemas
            if known and row.resource_type not in types:
                types.add(row.resource_type)
                yield self._ready_row(row)

    def _ready_row(self, row: DerivedRow) -> ReadyRow:
        schema = self._schemas[row.resource_type]
        operation, reason = None, ""
        try:
            operation = operation_of(row, schema)
        except NotUnderstood as why:
            reason = str(why)
        written = {
            source.attribute.partition(".{")[0]
            for path, source in row.attributes.items()
            if path in row.resets or not keeps_omitted(row.operation)
        }
        return ReadyRow(
            row=row,
            operation=operation,
            reason=reason,
            may_change=schema.steps,
            resets=tuple(sorted(written - _COMPUTED)),
            by_arn=tuple(path for path, source in row.attributes.items() if source.form is ValueForm.ARN),
        )


def read_call(rows: Sequence[ReadyRow], context: CallContext) -> Reading:
    """What the rows of its operation say about a call. Raises `NotUnderstood`, `errors.Ambiguous`."""
    found: list[tuple[ReadyRow, tuple[Target, ...]]] = []
    reasons: list[str] = []
    for ready in rows:
        try:
            found.append((ready, _targets(ready, context)))
        except NotUnderstood as reason:
            reasons.append(f"{ready.row.resource_type}: {reason}")
    declared = [(ready, targets) for ready, targets in found if any(target.declared for target in targets)]
    declared = _without_owners(declared)
    if len(declared) > 1:
        names = [target.address for _, targets in declared for target in targets if target.declared]
        raise Ambiguous(f"the call may be about {', '.join(sorted(names)[:3])}")
    if not declared and (len(rows) > 1 or not found):
        raise NotUnderstood(
            "; ".join(reasons) or "none of the types that the operation may be about declares the resource"
        )
    ready, targets = (declared or found)[0]
    try:
        effects = tuple(effect for target in targets for effect in _exactly(ready, context, target))
    except NotUnderstood as reason:
        effects = tuple(_on_the_whole(ready, target, str(reason)) for target in targets)
        return Reading(row=ready.row, effects=effects, reason=str(reason))
    return Reading(row=ready.row, effects=effects)


def _without_owners(
    declared: Sequence[tuple[ReadyRow, tuple[Target, ...]]],
) -> list[tuple[ReadyRow, tuple[Target, ...]]]:
    """Without the resources of which the code declares the part that the call is about as a resource of its own."""
    owners = {part.owner_type for ready, _ in declared for part in PARTS_OF_TYPE.get(ready.row.resource_type, ())}
    return [(ready, targets) for ready, targets in declared if ready.row.resource_type not in owners]


# Which resource -----------------------------------------------------------------------------------------------------


def _targets(ready: ReadyRow, context: CallContext) -> tuple[Target, ...]:
    """The resources that the call names, by the row's identity. Raises `NotUnderstood`, `errors.Ambiguous`."""
    row = ready.row
    if row.actions == {CREATE}:
        return (_new(row, context),)
    given = {path: value for path in row.identity if (value := _value_at(context.call.parameters, path))}
    lists = [path for path, value in given.items() if is_list(value)]
    if len(lists) > 1:
        raise NotUnderstood("two lists of names")
    if not given and CREATE in row.actions:
        return (_new(row, context),)
    members = given[lists[0]] if lists else [None]
    named = [{**given, lists[0]: member} if lists else given for member in members]  # type: ignore[attr-defined]  # it is a list
    return tuple(_named(row, context, each) for each in named)


def _named(row: DerivedRow, context: CallContext, given: Mapping[str, object]) -> Target:
    """The one recorded resource that these parameters name."""
    if not given:
        raise NotUnderstood("the call does not say which")
    texts = {path: _text(path, value) for path, value in given.items()}
    fitting = _having_id(row, context, texts) if row.id_form else None
    for path, text in texts.items():
        if row.identity[path].form is ValueForm.PART:
            continue
        found = resources_named(context, row.resource_type, row.identity[path].attribute, text)
        if not found and row.identity[path].form is ValueForm.CASE:
            found = resources_named(context, row.resource_type, row.identity[path].attribute, text.lower())
        fitting = [address for address in found if fitting is None or address in fitting]
    if not fitting:
        if CREATE in row.actions:
            return _new(row, context)
        raise NotUnderstood("no Terraform code declares the resource that it names, or its state does not have it yet")
    if len(fitting) > 1:
        raise Ambiguous(f"the call may be about {', '.join(sorted(fitting)[:3])}")
    recorded = context.inventory.recorded(fitting[0]) or {}
    if not names_fully(context, recorded, tuple(texts.values())):
        raise NotUnderstood("what the call names is not all of the resource's id, so another one may be meant")
    _refuse_other_names(row, context, recorded)
    identity = {
        (name := row.identity[path].attribute): as_text(AttributePath(name).value_at(recorded)) or text
        for path, text in texts.items()
    }
    return context.target_at(row.resource_type, identity, fitting[0])


def _having_id(row: DerivedRow, context: CallContext, texts: Mapping[str, str]) -> list[str]:
    """The addresses of the resources whose id the parameters make. Raises `NotUnderstood`."""
    own = id_of_parts(row, texts)
    return [address for address in context.inventory.find(row.resource_type, "id", own) if context.is_here(address)]


def _refuse_other_names(row: DerivedRow, context: CallContext, recorded: Mapping[str, Json]) -> None:
    """Raise `NotUnderstood` for an identifier that the row does not know and the resource does not have: it may name another one."""
    known = (row.identity, row.attributes, row.removes, row.constants, row.controls)
    for name, value in context.call.parameters.items():
        if not isinstance(value, str) or any(name in names for names in known) or not _IDENTIFIER.search(name):
            continue
        if all(as_text(own) != value for own in recorded.values()):
            raise NotUnderstood(f"parameter {name} may name another resource")


def _new(row: DerivedRow, context: CallContext) -> Target:
    """The resource that the call creates: the declared one with these names, else one that nothing declares."""
    names: dict[str, str] = {}
    for path, source in {**row.identity, **row.attributes}.items():
        value = _value_at(context.call.parameters, path)
        told = "." not in path and source.form is ValueForm.SAME and source.attribute not in _COMPUTED
        if told and isinstance(value, str) and value and _IDENTIFIES_NEW.search(source.attribute):
            names[source.attribute] = value
    if not names:
        return context.unnamed(row.resource_type)
    target = context.target(row.resource_type, names)
    if target.recorded and not names_fully(context, target.recorded, tuple(names.values())):
        raise NotUnderstood(
            "what the call names is not all of the id of the declared resource, so another one may be meant"
        )
    return target


def _text(path: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise NotUnderstood(f"{path} is not text")
    return value


def _value_at(parameters: Mapping[str, object], path: str) -> object:
    if "." not in path:
        return parameters.get(path)
    value: object = parameters
    for step in path.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


# What becomes of it -------------------------------------------------------------------------------------------------


def _on_the_whole(ready: ReadyRow, target: Target, why: str) -> Effect:
    """The effect on the resource as a whole. Raises `NotUnderstood` if nothing declares it: then nobody said what may become of it."""
    if not target.declared:
        raise NotUnderstood(f"{why}; and no Terraform code declares {target.address}")
    creates = CREATE in ready.row.actions and not target.recorded
    action = DELETE if deletes(ready.row) else CREATE if creates else INVOKE
    return replace(target.whole(action), basis=Basis.RESOURCE, may_change=ready.may_change)


def _exactly(ready: ReadyRow, context: CallContext, target: Target) -> Iterator[Effect]:
    """The effects if every parameter is accounted for. Raises `NotUnderstood`."""
    operation = ready.operation
    if operation is None:
        raise NotUnderstood(ready.reason)
    _refuse_unreviewed(ready, context)
    _require_arns_here(ready, context)
    if operation.action is DELETE:
        yield from effects_on(operation, context, target)
        return
    values = _values(operation, context, target)
    creates = operation.action is CREATE or (operation.upserts and not target.recorded)
    if not creates or operation.upserts:
        _refuse_reset(ready, target, values)
    if not creates:
        if not target.recorded:
            raise NotUnderstood("the state does not have it yet")
        if not values:
            raise NotUnderstood("the call changes no attribute that the provider has")
        _refuse_merged(target, values)
    action = CREATE if creates else SET
    if creates:
        yield target.whole(CREATE)
        own = {name: text for name, text in target.identity.items() if name not in _COMPUTED}
        values = {**{name: text for name, text in own.items() if target.schema.knows(name)}, **values}
    for attribute, value in values.items():
        effect = target.put(attribute, value, action=action)
        yield replace(effect, upserted=True) if creates and operation.upserts else effect


def _refuse_unreviewed(ready: ReadyRow, context: CallContext) -> None:
    """Raise `NotUnderstood` for a parameter that gives no attribute a value and that nobody reviewed: it may force, cascade or restart."""
    for path in (
        *ready.row.controls,
        *(name for name, value in ready.row.constants.items() if isinstance(value, bool)),
    ):
        if not is_reviewed(path) and _value_at(context.call.parameters, path) is not None:
            raise NotUnderstood(f"nobody reviewed what {path} makes the call do")


def _require_arns_here(ready: ReadyRow, context: CallContext) -> None:
    """Raise `NotUnderstood` for an ARN in another account or region of which an attribute would show only the name."""
    for path in ready.by_arn:
        value = _value_at(context.call.parameters, path)
        if isinstance(value, str) and value.startswith("arn:"):
            context.require_arn_here(value)


def _values(operation: Operation, context: CallContext, target: Target) -> dict[str, Json]:
    """Attribute → value. Raises `NotUnderstood` if two parameters give one attribute different values."""
    values: dict[str, Json] = {}
    for attribute, value in attributes(operation, target, context.call.parameters):
        if values.setdefault(attribute, value) != value:
            raise NotUnderstood(f"two parameters give {attribute} a value")
    return values


def _refuse_reset(ready: ReadyRow, target: Target, values: Mapping[str, Json]) -> None:
    """Raise `NotUnderstood` if the call omits what it could set and the resource has: AWS may leave it alone, or reset it.

    Of a resource that the state does not have nobody knows what it has.
    """
    for attribute in ready.resets:
        has = not target.recorded or AttributePath(attribute).value_at(target.recorded) not in _EMPTY
        if has and not any(AttributePath(attribute).touches(name) for name in values):
            raise NotUnderstood(f"the call leaves out {attribute}, which AWS may reset then")


def _refuse_merged(target: Target, values: Mapping[str, Json]) -> None:
    """Raise `NotUnderstood` if a list of blocks, or a map, lacks something that is recorded: AWS may keep it beside the new ones."""
    for attribute, value in values.items():
        kind = target.schema.kinds.get(attribute, "")
        if kind not in BLOCKS and not kind.startswith("map("):
            continue
        before = AttributePath(attribute).value_at(target.recorded)
        if before in _EMPTY:
            continue
        lost = True
        if kind in BLOCKS and is_list(value) and is_list(before):
            lost = any(not any(_covers(block, old) for block in value) for old in before)
        elif kind not in BLOCKS and isinstance(value, Mapping) and isinstance(before, Mapping):
            lost = not set(before) <= set(value)
        if lost:
            raise NotUnderstood(f"the call leaves out a part of {attribute}, which AWS may keep")


def _covers(block: Json, old: Json) -> bool:
    """Whether a block of the call has every member that the recorded block has a value for, with that value."""
    if not isinstance(block, Mapping) or not isinstance(old, Mapping):
        return block == old
    return all(block.get(name) == value for name, value in old.items() if value not in (*_EMPTY, False, 0))
