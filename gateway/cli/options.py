"""Options that several commands share, each defined once."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for errors.")]

As = Annotated[
    str | None,
    typer.Option(
        "--as",
        help="Use the credentials of this actor of the `sentinel up` in this directory, e.g. agent or human, and not those of SENTINEL_TOKEN.",
    ),
]

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings file. Default: sentinel.toml in this directory, else that of the `sentinel up` in this directory.",
    ),
]
