"""Attributes that a call carries in a map or a list of key-value pairs, not as parameters of their own."""

from collections.abc import Mapping

from gateway.effects.context import Target
from gateway.effects.matcher import match
from gateway.effects.operation import Translate
from gateway.effects.values import NotUnderstood, in_kind
from gateway.model.json import Json


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
