"""Parses XML bodies of `rest-xml` into nested parameters. Namespaces are ignored, as by AWS's own servers."""

from typing import Any
from xml.etree.ElementTree import Element

from gateway.aws.door.protocols.values import check_members, from_text, refuse_unknown, refuse_value
from gateway.core.http.value_limits import check_name, path_below
from gateway.core.service_models import Shape


def structure(shape: Shape, element: Element, path: str, *, check: bool = True) -> dict[str, Any]:
    """The members of a structure in an element. `check=False`: the caller checks for required members."""
    children: dict[str, list[Element]] = {}
    for child in element:
        children.setdefault(_tag(child.tag), []).append(child)
    _no_text(element, path)
    result: dict[str, Any] = {}
    used: set[str] = set()
    for name, member in shape.members.items():
        if "location" in member.serialization:
            continue
        below = path_below(path, f".{name}")
        if member.serialization.get("xmlAttribute"):
            text = _attribute(element, str(member.serialization.get("name", name)))
            if text is not None:
                result[name] = from_text(member, text, below)
            continue
        key = next((key for key in _keys(name, member) if key in children and key not in used), None)
        if key is not None:
            used.add(key)
            result[name] = _member(member, children[key], below)
    for key in children.keys() - used:
        refuse_unknown(path, key)
    if check:
        check_members(shape, result, path, is_xml=True)
    return result


def value(shape: Shape, element: Element, path: str) -> Any:
    """The value of one element, validated against its shape."""
    match shape.type_name:
        case "structure":
            return structure(shape, element, path)
        case "list":
            _no_text(element, path)
            return [value(shape.member, child, path_below(path, f"[{place}]")) for place, child in enumerate(element)]
        case "map":
            return _map(shape, list(element), path)
    if len(element):
        refuse_value(path, f"must be a {shape.type_name}")
    return from_text(shape, element.text or "", path)


def _keys(name: str, member: Shape) -> tuple[str, ...]:
    own = str(member.serialization.get("name", name))
    if member.type_name == "list" and member.serialization.get("flattened"):
        return (own, str(member.member.serialization.get("name", own)))
    return (own,)


def _member(shape: Shape, elements: list[Element], path: str) -> Any:
    if shape.serialization.get("flattened") and shape.type_name == "list":
        return [value(shape.member, element, path_below(path, f"[{place}]")) for place, element in enumerate(elements)]
    if shape.serialization.get("flattened") and shape.type_name == "map":
        return _map(shape, elements, path)
    if len(elements) > 1:
        refuse_value(path, "was sent more than once", code="duplicate_parameter")
    return value(shape, elements[0], path)


def _map(shape: Shape, entries: list[Element], path: str) -> dict[str, Any]:
    key_name = str(shape.key.serialization.get("name", "key"))
    value_name = str(shape.value.serialization.get("name", "value"))
    result: dict[str, Any] = {}
    for entry in entries:
        parts = {_tag(child.tag): child for child in entry}
        if parts.keys() != {key_name, value_name} or len(entry) != len(parts):
            refuse_value(path, f"must have entries of {key_name} and {value_name}")
        key = value(shape.key, parts[key_name], path)
        check_name(key)
        if key in result:
            refuse_value(path, "names the same key twice", code="duplicate_parameter")
        result[key] = value(shape.value, parts[value_name], path_below(path, f".{key}"))
    return result


def _attribute(element: Element, name: str) -> str | None:
    local = name.rpartition(":")[2]
    return next((text for key, text in element.attrib.items() if _tag(key) == local), None)


def _tag(tag: str) -> str:
    return tag.rpartition("}")[2]


def _no_text(element: Element, path: str) -> None:
    if (element.text or "").strip() or any((child.tail or "").strip() for child in element):
        refuse_value(path or "body", "has text where elements must be")
