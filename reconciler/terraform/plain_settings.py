"""Values that are evidently settings, in attributes that may hold secrets: `LOG_LEVEL = "debug"`, or texts that say only a time.

Such an attribute stays out of code unless every value in it is plain: a switch, a short number, a time, or a word or sentence under one of the
names listed here, and its name is not that of a secret. Whatever is not listed is left to a human, and so is what the code itself marks as sensitive.
"""

import re
from collections.abc import Mapping, Sequence

from gateway.core.model.json import Json
from gateway.terraform.secret_vocabulary import is_secret_name

_UNITS = r"(?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?"
_DAYS = r"mon(?:days?)?|tue(?:sdays?)?|wed(?:nesdays?)?|thu(?:rsdays?)?|fri(?:days?)?|sat(?:urdays?)?|sun(?:days?)?|weekdays?|weekends?"
_MONTHS = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_TIMES = r"hourly|daily|nightly|weekly|monthly|yearly|noon|midnight|night|morning|evening|am|pm|utc|gmt"
_NAMES = rf"{_UNITS}|{_DAYS}|{_MONTHS}|{_TIMES}"
_BETWEEN = r"every|each|at|on|and|to|from|until|till|in|of|the|between|through|first|last|never|always"
_TIME_NUMBER = rf"\d{{1,2}}(?::\d{{2}}){{0,2}}|20\d{{2}}|\d{{1,5}}(?=[ ](?:{_UNITS})\b)"
_TIME_SENTENCE = re.compile(
    rf"(?:{_NAMES}|{_BETWEEN}|{_TIME_NUMBER})(?:(?:, ?| |-)(?:{_NAMES}|{_BETWEEN}|{_TIME_NUMBER}))*", re.IGNORECASE
)
_TELLING = re.compile(rf"\b(?:{_NAMES}|{_BETWEEN})\b", re.IGNORECASE)
_RATE = re.compile(rf"rate\(\d{{1,5}} (?:{_UNITS})\)")
_FIELD = (
    rf"(?:\*|\?|L|W|(?:\d{{1,2}}|20\d{{2}}|{_DAYS}|{_MONTHS})[LW]?)(?:[-/,#](?:\d{{1,2}}|20\d{{2}}|{_DAYS}|{_MONTHS}))*"
)
_CRON = re.compile(rf"cron\({_FIELD}(?: {_FIELD}){{4,5}}\)|{_FIELD}(?: {_FIELD}){{4}}", re.IGNORECASE)
_DURATION = re.compile(r"(?:\d{1,5}(?:ms|s|m|h|d|w)){1,4}|P(?:\d{1,3}[YMWD])*(?:T(?:\d{1,4}[HMS]){1,3})?")
_MOST = 80
"""Characters of a text that is looked at."""


_SENSITIVE_WORD = re.compile(
    r"pass|secret|token|key(?!ed)|cred|auth|private|cert|salt|hash|sign|seed|conn|login|user|pin\b|pin_|otp|mfa|license|code|access|unlock|vault"
    r"|nonce|webhook|cookie|session",
    re.IGNORECASE,
)
"""Words anywhere in a name that keep a value out of code, beside the names of secrets: a value that is written is public for good."""
_SWITCH = re.compile(r"true|false|on|off|yes|no|enabled?|disabled?", re.IGNORECASE)
_SMALL_NUMBER = re.compile(r"-?\d{1,6}")
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?")
"""A time of the day: as many digits as a number that is taken for a setting."""
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
_PLAIN_SENTENCE = re.compile(r"(?=.{3,120}\Z)(?:[A-Za-z]{1,16}|\d{1,4})(?:[,;:]? (?:[A-Za-z]{1,16}|\d{1,4}))+[.!?]?")
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
    if isinstance(value, Mapping | list) or is_secret_name(name) or _SENSITIVE_WORD.search(name):
        return False
    text = str(value)
    if _SWITCH.fullmatch(text) or _SMALL_NUMBER.fullmatch(text) or _CLOCK.fullmatch(text) or is_time_text(text):
        return True
    last = next(reversed(_WORD_OF_A_NAME.findall(name)), "").lower()
    form = _WORD if last in _HARMLESS_NAMES else _PLAIN_SENTENCE if last in _PUBLIC_NAMES else None
    return form is not None and form.fullmatch(text) is not None


def is_time_text(text: str) -> bool:
    """Whether a text says a time, a span of time or a schedule, and nothing else. A number alone does not."""
    if len(text) > _MOST:
        return False
    if any(form.fullmatch(text) for form in (_RATE, _CRON, _DURATION)):
        return any(character.isdecimal() or character == "*" for character in text)
    return _TIME_SENTENCE.fullmatch(text) is not None and _TELLING.search(text) is not None
