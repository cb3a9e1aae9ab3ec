"""Options that several commands share, each defined once, and the values that they give."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from gateway.cli.output import fail
from gateway.core.errors import Malformed
from gateway.core.http.motive_syntax import duration
from gateway.core.model.motive import Intent, Motivation

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for errors.")]

As = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="Use the credentials of this actor of the `sentinel up` in this directory, e.g. agent or human, and not those of SENTINEL_TOKEN.",
    ),
]

Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask for confirmation. Needed with --json and without a terminal.")
]

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings file. Default: sentinel.toml in this directory, else that of the `sentinel up` in this directory.",
    ),
]


Evidence = Annotated[list[str] | None, typer.Option(help="An alert, a CVE or a ticket. May be repeated.")]


def motive_body(
    intent: Intent | None, motivation: Motivation | None, evidence: list[str] | None, *, as_json: bool, **more: str
) -> dict[str, Any] | None:
    """The motive in these options, as the API takes it; None without any. A part of one ends the command with exit code 1."""
    if intent and motivation:
        return {"intent": intent.value, "motivation": motivation.value, "evidence": evidence or [], **more}
    if intent or motivation or evidence or any(more.values()):
        fail(Malformed("A motive needs both --intent and --motivation."), as_json=as_json)
    return None


def time_of(text: str) -> datetime | None:
    """The time with its zone, from a time or an age before now; None for no text. Raises `errors.Malformed`."""
    if not text:
        return None
    if re.fullmatch(r"(\d+[smhdw])+", text):
        return datetime.now(UTC) - duration(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Malformed(
            f"{text[:40]!r} is neither a time (2026-11-21T09:00:00Z) nor an age (90s, 30m, 1h, 2d, 1w)."
        ) from error
    return time if time.tzinfo else time.astimezone()
