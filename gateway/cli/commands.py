"""The commands by name. Each is imported when it is asked for, so that a command does not wait for what only others need."""

import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from importlib import import_module
from typing import Any, Final, TypeAlias

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

Command: TypeAlias = Any
"""A command as Typer makes it; Typer has no public name for its class."""


class LazyCommands(MutableMapping[str, Command]):
    """Commands that are imported at the first access to each."""

    def __init__(
        self,
        places: Mapping[str, str],
        *,
        context_settings: Mapping[str, Mapping[str, Any]],
        others: Callable[[], Mapping[str, Callable[[], object]]],
    ) -> None:
        """`places` are `module:attribute` of a function or a Typer application, by command, `context_settings` are for some of them.

        `others` returns loaders of the commands of other packages. It is called once, for a name that is not in `places` or a list of all.
        """
        self._places = places
        self._context_settings = context_settings
        self._find_others = others
        self._others: Mapping[str, Callable[[], object]] | None = None
        self._loaded: dict[str, Command] = {}

    def __getitem__(self, name: str) -> Command:
        """The command. Raises `KeyError`."""
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: Command) -> None:
        """Add a command that is loaded already."""
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        """Forget a loaded command. Raises `KeyError`."""
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        """The names, in the order in which help shows them."""
        return iter(dict.fromkeys((*self._places, *self._all_others(), *self._loaded)))

    def __len__(self) -> int:
        """The number of commands."""
        return sum(1 for _ in self)

    def listed(self, summaries: Mapping[str, str]) -> dict[str, Command]:
        """Every command as a list shows it, in that order: one that has a summary is not imported."""
        return {name: TyperCommand(name, help=summaries[name]) if name in summaries else self[name] for name in self}

    def _all_others(self) -> Mapping[str, Callable[[], object]]:
        if self._others is None:
            self._others = self._find_others()
        return self._others

    def _load(self, name: str) -> Command:
        if name in self._places:
            module, _, attribute = self._places[name].partition(":")
            found = getattr(import_module(module), attribute)
        else:
            found = self._all_others()[name]()
        application = found if isinstance(found, typer.Typer) else self._application(name, found)
        command = get_command(application)
        command.name = name
        return command

    def _application(self, name: str, function: Callable[..., Any]) -> typer.Typer:
        """A Typer application of one command, so that the command has no options for shell completion of its own."""
        application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        application.command(name, context_settings=dict(self._context_settings.get(name, {})))(function)
        return application


PLACES: Final[Mapping[str, str]] = {
    "up": "gateway.cli.demo.up:up",
    "tour": "gateway.cli.demo.tour:tour",
    "serve": "gateway.cli.serve:serve",
    "session": "gateway.cli.session:session",
    "credentials": "gateway.cli.session:credentials",
    "propose": "gateway.cli.decisions:propose",
    "holds": "gateway.cli.decisions:holds",
    "approve": "gateway.cli.decisions:approve",
    "reject": "gateway.cli.decisions:reject",
    "break-glass": "gateway.cli.decisions:break_glass",
    "release": "gateway.cli.decisions:release",
    "extend": "gateway.cli.time_boxes:extend",
    "end": "gateway.cli.time_boxes:end",
    "left": "gateway.cli.drift:left",
    "settle": "gateway.cli.decisions:settle",
    "stop": "gateway.cli.stops:stop",
    "resume": "gateway.cli.stops:resume",
    "stops": "gateway.cli.stops:stops",
    "budgets": "gateway.cli.budgets:budgets",
    "plan-check": "gateway.cli.plan_check:plan_check",
    "apply": "gateway.cli.apply:apply",
    "end-session": "gateway.cli.plan_session:end_session",
    "observe": "gateway.cli.observe:observe_app",
    "drift": "gateway.cli.drift:drift_app",
    "heal": "gateway.cli.drift:heal_app",
    "signals": "gateway.cli.signals:signals",
    "chat": "gateway.cli.notices:chat_app",
    "deliveries": "gateway.cli.notices:deliveries",
    "resend": "gateway.cli.notices:resend",
    "resources": "gateway.cli.resources:resources",
    "context": "gateway.cli.resources:context",
    "history": "gateway.cli.resources:history",
    "mcp": "gateway.cli.mcp:mcp",
    "effects": "gateway.cli.effects:effects_app",
    "status": "gateway.cli.changes:status",
    "changes": "gateway.cli.changes:changes",
    "watch": "gateway.cli.changes:watch",
    "records": "gateway.cli.investigate:records",
    "explain": "gateway.cli.investigate:explain",
    "blame": "gateway.cli.investigate:blame",
    "claims": "gateway.cli.investigate:claims",
    "query": "gateway.cli.investigate:query",
    "export": "gateway.cli.export:export",
    "verify": "gateway.cli.verify:verify",
    "archive": "gateway.cli.archive:archive",
    "backup": "gateway.cli.backup:backup",
    "restore": "gateway.cli.backup:restore",
    "doctor": "gateway.cli.doctor:doctor",
    "audit-cloudtrail": "gateway.cli.audit_cloudtrail:audit_cloudtrail",
    "migrate": "gateway.cli.migrate:migrate",
    "config": "gateway.cli.config:config",
    "key": "gateway.cli.keys:key_app",
    "contract": "gateway.cli.contract:contract_app",
    "policy": "gateway.cli.policy:policy_app",
}
"""The place of each command, in the order in which help lists them."""

_CONTEXT_SETTINGS: Final = {"session": {"allow_interspersed_args": False}}

_COMPLETION: Final = frozenset({"install_completion", "show_completion"})
"""Names of Typer's own options."""
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""Base class of all usage errors; Typer has no public name for it."""


class Commands(TyperGroup):
    """Typer's group of the commands in `PLACES` and those of other packages, with usage errors as JSON if `--json` is given."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = LazyCommands(PLACES, context_settings=_CONTEXT_SETTINGS, others=_commands_of_other_packages)

    def get_params(self, ctx: Any) -> list[Any]:
        """The options of the group; those that install completion work, and are not in the help."""
        found: list[Any] = super().get_params(ctx)
        for option in found:
            if option.name in _COMPLETION:
                option.hidden = True
        return found

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the group."""
        from gateway.cli.summaries import SUMMARIES

        commands = self.commands
        self.commands = commands.listed(SUMMARIES) if isinstance(commands, LazyCommands) else commands
        try:
            super().format_help(ctx, formatter)
        finally:
            self.commands = commands

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


def show_first(context: typer.Context) -> None:
    """What `sentinel` alone shows: the status, or the commands where nobody has a gateway yet, so that there is nothing else to tell."""
    from gateway.cli.client import identity
    from gateway.cli.demo.credentials import NoIdentity

    try:
        identity()
    except NoIdentity:
        typer.echo(context.get_help())
        return
    from gateway.cli.changes import status

    status()
