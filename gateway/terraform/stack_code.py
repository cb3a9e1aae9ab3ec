"""The code of a stack: its Terraform files and contracts, loaded once and looked up by address."""

import hashlib
import io
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.address import parse_address
from gateway.terraform.config.module import Module, ResourceInstance, load_module
from gateway.terraform.config.references import references
from gateway.terraform.config.source import DIRECTORY
from gateway.terraform.config.templates import watched_paths
from gateway.terraform.contracts.contract import SUFFIX, ResourceRule, parse_contracts
from gateway.terraform.file_tree import FileTree, file_tree
from gateway.terraform.lang.evaluate import EvaluationScope
from gateway.terraform.lang.values import Opaque

CODE_SUFFIXES = (".tf", ".tf.json", ".tfvars", ".tfvars.json", SUFFIX)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Code:
    """The Terraform code and contracts of one root at one moment."""

    module: Module
    rules: Mapping[str, tuple[ResourceRule, ...]]
    """Contracts by directory relative to the root, `.` for the root itself."""
    instances: Mapping[str, ResourceInstance]
    """Every instance whose key is known, by address."""
    references: Mapping[str, frozenset[str]]
    """The addresses that each resource refers to; see `gateway.terraform.config.references`."""
    modules: Mapping[str, Module]
    """Every module instance by address, empty for the root."""
    digest: str
    """SHA-256 of the names and bytes of all files, with the templates that `templatefile` reads."""
    templates: tuple[str, ...] = ()
    """The paths of the templates that were read or looked for, and of folders where only a part of the name is known."""

    @property
    def directories(self) -> tuple[str, ...]:
        """The directories that were read, relative to the root."""
        return tuple(sorted(self.module.sources))

    def instance(self, address: str) -> ResourceInstance | None:
        """The instance at an address; None if the code has no block for it. If the keys of the block are unknown, its instance for the address's key."""
        instance = self.instances.get(address)
        where = parse_address(address)
        if instance is not None or where is None or where.data:
            return instance
        module = self.modules.get(where.module)
        block = module.source.resources.get(f"{where.resource_type}.{where.name}") if module else None
        if module is None or block is None or where.key is None:
            return None
        is_count = isinstance(where.key, int)
        scope = EvaluationScope(
            module=module,
            count=where.key if isinstance(where.key, int) else None,
            each=None if is_count else (str(where.key), Opaque("the value of for_each is not known")),
        )
        return ResourceInstance(
            address=address,
            resource_type=where.resource_type,
            name=where.name,
            document=block[0],
            block=block[1],
            scope=scope,
            module=module,
        )

    def source_of(self, address: str) -> str:
        """`file:line` of the block that declares an address; empty if the code does not declare it."""
        instance = self.instance(address)
        if instance is None:
            return ""
        return instance.document.at(instance.block)


def load_code(root: Path | FileTree) -> Code:
    """The code at `root` with its local modules. Raises `errors.CodeInvalid` with file and line."""
    files = file_tree(root)
    files.check()
    module = load_module(files)
    # What is downloaded is nobody's contract here: it is not in the protected branch.
    own = [directory for directory in module.sources if not directory.startswith(DIRECTORY)]
    rules = {directory: tuple(_rules(files, directory)) for directory in own}
    return Code(
        module=module,
        rules=rules,
        instances={instance.address: instance for instance in module.instances()},
        references=references(module),
        modules={each.address: each for each in module.modules()},
        digest=_digest(files, module),
        templates=tuple(sorted(set(_watched(module)))),
    )


def code_files(root: Path, directory: str) -> Iterator[Path]:
    """The Terraform and contract files in one directory of a stack, by name. None if it cannot be read."""
    folder = root / directory
    try:
        names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(CODE_SUFFIXES))
    except OSError:
        names = []
    return (folder / name for name in names if not name.startswith("."))


def _code_names(files: FileTree, directory: str) -> list[str]:
    return sorted(name for name in files.names(directory) if name.endswith(CODE_SUFFIXES) and not name.startswith("."))


def _rules(files: FileTree, directory: str) -> Iterator[ResourceRule]:
    contracts: dict[str, str] = {}
    for file in _code_names(files, directory):
        if not file.endswith(SUFFIX):
            continue
        name = posixpath.normpath(posixpath.join(directory, file))
        for rule in parse_contracts(_text(files, name), name):
            first = contracts.setdefault(rule.contract, name)
            if first != name:
                raise CodeInvalid(f"{rule.source}: The contract {rule.contract!r} is already in {first}.")
            yield rule


def _text(files: FileTree, name: str) -> str:
    try:
        return io.TextIOWrapper(io.BytesIO(files.read(name)), encoding="utf-8-sig").read()
    except UnicodeDecodeError as error:
        raise CodeInvalid(f"{name}:1: The file is not UTF-8 text.") from error


def _watched(module: Module) -> Iterator[str]:
    for source in module.sources.values():
        yield from watched_paths(source.directory, source.texts, source.templates, source.listings)


def _digest(files: FileTree, module: Module) -> str:
    whole = hashlib.sha256()
    for directory in sorted(module.sources):
        for name in _code_names(files, directory):
            content = files.read(posixpath.normpath(posixpath.join(directory, name)))
            whole.update(f"{directory}/{name}\0{len(content)}\0".encode(errors="surrogateescape"))
            whole.update(content)
        for path, content in sorted(module.sources[directory].templates.items()):
            whole.update(f"{path}\0{len(content)}\0".encode(errors="surrogateescape"))
            whole.update(content)
        for (folder, pattern), listing in sorted(module.sources[directory].listings.items()):
            names = "\0".join((folder, pattern, *listing.names))
            whole.update(f"{len(names)}\0{names}".encode(errors="surrogateescape"))
    return whole.hexdigest()
