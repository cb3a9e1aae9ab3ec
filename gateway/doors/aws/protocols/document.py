"""JSON and CBOR bodies: documents that already have types."""

from typing import Any

from gateway.doors.aws.protocols.values import check_members, from_typed, unknown, wrong
from gateway.service_models import Shape

_RESERVED = frozenset({"__type"})
"""Members that SDKs may add and services ignore (Smithy, AWS JSON protocols)."""


def parse(shape: Shape | None, document: Any) -> dict[str, Any]:
    """The parameters of a whole-body document. Raises `errors.Malformed` for what does not fit the shape."""
    if not isinstance(document, dict):
        wrong("body", "must be an object")
    if shape is None:
        for name in document.keys() - _RESERVED:
            unknown("", str(name))
        return {}
    return structure(shape, document, "")


def structure(shape: Shape, document: Any, path: str, *, check: bool = True) -> dict[str, Any]:
    """The members of a structure that stand in the body. `check=False` leaves the required ones to the caller, who knows the rest."""
    if not isinstance(document, dict):
        wrong(path, "must be an object")
    result: dict[str, Any] = {}
    known = {
        member.serialization.get("name", name): (name, member)
        for name, member in shape.members.items()
        if "location" not in member.serialization
    }
    for key, item in document.items():
        if key not in known:
            if key not in _RESERVED:
                unknown(path, str(key))
        elif item is not None:
            name, member = known[key]
            result[name] = value(member, item, f"{path}.{name}" if path else name)
    if check:
        check_members(shape, result, path)
    return result


def value(shape: Shape, item: Any, path: str) -> Any:
    """A value of a document, held against its shape."""
    match shape.type_name:
        case "structure" if shape.is_document_type:
            return item
        case "structure":
            return structure(shape, item, path)
        case "list":
            if not isinstance(item, list):
                wrong(path, "must be a list")
            return [value(shape.member, element, f"{path}[{place}]") for place, element in enumerate(item)]
        case "map":
            if not isinstance(item, dict):
                wrong(path, "must be a map")
            return {key: value(shape.value, element, f"{path}.{key}") for key, element in item.items()}
    return from_typed(shape, item, path)
