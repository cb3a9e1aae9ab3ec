"""Lists that a call adds to or takes from, as the whole lists that result."""

from collections.abc import Callable, Mapping, Sequence

from gateway.effects.context import Target
from gateway.effects.operation import Translate
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json, to_json


def recorded_list(target: Target, attribute: str) -> list[Json]:
    """What the state records for a list or set, empty where nothing."""
    value = target.recorded.get(attribute)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def added(attribute: str) -> Translate:
    """The recorded members and those of the call."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        before = recorded_list(target, attribute)
        return {attribute: before + [item for item in _items(value) if item not in before]}

    return translate


def removed(attribute: str) -> Translate:
    """The recorded members without those of the call."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        gone = _items(value)
        return {attribute: [item for item in recorded_list(target, attribute) if item not in gone]}

    return translate


def comma_list(attribute: str) -> Translate:
    """A text with commas that the provider holds as a list."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: [part.strip() for part in str(value).split(",") if part.strip()]}

    return translate


def name_value_map(attribute: str) -> Translate:
    """A list of `{Name, Value}` that the provider holds as a map."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        pairs = value if isinstance(value, (list, tuple)) else [value]
        return {attribute: dict(_name_and_value(pair) for pair in pairs)}

    return translate


def _name_and_value(pair: object) -> tuple[str, str]:
    if not isinstance(pair, Mapping) or set(pair) != {"Name", "Value"}:
        raise NotUnderstood("pairs of name and value in a form nobody knows")
    return str(pair["Name"]), str(pair["Value"])


def first_of(attribute: str, member: str) -> Translate:
    """The one member of a list of structures that the provider holds as a plain value."""

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
    """A parameter without effect while it has one of these values; with another the call is not understood."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if value not in harmless:
            raise NotUnderstood("a value that the provider has no attribute for")
        return {}

    return translate


def mapped(values: Mapping[str, Json], attribute: str) -> Translate:
    """A word of AWS's that the provider writes differently."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        if not isinstance(value, str) or value not in values:
            raise NotUnderstood(f"a value of {attribute} that nobody knows")
        return {attribute: values[value]}

    return translate


def as_json_text(attribute: str, dump: Callable[[Json], str]) -> Translate:
    """A structure that the provider holds as JSON text."""

    def translate(_target: Target, value: object) -> Mapping[str, Json]:
        return {attribute: dump(to_json(value))}

    return translate


def _items(value: object) -> list[Json]:
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("no list where a list is expected")
    return [to_json(item) for item in value]
