"""The data of the policies as its files have it, before opa sees them."""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway.errors import PolicyInvalid
from gateway.policy.data_schema import check_data

_FOLDER: Final = "data/"


def check_data_files(files: Mapping[str, bytes]) -> None:
    """Validate `data/*.json` among the sources of a bundle. Raises `errors.PolicyInvalid` with the file and, where it is no JSON, the line."""
    content: dict[str, Any] = {}
    for name, text in sorted(files.items()):
        if name.startswith(_FOLDER) and name.endswith(".json"):
            content.update(_members(name, text))
    check_data({"data": content})


def _members(name: str, text: bytes) -> Mapping[str, Any]:
    try:
        members = json.loads(text)
    except json.JSONDecodeError as error:
        raise PolicyInvalid(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}.") from error
    except ValueError as error:
        raise PolicyInvalid(f"{name}: not JSON: {error}.") from error
    if not isinstance(members, dict):
        raise PolicyInvalid(f"{name}:1: not a JSON object.")
    return members
