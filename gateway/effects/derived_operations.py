"""Turns a derived row into an `Operation`, whose parameters are read as those of a hand-made one, but for the matcher: nothing is guessed.

A row tells which parameter carries which attribute, and not what the operation does beside that. So only those rows become an operation
whose name says that it does no more: it writes what it is given (`Update…`, `Tag…`), creates, or deletes.
"""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from gateway.core.derived_rows import Confidence, DerivedRow, ValueForm
from gateway.core.model.equality import equal
from gateway.core.model.json import Json, to_json
from gateway.core.model.mutation import EffectAction
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext, Target
from gateway.effects.operation import CREATE, DELETE, SET, Argument, Operation, Translate, only
from gateway.effects.schema import TypeSchema, folded, snake
from gateway.effects.tags import drop_tags, set_tags, tag_map
from gateway.effects.translators import added, ignored_if, removed
from gateway.effects.values import NotUnderstood, in_kind
from gateway.terraform.resource_index import as_text

TAGS = "tags"
BLOCKS = ("list(block)", "set(block)")
_LISTS = ("list(", "set(")
_WRITES = re.compile(r"(?:Update|Modify|Put|Set|Change|Edit|BatchPut|BatchUpdate)(?![a-z])")
"""How operations begin that give attributes the values of their parameters."""
_KEEPS_OMITTED = re.compile(r"Modify(?![a-z])")
"""How operations begin that leave alone what a call omits. Of the others no trace shows it."""
_TAGGING = re.compile(
    r"(?:Tag|Untag|(?:Add|Create|CreateOrUpdate|Put|Remove|Delete)(?:\w*Tags?(?:To|From|For)?))(?![a-z])"
)
_TAKES_AWAY = re.compile(r"(?:Remove|Delete|Disassociate|Detach|Deregister|Untag|Unassign)(?![a-z])")
_CREATES = re.compile(
    r"(?:Create|Put|Set|Update|Register|Import|Allocate|Request|Add|Associate|Attach|Authorize)(?![a-z])"
)
_OVERWRITES = re.compile(r"(?:Put|Set|Update|Modify|Register)(?![a-z])")
"""How operations begin that may find the resource there already, and change it."""
_DELETES = re.compile(
    r"(?:Delete|Terminate|Remove|Deregister|Release|Destroy|Disassociate|Detach|Revoke|Unsubscribe)(?![a-z])"
)
"""How operations begin that delete. Another one that the provider sends before it deletes (a stop, a changed switch) deletes nothing."""
ADDS = re.compile(r"(?:^|\.)(?:[Aa]dd[A-Z]\w*|\w+ToAdd)$")
"""Parameters that add to a list."""
_OF_PAIR = re.compile(r"\.(?:\{\w*\}|(?:[Tt]ag)?(?:[Kk]ey|[Vv]alue)|[Nn]ame)$")
"""The last step of a parameter that is the key or the value of a map."""
_DATE = "%Y-%m-%dT%H:%M:%SZ"


def deletes(row: DerivedRow) -> bool:
    """Whether the operation deletes the resource, and does nothing else with it."""
    return row.actions == {DELETE} and _DELETES.match(row.operation) is not None


def keeps_omitted(operation: str) -> bool:
    """Whether a call of the operation is known to leave alone the attributes whose parameters it omits."""
    return bool(_KEEPS_OMITTED.match(operation) or _TAGGING.match(operation))


def operation_of(row: DerivedRow, schema: TypeSchema) -> Operation:
    """The operation that the row describes. Raises `NotUnderstood` if it may do more to the resource than its parameters say."""
    if row.confidence is not Confidence.ATTRIBUTES:
        raise NotUnderstood("its row knows the resource, and not what becomes of its attributes")
    if row.clears:
        raise NotUnderstood(
            f"it takes away {', '.join(sorted(row.clears)[:3])}, and no parameter says what is there then"
        )
    if deletes(row):
        return _deletion(row)
    action = _action(row)
    rules = _Rules(row, schema, creates=action is CREATE)
    return Operation(
        resource_type=row.resource_type,
        identity={path: source.attribute for path, source in row.identity.items()},
        action=action,
        attributes=rules.found,
        by_name=False,
        controls=row.controls,
        upserts=SET in row.actions and CREATE in row.actions,
        obliged=frozenset(),
    )


def _action(row: DerivedRow) -> EffectAction:
    """CREATE or SET. Raises `NotUnderstood` for any other, and for an operation whose name says something else."""
    if row.actions == {CREATE} and _CREATES.match(row.operation) and not _OVERWRITES.match(row.operation):
        return CREATE
    if row.actions <= {CREATE, SET} and row.actions and _OVERWRITES.match(row.operation):
        return SET
    tagging = _TAGGING.match(row.operation) and row.actions <= {SET, DELETE, CREATE}
    if tagging or (row.actions == {SET} and (_WRITES.match(row.operation) or _only_takes_away(row))):
        return SET
    raise NotUnderstood(f"{row.operation} may do more than its parameters say")


def _only_takes_away(row: DerivedRow) -> bool:
    return bool(row.removes) and not row.attributes and _TAKES_AWAY.match(row.operation) is not None


def _deletion(row: DerivedRow) -> Operation:
    arguments: dict[str, Argument] = {path: only(value) for path, value in row.constants.items()}
    for path, source in row.attributes.items():
        if source.form is ValueForm.SAME:
            arguments[path] = _as_owner_says(source.attribute)
    return Operation(
        resource_type=row.resource_type,
        identity={path: source.attribute for path, source in row.identity.items()},
        action=DELETE,
        arguments=arguments,
        controls=row.controls,
    )


def _as_owner_says(attribute: str) -> Argument:
    """The value that the resource has in the state, as Terraform would send it."""

    def argument(_context: CallContext, target: Target, value: object) -> Json:
        if target.recorded.get(attribute) is None or not equal(target.recorded[attribute], to_json(value)):
            raise NotUnderstood(f"a value that {attribute} of the declared resource does not have")
        return to_json(value)

    return argument


class _Rules:
    """The rules by which the parameters of an operation become attributes; a parameter without one makes a call not understood."""

    def __init__(self, row: DerivedRow, schema: TypeSchema, *, creates: bool) -> None:
        self.found: dict[str, str | Translate] = {path: ignored_if(value) for path, value in row.constants.items()}
        self._row = row
        self._schema = schema
        self._tagging = creates or _TAGGING.match(row.operation) is not None
        self._clashing: set[str] = set()
        for path, source in row.attributes.items():
            if "{" in source.attribute or source.attribute == TAGS:
                self._map(path, source.attribute)
            elif schema.knows(source.attribute) and self._contains(path, source.attribute):
                self._leaf(path, source.attribute, source.form)
        for path, attribute in row.removes.items():
            self._removal(path, attribute)
        for path in self._clashing:
            self.found.pop(path, None)

    def _put(self, path: str, rule: str | Translate) -> None:
        if isinstance(known := self.found.get(path), str) and known != rule:
            self._clashing.add(path)
        self.found[path] = rule

    def _map(self, path: str, attribute: str) -> None:
        """The rule of a map, whose parameter is a map or a list of pairs."""
        name = attribute.partition(".{")[0]
        whole = _OF_PAIR.sub("", path) if "{" in attribute else path
        if name == TAGS:
            self.found[whole] = set_tags if self._tagging else all_of(TAGS)
        elif self._schema.kinds.get(name, "").startswith("map("):
            self.found[whole] = all_of(name)

    def _contains(self, path: str, attribute: str) -> bool:
        """Note the structures around a parameter that are blocks of the provider; whether each of them could be told.

        A structure may stand around all others in the call alone (`JobUpdate.Command.Name`); elsewhere the two have the same steps.
        """
        steps, names = path.split("."), attribute.split(".")
        more = len(steps) - len(names)
        wrapped = more > 0 and all(
            folded(snake(step)) == folded(name) for step, name in zip(steps[more:-1], names[:-1], strict=True)
        )
        if more != 0 and not wrapped:
            return not any(self._schema.kinds.get(".".join(names[:count])) in BLOCKS for count in range(1, len(names)))
        for count in range(1, len(names)):
            outer = ".".join(names[:count])
            if outer in self._schema.kinds:
                self._put(".".join(steps[: more + count]), outer)
        return True

    def _leaf(self, path: str, attribute: str, form: ValueForm) -> None:
        kind = self._schema.kinds.get(attribute, "string")
        if ADDS.search(path) and not self._is_removed_too(attribute):
            return
        if ADDS.search(path) and kind.startswith(_LISTS):
            self.found[path] = added(attribute)
        elif form in (ValueForm.SAME, ValueForm.TEXT):
            self._put(path, attribute)
        else:
            self.found[path] = _converted(attribute, self._in_block(attribute), form)

    def _is_removed_too(self, attribute: str) -> bool:
        return attribute in self._row.removes.values()

    def _in_block(self, attribute: str) -> bool:
        enclosing = AttributePath(attribute).enclosing[1:]
        return any(self._schema.kinds.get(outer) in BLOCKS for outer in enclosing)

    def _removal(self, path: str, attribute: str) -> None:
        name = attribute.partition(".{")[0]
        if name == TAGS:
            self.found[_OF_PAIR.sub("", path) if "{" in attribute else path] = drop_tags
        elif (kind := self._schema.kinds.get(attribute, "")).startswith(_LISTS) and kind not in BLOCKS:
            self.found[path] = removed(attribute)
        elif kind == "string" and not self._in_block(attribute):
            self.found[path] = _unset(attribute)


def all_of(attribute: str) -> Translate:
    """The map as the call has it."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: in_kind(tag_map(value), target.schema.kinds[attribute])}

    return translate


def _unset(attribute: str) -> Translate:
    """The attribute loses the value that the call names."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        if as_text(AttributePath(attribute).value_at(target.recorded)) != value:
            raise NotUnderstood(f"a value that {attribute} does not have")
        return {attribute: None}

    return translate


def _converted(attribute: str, in_block: bool, form: ValueForm) -> Translate:
    """The value in another form. In a list of blocks the result is a member of the block."""
    name = AttributePath(attribute).last if in_block else attribute

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        recorded = None if in_block else AttributePath(attribute).value_at(target.recorded)
        return {name: in_kind(_in_form(form, value, recorded), target.schema.kinds[attribute])}

    return translate


def _in_form(form: ValueForm, value: object, recorded: Json) -> object:
    match form, value:
        case ValueForm.JSON, str():
            return value
        case ValueForm.JSON, Mapping() | list() | tuple():
            return json.dumps(to_json(value))
        case ValueForm.DATE, datetime() if not value.microsecond:
            return value.astimezone(UTC).strftime(_DATE)
        case ValueForm.BASE64, bytes() | bytearray():
            return _as_text(bytes(value))
        case ValueForm.NEGATED, bool():
            return not value
        case ValueForm.ARN, str():
            return _end_of_arn(value)
        case ValueForm.CASE, str() if isinstance(recorded, str) and recorded.casefold() == value.casefold():
            return recorded
        case _:
            raise NotUnderstood(f"a value that has no {form} form here")


def _as_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NotUnderstood("bytes that are no text") from error


def _end_of_arn(value: str) -> str:
    """The name in an ARN or URL. Raises `NotUnderstood` where it could begin at several places."""
    last = value.split(":", 5)[-1] if value.startswith("arn:") else value.partition("://")[2]
    parts = re.split(r"[:/]", last)
    if len(parts) > 2 or not parts[-1]:  # noqa: PLR2004  a kind and a name
        raise NotUnderstood("an ARN whose last part cannot be told")
    return parts[-1]
