"""Finds what an edit of the code can reach, and evaluates only that again.

An evaluated value depends on nothing but the text of its own definition and the names in that text. So an edit reaches the
definitions whose text it changes, those that refer to them by name, and so on, through calls into modules and through outputs out
of them. Every other value of the earlier version stays valid.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tree_sitter import Node

from gateway.terraform.config.earlier_version import EarlierVersion
from gateway.terraform.config.module import Module
from gateway.terraform.config.source import Declared, Source, sources_after_edit
from gateway.terraform.lang.hcl import Document

Keys = frozenset[str]
_NONE: Keys = frozenset()
_OF_INSTANCES = ("count", "for_each")
"""Arguments that decide which instances a block has."""
_OF_CALL = ("count", "for_each", "source")
_NAME = re.compile(r"(?=(?<!\w)([^\W\d][\w-]*)\s*\.\s*([^\W\d][\w-]*))")
_COMMENT = re.compile(r"/\*.*?\*/|(?:#|//)[^\n]*", re.DOTALL)
_INTERRUPTED = re.compile(r"/\*|(?:#|//)[^\n]*\n\s*(?:\.|#|//)|\.\s*(?:#|//)")
"""A comment that may stand before or after a dot."""


@dataclass(frozen=True, slots=True)
class Defined:
    """One definition: its text, and the names it refers to (`var.x`, `local.x`, `module.x`, `data.type.name`, `type.name`)."""

    text: bytes
    names: Keys
    document: Document = field(compare=False)
    """Where it stands."""
    alone: bool = field(default=True, compare=False)
    """Whether no other document has a part of it."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """The definitions of one directory by key, and the keys of those that refer to a name.

    The keys: `var.x`, `local.x`, `output.x`; of a resource `keys.type.name` (which instances it has) and `body.type.name`; of a
    call `keys.module.x`, `body.module.x` and for each argument `argument.x.name`; `data.type.name`, `provider.0`, `override.0.0`.
    """

    by_key: Mapping[str, Defined]
    users: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def changed_since(self, before: "Definitions") -> Keys:
        """The keys whose text differs, or that only one of the two has."""
        keys = self.by_key.keys() | before.by_key.keys()
        return frozenset(key for key in keys if _text(self, key) != _text(before, key))


def definitions(source: Source, known: Definitions | None = None) -> Definitions:
    """The definitions of a directory. A document of `known` is not looked at again, and a text of `known` not searched again for names."""
    reader = _Reader(known.by_key if known is not None else {})
    _add_values(source, reader)
    _add_resources(source, reader)
    _add_blocks(source, reader)
    return Definitions(reader.found, _users(reader.found, known))


def _users(by_key: Mapping[str, Defined], known: Definitions | None) -> Mapping[str, tuple[str, ...]]:
    """The keys of the definitions that refer to each name; only those whose names are not as in `known` are looked at."""
    before: Mapping[str, Defined] = {} if known is None else known.by_key
    users: dict[str, set[str]] = {}
    for key in by_key.keys() | before.keys():
        old, new = (_NONE if key not in table else table[key].names for table in (before, by_key))
        if old is not new:
            for name in old ^ new:
                users.setdefault(name, set()).add(key)
    was: Mapping[str, tuple[str, ...]] = {} if known is None else known.users
    # A key is either gone from a name's users or new among them.
    return {**was, **{name: tuple(keys.symmetric_difference(was.get(name, ()))) for name, keys in users.items()}}


def _text(those: Definitions, key: str) -> bytes | None:
    found = those.by_key.get(key)
    return None if found is None else found.text


@dataclass(frozen=True, slots=True)
class _Reader:
    """Collects definitions by key. A key met twice, such as a variable and its value in a tfvars file, gets both texts."""

    known: Mapping[str, Defined]
    found: dict[str, Defined] = field(default_factory=dict)

    def keeps(self, document: Document, *keys: str) -> bool:
        """Whether definitions of the same document are known, which are then added; not for keys that depend on other documents."""
        before = [self.known.get(key) for key in keys]
        kept = [each for each in before if each is not None and each.document is document and each.alone]
        if len(kept) < len(keys):
            return False
        self.found.update(zip(keys, kept, strict=True))
        return True

    def add(
        self, key: str, document: Document, *parts: Node, text: bytes | None = None, more: Sequence[Declared] = ()
    ) -> None:
        """Add a definition that consists of attributes or blocks; their text, unless another is given, is its text, with `more` of other files."""
        beside = [there.source[part.start_byte : part.end_byte] for there, part in more]
        spans = b"\0\n".join([*(document.source[part.start_byte : part.end_byte] for part in parts), *beside])
        written = spans if text is None else b"\0\n".join([text, *beside])
        before = self.known.get(key)
        names = before.names if before is not None and before.text == written else names_in(spans)
        self.found[key] = Defined(written, names, document, alone=not more)


def _add_resources(source: Source, reader: _Reader) -> None:
    """Add resources and data sources."""
    for name, (document, block) in source.resources.items():
        overriding = _blocks_over(source, (document, block))
        if not overriding and reader.keeps(document, f"keys.{name}", f"body.{name}"):
            continue
        arguments = document.attributes(block)
        deciding = [arguments[each] for each in _OF_INSTANCES if each in arguments]
        others = [node for each, node in arguments.items() if each not in _OF_INSTANCES]
        reader.add(f"keys.{name}", document, *deciding)
        whole = document.source[block.start_byte : block.end_byte]
        reader.add(f"body.{name}", document, *others, *document.blocks(block), text=whole, more=overriding)
    for name, (document, block) in source.data.items():
        if not reader.keeps(document, f"data.{name}"):
            reader.add(f"data.{name}", document, block)


def _add_blocks(source: Source, reader: _Reader) -> None:
    """Add calls, providers and the blocks of override files."""
    for name, (document, block) in source.calls.items():
        arguments = document.attributes(block)
        reader.add(f"keys.module.{name}", document, *(arguments[each] for each in _OF_CALL if each in arguments))
        overriding = _blocks_over(source, (document, block))
        reader.add(f"body.module.{name}", document, block, more=overriding)
        given = {each: (document, node) for each, node in arguments.items()}
        given |= {each: (there, node) for there, over in overriding for each, node in there.attributes(over).items()}
        for argument, (there, node) in given.items():
            if argument not in _OF_CALL:
                reader.add(f"argument.{name}.{argument}", there, node)
    for number, (document, block) in enumerate(source.providers):
        reader.add(f"provider.{number}", document, block)
    for number, document in enumerate(source.overrides):
        for order, block in enumerate(document.blocks(document.root)):
            if not is_part_of_another(source, document, block):
                reader.add(f"override.{number}.{order}", document, block)


def is_part_of_another(source: Source, document: Document, block: Node) -> bool:
    """Whether a block of an override file belongs to the definition of what it changes: a resource, a call, a variable or locals."""
    kind, *labels = document.header(block)
    changed = {"resource": source.resources, "module": source.calls, "variable": source.variables}.get(kind, {})
    return kind == "locals" or ".".join(labels) in changed


def _blocks_over(source: Source, declared: Declared) -> tuple[Declared, ...]:
    """The blocks of override files that change a declared block."""
    return tuple(block for block, _ in source.overriding.get(declared[0].header(declared[1]), ()))


def _add_values(source: Source, reader: _Reader) -> None:
    """Add variables with the values that tfvars files give them, locals and outputs."""
    for name, (document, block) in source.variables.items():
        given = source.given.get(name)
        written = b"" if given is None else given[0].source[given[1].start_byte : given[1].end_byte]
        text = document.source[block.start_byte : block.end_byte] + b"\0" + written
        reader.add(f"var.{name}", document, text=text, more=_blocks_over(source, (document, block)))
    for name, (document, node) in source.locals.items():
        if not reader.keeps(document, f"local.{name}"):
            reader.add(f"local.{name}", document, node)
    for name, (document, block) in source.outputs.items():
        if not reader.keeps(document, f"output.{name}"):
            reader.add(f"output.{name}", document, block)


def names_in(text: bytes) -> Keys:
    """Every name in the text of a definition or of a part of one, and what only looks like one, in strings and comments: more names are evaluated again, never fewer.

    Reading the text as it stands costs a tenth of parsing it. A comment in the middle of a name hides it, so there the comments are
    removed first; what they leave of a string still has its names.
    """
    source = text.decode()
    if ("#" in source or "/" in source) and _INTERRUPTED.search(source):
        source = f"{source}\n{_COMMENT.sub(' ', source)}"
    return frozenset(f"{match[1]}.{match[2]}" for match in _NAME.finditer(source))


AllDefinitions = Mapping[str, Definitions]
"""The definitions of every directory of a stack."""


def all_definitions(root: Module) -> AllDefinitions:
    """The definitions of every directory of a stack."""
    return {directory: definitions(source) for directory, source in root.sources.items()}


def module_after_edit(
    before: Module, known: AllDefinitions, files: Mapping[Path, Document]
) -> tuple[Module, AllDefinitions] | None:
    """The root module after an edit of some files, with its definitions; None if the edit changes which modules the stack has.

    `before` is the root module before the edit, `known` its definitions. `files` are the files as the edit leaves them. Raises `CodeInvalid`.
    """
    changed = sources_after_edit(before.sources, files)
    if changed is None:
        return None
    now = {directory: definitions(source, known[directory]) for directory, source in changed.items()}
    every = {**known, **now}
    keys = {directory: each.changed_since(known[directory]) for directory, each in now.items()}
    outdated = _Reach(every).after(before, keys)
    carried = EarlierVersion(modules={each.address: each for each in before.modules()}, outdated=outdated)
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
