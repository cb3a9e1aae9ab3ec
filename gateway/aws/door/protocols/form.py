"""Parses the two form protocols, `query` and `ec2`: flat dotted keys into nested parameters."""

from collections.abc import Mapping
from typing import Any, TypeAlias

from gateway.aws.door.protocols.values import check_members, from_text, refuse_unknown, refuse_value
from gateway.core.http.value_limits import MAX_DEPTH, check_name, path_below
from gateway.core.service_models import Shape

Node: TypeAlias = "str | dict[str, Node]"

MAX_INDEX = 10_000
_INDEX_DIGITS = 5
_ENVELOPE = frozenset({"Action", "Version"})
_ITSELF = ""


def parse(shape: Shape | None, fields: Mapping[str, str], *, ec2: bool) -> dict[str, Any]:
    """The parameters of a form. Raises `errors.Malformed` for whatever does not fit the shape."""
    tree = _tree(fields)
    if shape is None:
        for name in tree:
            refuse_unknown("", name)
        return {}
    return _structure(shape, tree, "", ec2=ec2)


def _tree(fields: Mapping[str, str]) -> dict[str, Node]:
    """The fields as nested mappings. A key that has both a value and children keeps its value under `_ITSELF`."""
    root: dict[str, Node] = {}
    for key, value in fields.items():
        if key in _ENVELOPE:
            continue
        *parents, leaf = key.split(".")
        if len(parents) > MAX_DEPTH:
            refuse_value(key[:100], "is nested too deep", code="depth")
        node = root
        for part in parents:
            child = node.get(part)
            if not isinstance(child, dict):
                child = node[part] = {} if child is None else {_ITSELF: child}
            node = child
        existing = node.get(leaf)
        if isinstance(existing, dict):
            existing[_ITSELF] = value
        else:
            node[leaf] = value
    return root


def _structure(shape: Shape, node: Node, path: str, *, ec2: bool) -> dict[str, Any]:
    if not isinstance(node, dict):
        if node:
            refuse_value(path, "must be a structure")
        node = {}
    result: dict[str, Any] = {}
    used: set[str] = set()
    for name, member in shape.members.items():
        for key in _keys(name, member, ec2=ec2):
            if key in node and key not in used:
                used.add(key)
                result[name] = _value(member, node[key], path_below(path, f".{name}"), ec2=ec2)
                break
    for key in node.keys() - used:
        refuse_unknown(path, key)
    check_members(shape, result, path, is_form=True)
    return result


def _keys(name: str, member: Shape, *, ec2: bool) -> tuple[str, ...]:
    """The possible names of a member on the wire. A flattened list has the name of its items, or its own name if it is empty."""
    serialization = member.serialization
    if ec2:
        key = str(serialization.get("name", name))
        return (str(serialization.get("queryName", key[0].upper() + key[1:])),)
    own = str(serialization.get("name", name))
    if member.type_name == "list" and serialization.get("flattened"):
        return (str(member.member.serialization.get("name", own)), own)
    return (own,)


def _value(shape: Shape, node: Node, path: str, *, ec2: bool) -> Any:
    match shape.type_name:
        case "structure":
            return _structure(shape, node, path, ec2=ec2)
        case "list":
            return _list(shape, node, path, ec2=ec2)
        case "map":
            return _map(shape, node, path, ec2=ec2)
    if isinstance(node, dict):
        refuse_value(path, f"must be a {shape.type_name}")
    return from_text(shape, node, path)


def _list(shape: Shape, node: Node, path: str, *, ec2: bool) -> list[Any]:
    if node == "":
        return []
    if not (ec2 or shape.serialization.get("flattened")):
        node = _only(node, str(shape.member.serialization.get("name", "member")), path)
    return [
        _value(shape.member, item, path_below(path, f"[{place}]"), ec2=ec2)
        for place, item in enumerate(_numbered(node, path))
    ]


def _map(shape: Shape, node: Node, path: str, *, ec2: bool) -> dict[str, Any]:
    if node == "":
        return {}
    if not shape.serialization.get("flattened"):
        node = _only(node, "entry", path)
    key_name = str(shape.key.serialization.get("name", "key"))
    value_name = str(shape.value.serialization.get("name", "value"))
    result: dict[str, Any] = {}
    for entry in _numbered(node, path):
        if not isinstance(entry, dict) or key_name not in entry or entry.keys() - {key_name, value_name}:
            refuse_value(path, f"must have entries of {key_name} and {value_name}")
        key = _value(shape.key, entry[key_name], path, ec2=ec2)
        check_name(key)
        if key in result:
            refuse_value(path, "names the same key twice", code="duplicate_parameter")
        result[key] = _value(shape.value, entry.get(value_name, ""), path_below(path, f".{key}"), ec2=ec2)
    return result


def _only(node: Node, name: str, path: str) -> Node:
    if not isinstance(node, dict):
        refuse_value(path, "must be a list")
    for key in node.keys() - {name}:
        refuse_unknown(path, key)
    return node[name]


def _numbered(node: Node, path: str) -> list[Node]:
    """The items of `{"1": …, "2": …}` in order. Gaps are allowed, because AWS accepts them."""
    if not isinstance(node, dict):
        refuse_value(path, "must be numbered from 1")
    numbered: dict[int, Node] = {}
    for key, item in node.items():
        if not (key.isascii() and key.isdigit()) or (key.startswith("0") and key != "0"):
            refuse_unknown(path, key)
        if len(key) > _INDEX_DIGITS or int(key) > MAX_INDEX:
            refuse_value(path, f"has an index over {MAX_INDEX}", code="index")
        numbered[int(key)] = item
    return [numbered[place] for place in sorted(numbered)]
