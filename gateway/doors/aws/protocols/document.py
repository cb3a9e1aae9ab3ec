"""Parses JSON and CBOR bodies, whose values already have types."""

from typing import Any

from gateway.doors.aws.protocols.values import check_members, from_typed, refuse_unknown, refuse_value
from gateway.service_models import Shape

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
    known = {
        member.serialization.get("name", name): (name, member)
        for name, member in shape.members.items()
        if "location" not in member.serialization
    }
    for key, item in document.items():
        if key not in known:
            if key not in _RESERVED:
                refuse_unknown(path, str(key))
        elif item is not None:
            name, member = known[key]
            result[name] = value(member, item, f"{path}.{name}" if path else name)
    if check:
        check_members(shape, result, path)
    return result


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
            return [value(shape.member, element, f"{path}[{place}]") for place, element in enumerate(item)]
        case "map":
            if not isinstance(item, dict):
                refuse_value(path, "must be a map")
            return {key: value(shape.value, element, f"{path}.{key}") for key, element in item.items()}
    return from_typed(shape, item, path)
