"""Converts tags, in every form that AWS's services use, to the provider's `tags` map."""

from collections.abc import Mapping

from gateway.core.model.json import Json
from gateway.core.model.path import step_of
from gateway.effects.call_context import Target
from gateway.effects.operation import Identify, Operation, Translate
from gateway.effects.values import NotUnderstood

_PAIR_NAMES = (("Key", "Value"), ("key", "value"), ("TagKey", "TagValue"))


def tag_map(value: object) -> Mapping[str, str]:
    """The tags as key → value, from a map or a list of pairs. Raises `NotUnderstood`."""
    if isinstance(value, Mapping):
        return {str(key): str(item or "") for key, item in value.items()}
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("tags that are not a list")
    return dict(_pair(pair) for pair in value)


def _pair(pair: object) -> tuple[str, str]:
    for key, value in _PAIR_NAMES:
        if isinstance(pair, Mapping) and key in pair and not set(pair) - {key, value}:
            return str(pair[key]), str(pair.get(value) or "")
    raise NotUnderstood("a tag in an unknown form")


def set_tags(target: Target, value: object) -> Mapping[str, Json]:
    """Sets the tags of the call and leaves the others unchanged."""
    del target
    return _changes(tag_map(value))


def drop_tags(target: Target, keys: object) -> Mapping[str, Json]:
    """Removes the tags with these keys; `keys` may also be a list of pairs."""
    del target
    if not isinstance(keys, (list, tuple)):
        raise NotUnderstood("tag keys that are not a list")
    return _changes({key if isinstance(key, str) else _pair(key)[0]: None for key in keys})


def tag_rows(
    resource_type: str,
    identity: Mapping[str, str | Identify],
    *,
    tag: str = "TagResource",
    untag: str = "UntagResource",
    tags: str = "Tags",
    keys: str = "TagKeys",
) -> dict[str, Operation]:
    """The rows of the operations `tag` and `untag`, whose parameters `tags` and `keys` hold the tags and the keys to remove."""
    return {
        tag: Operation(resource_type=resource_type, identity=identity, attributes={tags: set_tags}),
        untag: Operation(resource_type=resource_type, identity=identity, attributes={keys: drop_tags}),
    }


def all_tags(target: Target, value: object) -> Mapping[str, Json]:
    """Replaces all tags: a recorded tag that is not in the call is removed."""
    return _changes({**dict.fromkeys(_recorded(target)), **tag_map(value)})


def specified_tags(kind: str, **others: str) -> Translate:
    """Translates EC2's TagSpecifications for a resource of this kind.

    `others` maps further kinds that the call creates (`volume`) to the attribute that holds their tags (`volume_tags`).
    """

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        found: dict[str, Json] = {}
        for entry in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(entry, Mapping) or set(entry) - {"ResourceType", "Tags"}:
                raise NotUnderstood("tag specifications in an unknown form")
            entry_kind, tags = str(entry.get("ResourceType")), entry.get("Tags") or []
            if entry_kind == kind:
                found |= set_tags(target, tags)
            elif entry_kind.replace("-", "_") in others:
                found[others[entry_kind.replace("-", "_")]] = tag_map(tags)
            else:
                raise NotUnderstood(f"tags of a {entry_kind}")
        return found

    return translate


def _recorded(target: Target) -> Mapping[str, Json]:
    tags = target.recorded.get("tags")
    return tags if isinstance(tags, Mapping) else {}


def _changes(changes: Mapping[str, Json]) -> Mapping[str, Json]:
    """One attribute per tag."""
    return {f"tags.{step_of(key)}": value for key, value in changes.items()}
