"""Parses JSON and CBOR bodies, whose values already have types."""

from typing import Any

from gateway.aws.door.protocols.values import check_members, from_typed, refuse_unknown, refuse_value
from gateway.core.http.value_limits import path_below
from gateway.core.service_models import Shape

_RESERVED = frozenset({"__type"})
"""Members that SDKs may add and that services ignore (Smithy, AWS JSON protocols)."""


def parse(shape: Shape | None, document: Any) -> dict[str, Any]:
    """The parameters in a body that is one document. Raises `errors.Malformed` for whatever does not fit the shape."""
    if not isinstance(document, dict):
        refuse_value("body", "must be an object")
    if shape is None:
        for name in document.keys() - _RESERVED:
            refuse_unknown("", str(name))
        return {}
    return structure(shape, document, "")


def structure(shape: Shape, document: Any, path: str, *, check: bool = True) -> dict[str, Any]:
    """The members of a structure that are bound to the body. `check=False`: the caller checks for required members, because it has the others."""
    if not isinstance(document, dict):
        refuse_value(path, "must be an object")
    result: dict[str, Any] = {}
    for key, item in document.items():
        name = _member_name(shape, key)
        if name is None:
            if key not in _RESERVED:
                refuse_unknown(path, str(key))
        elif item is not None:
            result[name] = value(shape.members[name], item, path_below(path, f".{name}"))
    if check:
        check_members(shape, result, path)
    return result


def _member_name(shape: Shape, key: str) -> str | None:
    """The member that is called `key` on the wire, None if there is none. Most have their own name there, so a search is rare."""
    member = shape.members.get(key)
    if member is not None and _is_called(member, key, key):
        return key
    return next((name for name, member in shape.members.items() if _is_called(member, name, key)), None)


def _is_called(member: Shape, name: str, key: str) -> bool:
    return "location" not in member.serialization and member.serialization.get("name", name) == key


def value(shape: Shape, item: Any, path: str) -> Any:
    """A value of a document, validated against its shape."""
    match shape.type_name:
        case "structure" if shape.is_document_type:
            return item
        case "structure":
            return structure(shape, item, path)
        case "list":
            if not isinstance(item, list):
                refuse_value(path, "must be a list")
            return [value(shape.member, element, path_below(path, f"[{place}]")) for place, element in enumerate(item)]
        case "map":
            if not isinstance(item, dict):
                refuse_value(path, "must be a map")
            return {key: value(shape.value, element, path_below(path, f".{key}")) for key, element in item.items()}
    return from_typed(shape, item, path)
