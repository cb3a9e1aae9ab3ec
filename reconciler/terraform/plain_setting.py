"""Values that are evidently settings, in attributes that may hold secrets: `LOG_LEVEL = "debug"` of a function's environment.

Such an attribute stays out of code unless every value in it is plain: a switch, a short number, a time, or a word or sentence under one of the
names listed here, and its name is not that of a secret. Whatever is not listed is left to a human, and so is what the code itself marks as sensitive.
"""

import re
from collections.abc import Mapping, Sequence

from gateway.model.json import Json
from reconciler.terraform.time_text import is_time_text

_SECRET_NAME = re.compile(
    r"pass|pwd|secret|token|key(?!ed)|cred|auth|private|cert|salt|hash|sign|seed|dsn|conn|login|user|pin\b|pin_|otp|mfa|license|code|access|unlock|vault"
    r"|nonce|webhook|cookie|session",
    re.IGNORECASE,
)
_SWITCH = re.compile(r"true|false|on|off|yes|no|enabled?|disabled?", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,6}")
_HARMLESS_NAMES = frozenset({
    "channel", "color", "colour", "encoding", "engine", "env", "environment", "format", "lang", "language", "level", "locale", "loglevel",
    "mode", "region", "stage", "strategy", "tier", "timezone", "tz", "variant",
})  # fmt: skip
"""The last words of names under which a word is no secret. Reviewed one by one: each has few values, which anyone may know."""
_WORD = re.compile(r"[A-Za-z]{1,16}|[A-Za-z]{1,12}[-_./][A-Za-z]{1,12}|[a-z]{2}(-[a-z]+){1,2}-\d")
"""A word, two of them (`Europe/Berlin`), or a region."""
_PUBLIC_NAMES = frozenset(
    {"announcement", "banner", "greeting", "headline", "motd", "notice", "slogan", "subtitle", "tagline", "title"}
)
"""The last words of names of texts that everyone is shown. Reviewed one by one: nobody keeps a secret under them."""
_SENTENCE = re.compile(r"(?=.{3,120}\Z)(?:[A-Za-z]{1,16}|\d{1,4})(?:[,;:]? (?:[A-Za-z]{1,16}|\d{1,4}))+[.!?]?")
"""Two or more words. A single one could be a password, whatever its name."""
_WORD_OF_A_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_FUNCTION = "aws_lambda_function"
"""The names of its variables are keys. Other environments list names beside values, so a value does not tell its name."""
_PARAMETER = ("aws_ssm_parameter", ("value", "insecure_value"))
_OPEN_TYPES = ("String", "StringList")


def is_plain_setting(resource_type: str, path: Sequence[str], value: Json, resource: Mapping[str, Json]) -> bool:
    """Whether a value that differs may be written, although the attribute may hold a secret; `resource` are the live attributes."""
    if resource_type == _FUNCTION:
        return _is_plain_environment(path, value)
    if resource_type == _PARAMETER[0] and path[0] in _PARAMETER[1]:
        return resource.get("type") in _OPEN_TYPES and _plain(str(resource.get("name") or "secret"), value)
    return False


def _is_plain_environment(path: Sequence[str], value: Json) -> bool:
    """Whether the environment of a function, its variables, or one of them is plain."""
    match tuple(step for step in path if not step.isdecimal()), value:
        case _, None:
            return True
        case ("environment", "variables", name), _:
            return _plain(name, value)
        case ("environment", "variables"), Mapping():
            return all(_plain(name, each) for name, each in value.items())
        case ("environment",), Mapping():
            return value.keys() <= {"variables"} and _is_plain_environment((*path, "variables"), value.get("variables"))
        case ("environment",), list():
            return all(isinstance(block, Mapping) and _is_plain_environment(path, block) for block in value)
    return False


def _plain(name: str, value: Json) -> bool:
    """Whether a single value under a name is plain."""
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, Mapping | list) or _SECRET_NAME.search(name):
        return False
    text = str(value)
    if _SWITCH.fullmatch(text) or _NUMBER.fullmatch(text) or is_time_text(text):
        return True
    last = next(reversed(_WORD_OF_A_NAME.findall(name)), "").lower()
    form = _WORD if last in _HARMLESS_NAMES else _SENTENCE if last in _PUBLIC_NAMES else None
    return form is not None and form.fullmatch(text) is not None
