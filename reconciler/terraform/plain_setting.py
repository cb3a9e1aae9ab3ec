"""Values that are evidently settings, in attributes that may hold secrets: `LOG_LEVEL = "debug"` of a function's environment.

Such an attribute stays out of code unless every value in it is plain: its name is not that of a secret, and it is a switch, a number, one or
two short words of small letters, or a region. No key, token or password that anyone would use looks so.
"""

import re
from collections.abc import Mapping, Sequence

from gateway.model.json import Json

_SECRET_NAME = re.compile(
    r"pass|pwd|secret|token|key|cred|auth|private|cert|salt|hash|sign|seed|dsn|conn|login|user|pin\b|otp|mfa|license",
    re.IGNORECASE,
)
_PLAIN_VALUE = re.compile(
    r"(true|false|on|off|-?\d{1,6}|[a-z]{1,16}|[A-Z]{1,8}|[a-z]{1,12}[-_./][a-z0-9]{1,10}|[a-z]{2}(-[a-z]+)+-\d)"
)
_LETTERS_AND_DIGITS = re.compile(r"(?=\w*[a-z])(?=\w*\d)\w{5,}")
_ENVIRONMENT = "environment"
_PARAMETER = ("aws_ssm_parameter", ("value", "insecure_value"))
_OPEN_TYPES = ("String", "StringList")


def is_plain_setting(resource_type: str, path: Sequence[str], value: Json, resource: Mapping[str, Json]) -> bool:
    """Whether a value that differs may be written, although the attribute may hold a secret; `resource` are the live attributes."""
    if path[0] == _ENVIRONMENT:
        return _plain(path[-1], value)
    if resource_type == _PARAMETER[0] and path[0] in _PARAMETER[1]:
        return resource.get("type") in _OPEN_TYPES and _plain(str(resource.get("name") or "secret"), value)
    return False


def _plain(name: str, value: Json) -> bool:
    match value:
        case Mapping():
            return all(_plain(key, item) for key, item in value.items())
        case list():
            return all(_plain(name, item) for item in value)
        case None | bool():
            return True
        case _:
            text = str(value)
            plain = _PLAIN_VALUE.fullmatch(text) is not None and _LETTERS_AND_DIGITS.search(text) is None
            return plain and _SECRET_NAME.search(name) is None
