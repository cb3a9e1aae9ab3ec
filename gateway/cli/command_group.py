"""The group of all commands. With `--json`, usage errors are printed as a JSON document too."""

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import typer
from typer.core import TyperGroup

from gateway.cli.lazy_commands import LazyCommands

PLACES: Final[Mapping[str, str]] = {
    "up": "gateway.cli.local.up:up",
    "tour": "gateway.cli.local.tour:tour",
    "serve": "gateway.cli.serve:serve",
    "session": "gateway.cli.session:session",
    "propose": "gateway.cli.decide:propose",
    "holds": "gateway.cli.holds:holds",
    "approve": "gateway.cli.decide:approve",
    "reject": "gateway.cli.decide:reject",
    "break-glass": "gateway.cli.break_glass:break_glass",
    "release": "gateway.cli.decide:release",
    "extend": "gateway.cli.time_box:extend",
    "end": "gateway.cli.time_box:end",
    "left": "gateway.cli.left:left",
    "settle": "gateway.cli.settle:settle",
    "stop": "gateway.cli.stops:stop",
    "resume": "gateway.cli.stops:resume",
    "stops": "gateway.cli.stops:stops",
    "budgets": "gateway.cli.budgets:budgets",
    "plan-check": "gateway.cli.plan_check:plan_check",
    "drift": "gateway.cli.drift:drift_app",
    "heal": "gateway.cli.drift:heal_app",
    "signals": "gateway.cli.signals:signals",
    "chat": "gateway.cli.chat:chat_app",
    "deliveries": "gateway.cli.deliveries:deliveries",
    "resend": "gateway.cli.deliveries:resend",
    "resources": "gateway.cli.context:resources",
    "context": "gateway.cli.context:context",
    "history": "gateway.cli.context:history",
    "mcp": "gateway.cli.mcp:mcp",
    "records": "gateway.cli.investigate:records",
    "explain": "gateway.cli.explain:explain",
    "blame": "gateway.cli.investigate:blame",
    "claims": "gateway.cli.investigate:claims",
    "query": "gateway.cli.query:query",
    "export": "gateway.cli.export:export",
    "verify": "gateway.cli.verify:verify",
    "config": "gateway.cli.verify:config",
    "key": "gateway.cli.keys:key_app",
    "policy": "gateway.cli.policy:policy_app",
}
"""Where each command is, in the order in which help lists them."""

_CONTEXT_SETTINGS: Final = {"session": {"allow_interspersed_args": False}}

_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Base class of all usage errors; Typer has no public name for it."""


class Commands(TyperGroup):
    """Typer's group of the commands in `PLACES` and those of other packages, with usage errors as JSON if `--json` is given."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = LazyCommands(PLACES, context_settings=_CONTEXT_SETTINGS, others=_commands_of_other_packages)

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
            from gateway.cli.output import show_json

            usage_error: Any = error
            show_json({"code": "usage", "detail": usage_error.format_message()})
            sys.exit(2)
        if plain:
            return exit_code
        sys.exit(exit_code or 0)


def _commands_of_other_packages() -> Mapping[str, Callable[[], object]]:
    """Loaders of the commands that are registered as entry points. The gateway does not import the reconciler, whose `reconcile` is one."""
    from importlib.metadata import entry_points

    return {entry.name: entry.load for entry in entry_points(group="sentinel.commands")}
