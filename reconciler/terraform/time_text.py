"""Texts that say a time and nothing else: `every 8 hours`, `at 4 and 16`, `cron(0 4 * * ? *)`, `15m`. All their words are listed here."""

import re

_UNITS = r"(?:milli)?seconds?|minutes?|hours?|days?|weeks?|months?|years?"
_DAYS = r"mon(?:days?)?|tue(?:sdays?)?|wed(?:nesdays?)?|thu(?:rsdays?)?|fri(?:days?)?|sat(?:urdays?)?|sun(?:days?)?|weekdays?|weekends?"
_MONTHS = r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
_TIMES = r"hourly|daily|nightly|weekly|monthly|yearly|noon|midnight|night|morning|evening|am|pm|utc|gmt"
_NAMES = rf"{_UNITS}|{_DAYS}|{_MONTHS}|{_TIMES}"
_BETWEEN = r"every|each|at|on|and|to|from|until|till|in|of|the|between|through|first|last|never|always"
_NUMBER = rf"\d{{1,2}}(?::\d{{2}}){{0,2}}|20\d{{2}}|\d{{1,5}}(?=[ ](?:{_UNITS})\b)"
_SENTENCE = re.compile(
    rf"(?:{_NAMES}|{_BETWEEN}|{_NUMBER})(?:(?:, ?| |-)(?:{_NAMES}|{_BETWEEN}|{_NUMBER}))*", re.IGNORECASE
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


def is_time_text(text: str) -> bool:
    """Whether a text says a time, a span of time or a schedule, and nothing else. A number alone does not."""
    if len(text) > _MOST:
        return False
    if any(form.fullmatch(text) for form in (_RATE, _CRON, _DURATION)):
        return any(character.isdecimal() or character == "*" for character in text)
    return _SENTENCE.fullmatch(text) is not None and _TELLING.search(text) is not None
