"""Options that several commands share, each defined once."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, also for errors.")]

As = Annotated[
    str,
    typer.Option("--as", help="The actor of a running `sentinel up` whose credentials to use, e.g. agent or human."),
]

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Settings file. Default: sentinel.toml in this directory, else that of the `sentinel up` in this directory.",
    ),
]
