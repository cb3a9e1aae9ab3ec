"""Tags, in every form that AWS's services write them, as the provider's `tags` map."""

from collections.abc import Mapping

from gateway.effects.context import Target
from gateway.effects.operation import Translate
from gateway.effects.values import NotUnderstood
from gateway.model.json import Json

_NAMES = (("Key", "Value"), ("key", "value"), ("TagKey", "TagValue"))


def tag_map(value: object) -> Mapping[str, str]:
    """Key → value, from a map or from a list of pairs. Raises `NotUnderstood`."""
    if isinstance(value, Mapping):
        return {str(key): str(item or "") for key, item in value.items()}
    if not isinstance(value, (list, tuple)):
        raise NotUnderstood("tags that are no list")
    return dict(_pair(pair) for pair in value)


def _pair(pair: object) -> tuple[str, str]:
    for key, value in _NAMES:
        if isinstance(pair, Mapping) and key in pair and not set(pair) - {key, value}:
            return str(pair[key]), str(pair.get(value) or "")
    raise NotUnderstood("a tag in a form nobody knows")


def set_tags(target: Target, value: object) -> Mapping[str, Json]:
    """The tags of the call, all others as they are."""
    return _changes(target, tag_map(value))


def drop_tags(target: Target, keys: object) -> Mapping[str, Json]:
    """The tags with these keys gone; `keys` may also be pairs."""
    if not isinstance(keys, (list, tuple)):
        raise NotUnderstood("tag keys that are no list")
    return _changes(target, {key if isinstance(key, str) else _pair(key)[0]: None for key in keys})


def all_tags(target: Target, value: object) -> Mapping[str, Json]:
    """The tags of the call and no others: what is recorded and not in the call is gone."""
    return _changes(target, {**dict.fromkeys(_recorded(target)), **tag_map(value)})


def specified_tags(kind: str, **others: str) -> Translate:
    """EC2's TagSpecifications for the thing of this kind; `others` name the attribute that holds the tags of what is made with it."""

    def translate(target: Target, value: object) -> Mapping[str, Json]:
        found: dict[str, Json] = {}
        for entry in value if isinstance(value, (list, tuple)) else [value]:
            if not isinstance(entry, Mapping) or set(entry) - {"ResourceType", "Tags"}:
                raise NotUnderstood("tag specifications in a form nobody knows")
            about, tags = str(entry.get("ResourceType")), entry.get("Tags") or []
            if about == kind:
                found |= set_tags(target, tags)
            elif about.replace("-", "_") in others:
                found[others[about.replace("-", "_")]] = tag_map(tags)
            else:
                raise NotUnderstood(f"tags of a {about}")
        return found

    return translate


def _recorded(target: Target) -> Mapping[str, Json]:
    tags = target.recorded.get("tags")
    return tags if isinstance(tags, Mapping) else {}


def _changes(target: Target, changes: Mapping[str, Json]) -> Mapping[str, Json]:
    """One entry per key; the whole map where a key has a dot, which an attribute path could not tell from a step."""
    if not any("." in key for key in changes):
        return {f"tags.{key}": value for key, value in changes.items()}
    whole = {**_recorded(target), **changes}
    return {"tags": {key: value for key, value in whole.items() if value is not None}}
