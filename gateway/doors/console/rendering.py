"""Renders the templates. Whatever a value holds, it is shown as text: escaped, and with its invisible characters made visible."""

import json
import shlex
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gateway.model.json import Json

_LONGEST: Final = 20_000
"""Characters of one value on a page."""
_SECOND, _MINUTE, _HOUR, _DAY = 1, 60, 3600, 86_400


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
        lasts=duration_text,
        short=short,
        shell=shell,
        quoted=shlex.quote,
        plural=plural,
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


def short(text: str, most: int) -> str:
    """The text, cut to this many characters with a note of how many are left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"


def moment(time: str | datetime | None) -> Markup:
    """A time in UTC to the second, marked up for programs."""
    if time is None:
        return Markup("–")
    at = datetime.fromisoformat(time) if isinstance(time, str) else time
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(f"{at:%Y-%m-%dT%H:%M:%SZ}", f"{at:%Y-%m-%d %H:%M:%S}")


def duration_text(seconds: float | None) -> str:
    """How long something lasts, in its largest two units."""
    if seconds is None:
        return "–"
    left = int(timedelta(seconds=seconds).total_seconds())
    parts = []
    for size, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (_SECOND, "s")):
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
