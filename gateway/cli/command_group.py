"""The group of all commands: a mistyped command, too, is one JSON document where `--json` was given."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from gateway.cli.output import show_json

_Mistyped: type[Exception] = typer.BadParameter.__bases__[0]
"""Base of all errors in what was typed; Typer has no public name for it."""


class Commands(TyperGroup):
    """As Typer's own group, but for `--json`."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command. Exit code 2 where it was mistyped."""
        given = list(sys.argv[1:] if args is None else args)
        plain = not standalone_mode or "--json" not in given[: given.index("--") if "--" in given else None]
        try:
            ended = super().main(
                given, prog_name, complete_var, standalone_mode and plain, windows_expand_args, **extra
            )
        except _Mistyped as error:
            if plain:
                raise
            mistyped: Any = error
            show_json({"code": "usage", "detail": mistyped.format_message()})
            sys.exit(2)
        if plain:
            return ended
        sys.exit(ended or 0)
