"""The commands by name. Each is imported when it is asked for, so that a command does not wait for what only others need."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, TypeAlias

import typer
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
        """How many there are."""
        return sum(1 for _ in self)

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
