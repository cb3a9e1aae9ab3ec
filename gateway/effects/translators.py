"""Translators for parameters that have another form in the provider: lists that a call adds to, maps and pairs, enum values, JSON text."""

from collections.abc import Callable, Mapping, Sequence

from gateway.core.model.json import Json, canonical, to_json
from gateway.effects.call_context import Target
from gateway.effects.limits import refuse_long_list
from gateway.effects.operation import Translate
from gateway.effects.schema import match
from gateway.effects.values import NotUnderstood, in_kind


def keyed(names: Mapping[str, str]) -> Translate:
    """Translates every key to its attribute: by `names` (key → attribute), else by the matcher. An unknown key is not understood."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        return dict(keyed_value(target, names, key, item) for key, item in _pairs(value))

    return translate


def keyed_value(target: Target, names: Mapping[str, str], key: str, value: object) -> tuple[str, Json]:
    """The attribute for `key`, and the value in the kind that the schema gives. Raises `NotUnderstood`."""
    attribute = names.get(key) or match(target.schema, (key,))
    if attribute is None:
        raise NotUnderstood(f"attribute {key}")
    return attribute, in_kind(value, target.schema.kinds[attribute])


def _pairs(value: object) -> list[tuple[str, object]]:
    if isinstance(value, Mapping):
        return [(str(key), item) for key, item in value.items()]
    if not isinstance(value, (list, tuple)) or any(
        not isinstance(pair, Mapping) or set(pair) - {"Key", "Value"} for pair in value
    ):
        raise NotUnderstood("attributes in an unknown form")
    return [(str(pair.get("Key")), pair.get("Value")) for pair in value]


def as_list(value: Json) -> list[Json]:
    """A copy of a recorded list or set; empty for any other value."""
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def recorded_list(target: Target, attribute: str) -> list[Json]:
    """The list or set that the state records; empty if it records none."""
    return as_list(target.recorded.get(attribute))


def joined(items: Sequence[Json], more: Sequence[Json]) -> list[Json]:
    """The items, then those of `more` that are not among them. Each item is looked up once, however many there are."""
    seen = {_key(item) for item in items}
    return [*items, *(item for item in more if _key(item) not in seen)]


def without(items: Sequence[Json], fewer: Sequence[Json]) -> list[Json]:
    """The items that are not in `fewer`."""
    gone = {_key(item) for item in fewer}
    return [item for item in items if _key(item) not in gone]


def _key(item: Json) -> str | bytes:
    """What two equal items have in common and a set can hold."""
    return item if isinstance(item, str) else canonical(item)


def added(attribute: str) -> Translate:
    """The recorded list with the members of the call appended."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: joined(recorded_list(target, attribute), _items(value))}

    return translate


def removed(attribute: str) -> Translate:
    """The recorded list without the members of the call."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: without(recorded_list(target, attribute), _items(value))}

    return translate


def comma_list(attribute: str) -> Translate:
    """Comma-separated text → list."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        parts = [part.strip() for part in str(value).split(",") if part.strip()]
        refuse_long_list(parts)
        return {attribute: parts}

    return translate


def name_value_map(attribute: str) -> Translate:
    """A list of `{Name, Value}` → map."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        pairs = value if isinstance(value, (list, tuple)) else [value]
        return {attribute: dict(_name_and_value(pair) for pair in pairs)}

    return translate


def _name_and_value(pair: object) -> tuple[str, str]:
    if not isinstance(pair, Mapping) or set(pair) != {"Name", "Value"}:
        raise NotUnderstood("pairs of name and value in an unknown form")
    return str(pair["Name"]), str(pair["Value"])


def first_of(attribute: str, member: str) -> Translate:
    """A list of at most one structure, which has only `member` → the value of that member."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        match value:
            case []:
                return {attribute: None}
            case [{**only}] if set(only) == {member}:
                return {attribute: to_json(only[member])}
            case _:
                raise NotUnderstood(f"more than one {member}")

    return translate


def ignored_if(*harmless: Json) -> Translate:
    """No effect for one of these values; any other value is not understood."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if value not in harmless:
            raise NotUnderstood("a value that the provider has no attribute for")
        return {}

    return translate


def mapped(values: Mapping[str, Json], attribute: str) -> Translate:
    """An enum value of AWS → the provider's value for it."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if not isinstance(value, str) or value not in values:
            raise NotUnderstood(f"an unknown value of {attribute}")
        return {attribute: values[value]}

    return translate


def as_json_text(attribute: str, dump: Callable[[Json], str]) -> Translate:
    """A structure → JSON text."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: dump(to_json(value))}

    return translate


def _items(value: object) -> list[Json]:
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("a value that is not a list where a list is expected")
    return [to_json(item) for item in value]
