"""The console's script, style sheet and vendored htmx. Their addresses name their content, so browsers keep them for a year."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

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
    return {name: _file((folder / name).read_bytes(), kind) for name, kind in _TYPES.items()}


def _file(content: bytes, kind: str) -> StaticFile:
    return StaticFile(content=content, kind=kind, version=hashlib.sha256(content).hexdigest()[:12])
