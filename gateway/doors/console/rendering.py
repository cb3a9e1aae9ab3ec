"""Renders the templates, with addresses of static files that name their content. Every value is escaped and its invisible characters are made visible."""

import hashlib
import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from itertools import cycle
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gateway.core.model.json import Json

HTMX_SHA256: Final = "6d3815c7535b75f4b37e90fcab8a827cd58a5a02a3b44050fb021f15955d58d2"
"""Of `static/htmx.js`: htmx.org 4.0.1 from npm, `dist/htmx.min.js` and `dist/ext/hx-sse.min.js` in one file. In two files, htmx could start
before its extension is there, and would then never open a stream."""

_TYPES: Final[Mapping[str, str]] = {
    "htmx.js": "text/javascript; charset=utf-8",
    "console.js": "text/javascript; charset=utf-8",
    "console.css": "text/css; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticFile:
    """A file that pages load."""

    content: bytes
    kind: str
    version: str
    """Part of its address, so that a changed file has another one."""


@cache
def static_files() -> Mapping[str, StaticFile]:
    """Every file by its name."""
    folder = files("gateway.doors.console") / "static"
    return {name: _file(_needed((folder / name).read_bytes(), name), kind) for name, kind in _TYPES.items()}


def _needed(content: bytes, name: str) -> bytes:
    """What a browser needs of a file: without indents and lines of comment, a style sheet also without blanks at its marks."""
    without = _INDENT.sub(b"", content)
    return _BLANKS.sub(rb"\1", without) if name.endswith(".css") else without


def _file(content: bytes, kind: str) -> StaticFile:
    return StaticFile(content=content, kind=kind, version=hashlib.sha256(content).hexdigest()[:12])


_INDENT: Final = re.compile(rb"^ *//.*\n|^ +", re.MULTILINE)
"""Indents and lines of comment: no file has a text over several lines."""
_BLANKS: Final = re.compile(rb"\s*([{};,])\s*|(?<=:)\s+")
"""Blanks of a style sheet that mean nothing. It has no texts with such marks; before a colon a blank means something."""
_LONGEST: Final = 20_000
"""Characters of one value on a page."""
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86_400
_UNITS: Final = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s"))


def environment() -> Environment:
    """The templates, each parsed at its first use."""
    made = Environment(
        loader=PackageLoader("gateway.doors.console"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        value=value_text,
        moment=moment,
        ago=ago,
        standing=standing,
        lasts=duration_text,
        short=short,
        brief=brief,
        shell=shell,
        quoted=shlex.quote,
        plural=plural,
        sentence=sentence,
        one_line=one_line,
        words=words,
    )
    return made


def visible(value: Any) -> Any:
    """The value with every character visible: what steers a terminal, hides, or turns the direction of writing is shown as its escape."""
    if isinstance(value, Markup) or not isinstance(value, str) or value.isprintable():
        return value
    return "".join(
        character if character.isprintable() or character in "\n\t" else ascii(character)[1:-1] for character in value
    )


def value_text(value: Json) -> str:
    """A value as it would be written in JSON, on one line if that is short."""
    if value is None:
        return "null"
    if isinstance(value, Mapping) and value.keys() & {"hmac_sha256", "sha256"} and len(value) == 1:
        return "(secret)"
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if isinstance(value, dict | list) and len(text) > 80:  # noqa: PLR2004  the width of a column
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, indent=2)
    return short(text, _LONGEST)


def one_line(value: Json, most: int) -> str:
    """A value as JSON on one line, cut to this many characters: for lists whose row leads to the whole of it."""
    return brief(" ".join(value_text(value).split()), most)


def sentence(text: str) -> Markup:
    """A sentence of Sentinel's own as HTML: what stands between two backticks is code, everything else is text."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # the last one is not closed
        parts[-2:] = ["`".join(parts[-2:])]
    return Markup("").join(
        Markup("<code>{}</code>").format(visible(part)) if odd else visible(part)
        for part, odd in zip(parts, cycle((False, True)), strict=False)
    )


def words(name: str) -> str:
    """A name of the code as words: `ground_truth` is "ground truth"."""
    return name.replace("_", " ")


def short(text: str, most: int) -> str:
    """The text, cut to this many characters with a note of how many are left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def brief(text: str, most: int) -> str:
    """The beginning of a text in a list whose row leads to the whole of it."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def moment(time: str | datetime | None) -> Markup:
    """A time in UTC to the second, marked up for programs."""
    if time is None:
        return Markup("–")
    at = datetime.fromisoformat(time) if isinstance(time, str) else time
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{at:%Y-%m-%d %H:%M:%S}")


def ago(time: str | datetime | None, now: datetime) -> Markup:
    """How long before `now` a time was, in its largest unit; the exact time in UTC is shown on hover and given to programs."""
    if time is None:
        return Markup("–")
    at = (datetime.fromisoformat(time) if isinstance(time, str) else time).astimezone(UTC)
    left = (now - at).total_seconds()
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(left) >= size), (_SECOND, "s"))
    count = int(abs(left) // size)
    text = "just now" if not count else f"{count} {unit} ago" if left > 0 else f"in {count} {unit}"
    exact = f"{at:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" title="{}">{}</time>').format(f"{at:%Y-%m-%dT%H:%M:%SZ}", exact, text)


def standing(path: Sequence[Mapping[str, Any]]) -> str:
    """Where a mutation stands beyond its verdict and outcome, in a few words, from the marks of its path; empty if these say it all."""
    for mark in path:
        if mark["state"] == "stopped":
            return "left to a person" if mark["name"] == "in code" else ""
        if mark["state"] == "waits":
            return _WAITING.get(mark["name"], "")
    return "merged" if path[-1]["state"] == "done" else ""


_WAITING: Final[Mapping[str, str]] = {
    "in code": "not in code yet",
    "merged": "not merged yet",
}


def duration_text(seconds: float | None) -> str:
    """How long something lasts, in its largest two units."""
    if seconds is None:
        return "–"
    left = int(timedelta(seconds=seconds).total_seconds())
    parts = []
    for size, name in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or "0 s"


def plural(count: int, one: str, more: str) -> str:
    """The count with its noun."""
    return f"{count:,} {one if count == 1 else more}"


def shell(words: list[str]) -> str:
    """A command line that a shell reads as exactly these words."""
    return shlex.join(words)
