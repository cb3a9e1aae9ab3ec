"""The code after an edit: only what the edit can reach is evaluated again.

An evaluated value depends on nothing but the text of its own definition and the names in that text. So an edit reaches the
definitions whose text it changes, those that refer to them by name, and so on, through calls into modules and through outputs out
of them. Everything else is carried over from the version before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gateway.terraform.config.carried import Carried
from gateway.terraform.config.definitions import Definitions, definitions
from gateway.terraform.config.module import Module
from gateway.terraform.config.source import changed_sources
from gateway.terraform.lang.hcl import Document

AllDefinitions = Mapping[str, Definitions]
"""The definitions of every directory of a stack."""


def all_definitions(root: Module) -> AllDefinitions:
    """The definitions of every directory of a stack."""
    return {directory: definitions(source) for directory, source in root.sources.items()}


def changed_module(
    before: Module, known: AllDefinitions, files: Mapping[Path, Document]
) -> tuple[Module, AllDefinitions] | None:
    """The root module after an edit of some files, with its definitions; None if the edit changes which modules the stack has.

    `before` is the root module before the edit, `known` its definitions. `files` are the files as the edit leaves them. Raises `CodeInvalid`.
    """
    changed = changed_sources(before.sources, files)
    if changed is None:
        return None
    now = {directory: definitions(source, known[directory]) for directory, source in changed.items()}
    every = {**known, **now}
    keys = {directory: each.changed_since(known[directory]) for directory, each in now.items()}
    outdated = _Reach(every).after(before, keys)
    carried = Carried(modules={each.address: each for each in before.modules()}, outdated=outdated)
    sources = {**before.sources, **changed}
    root = Module(source=sources["."], sources=sources, carried=carried, evaluated=carried.values(before))
    return root, every


@dataclass(frozen=True, slots=True)
class _Reach:
    """Follows an edit from name to name through the module instances of a stack."""

    every: AllDefinitions
    found: dict[str, set[str]] = field(default_factory=dict)
    todo: list[tuple[Module, str]] = field(default_factory=list)

    def after(self, root: Module, changed: Mapping[str, frozenset[str]]) -> Mapping[str, frozenset[str]]:
        """The keys that may have changed by the address of their module instance. `changed` are those whose text did, by directory."""
        for module in root.modules():
            self.todo.extend((module, key) for key in changed.get(module.source.directory, ()))
        while self.todo:
            module, key = self.todo.pop()
            keys = self.found.setdefault(module.address, set())
            if key not in keys:
                keys.add(key)
                self._follow(module, key)
        return {address: frozenset(keys) for address, keys in self.found.items()}

    def _follow(self, module: Module, key: str) -> None:
        """Add what depends directly on a key of a module instance."""
        kind, _, name = key.partition(".")
        match kind:
            case "var" | "local" | "module":
                self._users(module, key)
            case "output" if module.parent is not None and module.call_document is not None and module.call is not None:
                self.todo.append((module.parent, f"module.{module.call_document.header(module.call)[1]}"))
            case "keys" if name.startswith("module."):
                # Which instances of the module changed, and with them what is inside, is found when they are made.
                self.todo.append((module, name))
            case "body" if name.startswith("module."):
                pass  # its arguments are followed one by one
            case "keys" | "body" | "data":
                self._users(module, name)
            case "argument":
                call, _, argument = name.partition(".")
                self.todo.extend((child, f"var.{argument}") for child in _instances(module, call))

    def _users(self, module: Module, name: str) -> None:
        users = self.every[module.source.directory].users.get(name, ())
        self.todo.extend((module, key) for key in users)


def _instances(module: Module, call: str) -> list[Module]:
    """The instances of a called module that are known."""
    prefix = f"{module.address}." if module.address else ""
    return [
        child
        for child in module.child_modules.values()
        if child.address == f"{prefix}module.{call}" or child.address.startswith(f"{prefix}module.{call}[")
    ]
