"""Reads the documents inside calls: JSON or YAML, each limited in size, and refused where two readers may differ on what it says."""

import json
from collections.abc import Mapping
from typing import Any

from gateway.core.model.json import is_ambiguous
from gateway.effects.limits import refuse_too_large
from gateway.effects.values import NotUnderstood

_LONGEST_YAML = 65_536
"""Characters. CloudFormation takes 51,200 in a call and Systems Manager 64 kB; the reader of YAML is slow."""
_DEEPEST = 60
_LONGEST_NUMBER = 20


def json_object(text: object, what: str) -> Mapping[str, Any]:
    """The members of a JSON object. Raises `NotUnderstood`, `errors.CallTooLarge`."""
    if not isinstance(text, str):
        raise NotUnderstood(f"{what} is not text")
    found = _json(text, what)
    if not isinstance(found, Mapping):
        raise NotUnderstood(f"{what} is not a JSON object")
    refuse_too_large(found, ())
    return found


def _json(text: str, what: str) -> object:
    if is_ambiguous(text):
        raise NotUnderstood(f"{what} names a member twice, or is nested too deeply")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise NotUnderstood(f"{what} is not a JSON document") from None


def json_list(text: object, what: str) -> list[Any]:
    """The items of a JSON array. Raises `NotUnderstood`, `errors.CallTooLarge`."""
    found = _json(text, what) if isinstance(text, str) else None
    if not isinstance(found, list):
        raise NotUnderstood(f"{what} is not a JSON array")
    refuse_too_large({"": found}, ())
    return found


def document(text: object, what: str) -> Mapping[str, Any]:
    """The members of a document in JSON or YAML. A short form of CloudFormation (`!Ref a`) becomes its long form (`{"Ref": "a"}`).

    Raises `NotUnderstood`, `errors.CallTooLarge`.
    """
    if isinstance(text, str) and text.lstrip()[:1] == "{":
        return json_object(text, what)
    if not isinstance(text, str) or len(text) > _LONGEST_YAML:
        raise NotUnderstood(f"{what} is not text, or is YAML of more than {_LONGEST_YAML} characters")
    found = _yaml(text, what)
    if not isinstance(found, Mapping):
        raise NotUnderstood(f"{what} is not a document with members")
    refuse_too_large(found, ())
    return found


def _yaml(text: str, what: str) -> object:
    import yaml  # noqa: PLC0415  most calls have no YAML

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        raise NotUnderstood(f"{what} is neither JSON nor YAML") from None
    return None if node is None else _plain(node, what, set(), 0)


def _plain(node: Any, what: str, seen: set[int], depth: int) -> object:
    """The value of a node. An alias is refused: a document of a few lines with aliases may stand for billions of values."""
    import yaml  # noqa: PLC0415

    if id(node) in seen or depth > _DEEPEST:
        raise NotUnderstood(f"{what} has aliases, or is nested too deeply")
    seen.add(id(node))
    value: object
    if isinstance(node, yaml.MappingNode):
        members: dict[str, object] = {}
        for key, item in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge" or key.value in members:
                raise NotUnderstood(f"{what} names a member twice, or has a key that is no text")
            members[key.value] = _plain(item, what, seen, depth + 1)
        value = members
    elif isinstance(node, yaml.SequenceNode):
        value = [_plain(item, what, seen, depth + 1) for item in node.value]
    else:
        value = _scalar(node, what)
    if node.tag.startswith("!"):
        name = node.tag[1:]
        return {name if name in {"Ref", "Condition"} else f"Fn::{name}": value}
    return value


def _scalar(node: Any, what: str) -> object:
    """Text, a number, true, false or null. Other forms of YAML 1.1 (a date, 0o17, `yes`) are read in different ways by different readers."""
    match node.tag:
        case "tag:yaml.org,2002:null":
            return None
        case "tag:yaml.org,2002:int" if node.value.lstrip("-").isascii() and _is_plain_number(node.value):
            return int(node.value)
        case "tag:yaml.org,2002:float":
            return float(node.value)
        case "tag:yaml.org,2002:bool" if node.value.lower() in ("true", "false"):
            return bool(node.value.lower() == "true")
        case "tag:yaml.org,2002:int" | "tag:yaml.org,2002:bool" | "tag:yaml.org,2002:binary":
            raise NotUnderstood(f"{what} has a value that readers of YAML differ on; put it into quotes")
        case _:
            return str(node.value)


def _is_plain_number(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits == "0" or (digits.isdigit() and not digits.startswith("0") and len(digits) < _LONGEST_NUMBER)
