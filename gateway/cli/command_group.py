"""The group of all commands. With `--json`, usage errors are printed as a JSON document too."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from gateway.cli.output import show_json

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Base class of all usage errors; Typer has no public name for it."""


class Commands(TyperGroup):
    """Typer's group, with usage errors as JSON if `--json` is given."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command. A usage error ends with exit code 2."""
        arguments = list(sys.argv[1:] if args is None else args)
        plain = not standalone_mode or "--json" not in arguments[: arguments.index("--") if "--" in arguments else None]
        try:
            exit_code = super().main(
                arguments, prog_name, complete_var, standalone_mode and plain, windows_expand_args, **extra
            )
        except _UsageError as error:
            if plain:
                raise
            usage_error: Any = error
            show_json({"code": "usage", "detail": usage_error.format_message()})
            sys.exit(2)
        if plain:
            return exit_code
        sys.exit(exit_code or 0)
