"""The code around a stack in its repository: other roots that use the same modules, and directories that are never edited."""

import os
import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import Module, load_module
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.rewrite.footprint.changes import footprint_changes
from reconciler.rewrite.footprint.values import Footprint

FROZEN = ("vendor", "vendored", "third_party", "third-party", ".terraform", ".external_modules")
"""Names of directories with somebody else's code: the call is edited and never the module."""
_SOURCE = re.compile(rb'^[^#\n]*?\bsource"?\s*[=:]\s*"(\.\.?/[^"]*)"', re.MULTILINE)
"""In HCL, on one line with its block too, and in JSON."""
_OWN_STATE = re.compile(rb'^\s*(?:backend\s+"[^"]*"|cloud)\s*\{|^provider\s+"', re.MULTILINE)
_OWN_STATE_IN_JSON = re.compile(rb'"(?:backend|cloud|provider)"\s*:')
_CODE = (".tf", ".tf.json", ".tofu", ".tofu.json")
_READ = (".tf", ".tf.json")
"""The code that is evaluated; a root with any other stops an edit of what it uses."""
_SKIPPED = frozenset({".git", ".terraform", "node_modules", ".venv", "__pycache__"})


class OthersCode(CannotEdit):
    """The file is somebody else's code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The code that an edit outside of a stack's own directory could reach. Without a `top` no code outside is edited."""

    top: Path | None = None
    """The top of the repository, or of a copy of it: no file outside is edited."""
    roots: tuple[Path, ...] = ()
    """The other root modules that use a module of the stack, as absolute paths."""
    frozen: tuple[str, ...] = FROZEN
    """Names or patterns of directories, relative to `top` or to any directory, whose files are not edited."""
    prefix: str = "."
    """The directory of `top` in the repository, if `top` is a copy of a part of it."""
    loaded: dict[Path, Module | None] = field(default_factory=dict, compare=False)
    """Cache of the other roots as they are on disk; None if one cannot be read."""

    def copied(self, source: Path, target: Path) -> "Surroundings":
        """The same for a copy of the directory `source` of the repository at `target`."""
        prefix = source.relative_to(self.top).as_posix() if self.top is not None else "."
        roots = tuple(target / root.relative_to(source) for root in self.roots)
        return Surroundings(top=target, roots=roots, frozen=self.frozen, prefix=prefix)

    def refuse(self, root: Path, path: Path) -> None:
        """Raise `CannotEdit` if a file, named relative to the stack's root, must not be edited."""
        target = (root / path).resolve()
        outside = path.parts[:1] == ("..",)
        if outside and (self.top is None or not target.is_relative_to(self.top.resolve())):
            raise CannotEdit(f"{path} lies outside of the repository of the stack.")
        linked = target != _absolute(root.resolve() / path)
        directory = posixpath.normpath(path.parent.as_posix())
        if self.top is not None and target.is_relative_to(self.top.resolve()):
            directory = posixpath.join(self.prefix, target.parent.relative_to(self.top.resolve()).as_posix())
        if self.is_frozen(directory):
            raise OthersCode(
                f"{path} is somebody else's code (vendored or downloaded), of which only the call is edited, and no argument of the call"
                f" leads there. A copy of {path.parent} in this repository would, or an override file beside it."
            )
        if linked:
            raise CannotEdit(f"{path} is reached through a symbolic link, and what else leads there is not known.")

    def refuse_named_elsewhere(self, root: Path, path: Path) -> None:
        """Raise `CannotEdit` if code outside of the directories above a file, which is no code itself, says its name: what it does with it is not known."""
        file = _absolute(root.resolve() / path)
        above = set(file.parents)
        for directory, _, files in _code_directories(self.top or root.resolve()):
            if _absolute(Path(directory)) in above:
                continue
            for name in files:
                if name.endswith(_CODE) and file.name.encode() in Path(directory, name).read_bytes():
                    raise CannotEdit(
                        f"{path} is named in {name} of another module too ({self._shown(Path(directory))})."
                    )

    def is_frozen(self, directory: str) -> bool:
        """Whether a directory, relative to the repository, or one above it is somebody else's code."""
        parts = posixpath.normpath(directory).split("/")
        above = {"/".join(parts[: length + 1]) for length in range(len(parts))}
        return any(fnmatchcase(each, pattern) for pattern in self.frozen for each in (*parts, *above))

    def is_own(self, root: Path, directory: str) -> bool:
        """Whether a directory, relative to the stack's root, may be edited and no other root uses the module in it."""
        try:
            self.refuse(root, Path(directory, "main.tf"))
        except CannotEdit:
            return False
        own = _absolute(root.resolve() / directory)
        return not any(own in reached_directories(other) for other in self.roots)

    def refuse_changes(self, root: Path, before: Mapping[Path, bytes], after: Mapping[Path, bytes]) -> None:
        """Raise `CannotEdit` if the files that differ between two versions change anything in another root.

        Both map paths relative to the stack's root to the bytes of the files that are not as they are on disk.
        """
        changed = {
            directory
            for path, content in after.items()
            if before.get(path) != content
            for directory in module_directories(_absolute(root.resolve() / path))
        }
        for other in self.roots:
            reached = reached_directories(other)
            if any(each != each.resolve() and each.resolve() in changed for each in reached):
                raise CannotEdit(f"The root {self._shown(other)} uses the module through a symbolic link.")
            if changed.isdisjoint(reached):
                continue
            one, two = (self._version(root, other, files) for files in (before, after))
            if one is None:
                raise CannotEdit(f"The root {self._shown(other)} uses the module too, and its code cannot be read.")
            if two is None:
                raise CannotEdit(f"After the edit the root {self._shown(other)} could not be read.")
            for change in footprint_changes(one, two):
                if (
                    change.before is None
                    or change.after is None
                    or _set_values(change.before) != _set_values(change.after)
                ):
                    where = f"{self._shown(other)}: {change.address.removeprefix('?')}"
                    raise CannotEdit(f"The edit would also change {where}, another root that uses the module.")

    def _version(self, root: Path, other: Path, files: Mapping[Path, bytes]) -> Module | None:
        """Another root with some files replaced; None if it cannot be read."""
        if other not in self.loaded:
            self.loaded[other] = _loaded(other, {}, None)
        base = self.loaded[other]
        if base is None or not files:
            return base
        return _loaded(
            other, {_relative(root.resolve() / path, other): content for path, content in files.items()}, base
        )

    def _shown(self, other: Path) -> str:
        return other.relative_to(self.top).as_posix() if self.top and other.is_relative_to(self.top) else other.name


def surroundings(root: Path, top: Path, frozen: Sequence[str] = ()) -> Surroundings:
    """The surroundings of the root module at `root` in the repository at `top`, both of which exist."""
    root, top = root.resolve(), top.resolve()
    calls = dict(_calls(top)) if top != root else {}
    own = _with_targets(reached_directories(root))

    def called_from(directory: Path) -> Collection[Path]:
        return calls.get(directory, ())

    called = {directory for directories in calls.values() for directory in directories}
    roots = [
        directory
        for directory in sorted(calls)
        if directory != root
        and directory not in own
        and own & _with_targets(_reached(directory, called_from))
        and (directory not in called or _is_root(directory))
    ]
    return Surroundings(top=top, roots=tuple(roots), frozen=(*FROZEN, *frozen))


def repository_of(root: Path) -> Path:
    """The top of the git checkout that holds `root`; without git, the directory that holds the root and the modules it uses."""
    root = root.resolve()
    for path in (root, *root.parents):
        if (path / ".git").exists():
            return path
    return Path(os.path.commonpath([root, *reached_directories(root)]))


def module_directories(path: Path) -> Collection[Path]:
    """The directories whose module a file may belong to: its own for code, also all those above for a template."""
    return (path.parent,) if path.name.endswith((*_CODE, ".tfvars", ".tfvars.json")) else path.parents


def reached_directories(root: Path) -> frozenset[Path]:
    """The directories of all local modules below a root."""
    return _reached(root, called_directories)


def _set_values(footprint: Mapping[str, Footprint]) -> dict[str, Footprint]:
    """The attributes without those that are null: to Terraform they are not set."""
    return {name: value for name, value in footprint.items() if value is not None}


def _with_targets(directories: Collection[Path]) -> frozenset[Path]:
    """The directories, and where symbolic links among them lead."""
    return frozenset((*directories, *(each.resolve() for each in directories)))


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


def _relative(path: Path, start: Path) -> Path:
    return Path(os.path.relpath(_absolute(path), start))


def _loaded(root: Path, files: Mapping[Path, bytes], known: Module | None) -> Module | None:
    try:
        module = load_module(root, files, known)
    except CodeInvalid:
        return None
    directories = ((root / directory) for directory in module.sources)
    unread = any(not file.name.endswith(_READ) for directory in directories for file in _code_files(directory))
    return None if unread else module


def _calls(top: Path) -> Iterator[tuple[Path, frozenset[Path]]]:
    """Every directory of code below `top`, with the directories of the local modules that it calls."""
    for directory, _, files in _code_directories(top):
        if any(name.endswith(_CODE) for name in files):
            yield Path(directory), called_directories(Path(directory))


def _code_directories(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    """The directories below `top`, as `os.walk` gives them, without those that hold no code of the repository."""
    for directory, names, files in os.walk(top):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        yield directory, names, files


def called_directories(directory: Path) -> frozenset[Path]:
    """The directories of the local modules that the code in a directory calls."""
    sources = {source for file in _code_files(directory) for source in _SOURCE.findall(file.read_bytes())}
    return frozenset(Path(os.path.normpath(directory / source.decode())) for source in sources)


def _reached(root: Path, calls: Callable[[Path], Collection[Path]]) -> frozenset[Path]:
    """The directories of all modules below a root, without the root's own."""
    found: set[Path] = set()
    todo = [root]
    while todo:
        new = set(calls(todo.pop())) - found
        found |= new
        todo += new
    return frozenset(found - {root})


def _is_root(directory: Path) -> bool:
    """Whether a directory that others call has a state of its own as well."""
    if (directory / "terraform.tfstate").exists():
        return True
    return any(
        not file.name.endswith(_READ)
        or (_OWN_STATE_IN_JSON if file.suffix == ".json" else _OWN_STATE).search(file.read_bytes())
        for file in _code_files(directory)
    )


def _code_files(directory: Path) -> list[Path]:
    return [file for file in directory.glob("*.t*") if file.name.endswith(_CODE) and file.is_file()]
