r"""Parses the motive that a caller states, by the same rules at every door: intent, motivation, evidence, duration, free text.

At the AWS door the motive is in two signed headers. The second is a structured field similar to RFC 8941:

    x-sentinel-intent: availability
    x-sentinel-motivation: incident; evidence=ALERT-42, https://status.example/7; wanted_for=1h; text="queue is 40 minutes behind"

`evidence` is a comma-separated list. `wanted_for` (`for`, its old name, is accepted too) is `90s`, `30m`, `1h`, `2d`, `1w` or a sequence of them (`1h30m`), at most a year. A value
that contains `;` or `"` is quoted, with `\"` and `\\` as escapes. Text outside ASCII is sent as `text*=UTF-8''…` (RFC 8187).
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from typing import Any, NoReturn, TypeVar
from urllib.parse import unquote

from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent, Motivation, Motive

MAX_TEXT = 1000
MAX_EVIDENCE = 10
MAX_REFERENCE = 200
MAX_DURATION = timedelta(days=365)
INTENT_HEADER = "x-sentinel-intent"
MOTIVATION_HEADER = "x-sentinel-motivation"

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(?:[0-9]{1,8}[smhdw])+")
_PART = re.compile(r"([0-9]{1,8})([smhdw])")
_PARAMETER = re.compile(r'\s*;\s*([a-z_]+\*?)\s*=\s*(?:"((?:[^"\\]|\\["\\])*)"|([^";]*))')
_TOKEN = re.compile(r"\s*([^\s;]+)")
_EXTENDED = "UTF-8''"
_Enum = TypeVar("_Enum", bound=StrEnum)


def motive_of(
    *,
    intent: str,
    motivation: str,
    text: str = "",
    evidence: Sequence[str] = (),
    wanted_for: str = "",
) -> Motive:
    """The motive with these members. Raises `errors.Malformed` with a sentence that lists the allowed values."""
    mistakes = [*_mistakes_of_texts(text, evidence)]
    values: list[Any] = []
    for read in (
        lambda: _member(Intent, "intent", intent),
        lambda: _member(Motivation, "motivation", motivation),
        lambda: duration(wanted_for, "`wanted_for`") if wanted_for else None,
    ):
        try:
            values.append(read())
        except Malformed as error:
            mistakes.append(str(error))
    if mistakes:
        refuse_motive(" ".join(mistakes))
    goal, why, wanted = values
    return Motive(intent=goal, motivation=why, text=text, evidence=tuple(evidence), wanted_for=wanted)


def _mistakes_of_texts(text: str, evidence: Sequence[str]) -> Iterator[str]:
    if len(text) > MAX_TEXT:
        yield f"`text` has {len(text)} characters; at most {MAX_TEXT} are allowed."
    if len(evidence) > MAX_EVIDENCE or any(
        not reference.strip() or len(reference) > MAX_REFERENCE for reference in evidence
    ):
        yield f"`evidence` names at most {MAX_EVIDENCE} references, each of 1 to {MAX_REFERENCE} characters."
    for name, parts in (("text", (text,)), ("evidence", evidence)):
        if any(not character.isprintable() and character != "\n" for part in parts for character in part):
            yield f"`{name}` contains a control character."


@lru_cache(maxsize=64)  # a caller says the same of many changes
def read_motive(intent: str, motivation: str) -> Motive:
    """The motive that the two header fields state. Raises `errors.Malformed`."""
    token = _TOKEN.match(motivation)
    if token is None:
        refuse_motive(f"The motivation is empty; it must begin with one of {_alternatives(Motivation)}.")
    given = _parameters(motivation, token.end())
    if unknown := given.keys() - {"text", "evidence", "for", "wanted_for"}:
        named = ", ".join(f"`{each[:40]}`" for each in sorted(unknown)[:MAX_EVIDENCE])
        refuse_motive(
            f"Sentinel does not know the parameter {named} of a motivation; it knows evidence, text and wanted_for."
        )
    if {"for", "wanted_for"} <= given.keys():
        refuse_motive("The motivation states `wanted_for` twice: `for` is its old name.")
    evidence = [part.strip() for part in given["evidence"].split(",")] if "evidence" in given else []
    return motive_of(
        intent=intent.strip(),
        motivation=token[1],
        text=given.get("text", ""),
        evidence=evidence,
        wanted_for=given.get("wanted_for", given.get("for", "")),
    )


def duration(text: str, what: str = "A duration") -> timedelta:
    """The duration that `90s`, `30m`, `1h`, `2d`, `1w` or a sequence of them states: more than 0 and at most 365 days.

    `what` names it in errors. Raises `errors.Malformed`.
    """
    if not _DURATION.fullmatch(text):
        refuse_motive(f"{what} cannot be {text[:40]!r}; write 90s, 30m, 1h, 2d, 1w or 1h30m.")
    seconds = sum(int(number) * _UNITS[unit] for number, unit in _PART.findall(text))
    if not 0 < seconds <= MAX_DURATION.total_seconds():
        refuse_motive(f"{what} must be more than 0 seconds and at most 365 days.")
    return timedelta(seconds=seconds)


def _parameters(text: str, position: int) -> dict[str, str]:
    given: dict[str, str] = {}
    while position < len(text.rstrip()):
        found = _PARAMETER.match(text, position)
        if found is None:
            refuse_motive('The motivation is not of the form `incident; evidence=ALERT-42; wanted_for=1h; text="why"`.')
        name, quoted, plain = found.groups()
        value = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain.strip()
        if name.endswith("*"):
            name, value = name[:-1], _extended(value)
        if name in given:
            refuse_motive(f"The motivation states {name} twice.")
        given[name] = value
        position = found.end()
    return given


def _extended(value: str) -> str:
    if not value.upper().startswith(_EXTENDED):
        refuse_motive("The value of a parameter whose name ends in * must begin with UTF-8''.")
    try:
        return unquote(value[len(_EXTENDED) :], errors="strict")
    except UnicodeDecodeError:
        refuse_motive("The value of a parameter whose name ends in * is not percent-encoded UTF-8.")


def _member(enum: type[_Enum], name: str, value: str) -> _Enum:
    try:
        return enum(value)
    except ValueError:
        refuse_motive(f"{value[:40]!r} is not an allowed {name}; the {name} is one of {_alternatives(enum)}.")


def _alternatives(enum: type[StrEnum]) -> str:
    """E.g. `a, b or c`."""
    *first, last = (member.value for member in enum)
    return f"{', '.join(first)} or {last}"


def refuse_motive(reason: str) -> NoReturn:
    """Raise `errors.Malformed` about a motive."""
    raise Malformed(reason, aws_code="ValidationError", code="motive")
