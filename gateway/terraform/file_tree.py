"""The files of a stack, wherever they are kept, and the Terraform workspace that is selected beside them."""

import os
import posixpath
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from gateway.core.errors import CodeInvalid


class FileTree(Protocol):
    """Directories of files below (and, for modules, beside) the root of a stack. Paths are relative to the root, with `/`."""

    def check(self) -> None:
        """Raise `errors.CodeInvalid` if there is no root."""

    def names(self, directory: str) -> Collection[str]:
        """The names of the files in a directory; none if there is no such directory."""

    def folders(self, directory: str) -> Collection[str] | None:
        """The names of the folders in a directory; None if one of them is a link, or the directory cannot be read."""

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file; None if there is none, if it lies behind a link, or if it has more than `most` bytes."""


@dataclass(frozen=True, slots=True)
class DiskTree:
    """The files on disk, as they are now."""

    root: Path

    def check(self) -> None:
        """Raise `errors.CodeInvalid` if the root is no directory."""
        if not self.root.is_dir():
            raise CodeInvalid(
                f"{self.root}: There is no such directory, so there is no code and there are no contracts to read."
            )

    def names(self, directory: str) -> Collection[str]:
        """The names of the files in a directory; none if there is no such directory."""
        try:
            return {item.name for item in (self.root / directory).iterdir() if item.is_file()}
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise CodeInvalid(f"{directory}: The directory cannot be read: {error.strerror}.") from None

    def folders(self, directory: str) -> Collection[str] | None:
        """The names of the folders in a directory; None if one of them is a link, or the directory cannot be read."""
        try:
            found = [item for item in (self.root / directory).iterdir() if item.is_dir()]
            return None if any(item.is_symlink() for item in found) else {item.name for item in found}
        except OSError:
            return None

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""
        try:
            return (self.root / path).read_bytes()
        except OSError as error:
            raise CodeInvalid(f"{path}:1: The file cannot be read: {error.strerror}.") from None

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file; None if there is none, if it lies behind a link, or if it has more than `most` bytes."""
        file = Path(os.path.normpath(self.root.resolve() / path))
        try:
            if not file.is_file() or file.resolve() != file or file.stat().st_size > most:
                return None
            return file.read_bytes()
        except OSError:
            return None


def file_tree(root: Path | FileTree) -> FileTree:
    """The tree itself, or the one on disk at a path."""
    return DiskTree(root) if isinstance(root, Path) else root


DEFAULT_WORKSPACE: Final = "default"
DATA_DIRECTORY: Final = ".terraform"
WORKSPACE_FILE: Final = "environment"
"""The file in Terraform's data directory that names the selected workspace. https://developer.hashicorp.com/terraform/language/state/workspaces"""

_WORKSPACE_NAME = re.compile(r"[A-Za-z0-9._~-]{1,90}")


def read_workspace(files: FileTree) -> str:
    """The workspace that is selected beside the root; `default` if none is. Raises `errors.CodeInvalid`."""
    if WORKSPACE_FILE not in files.names(DATA_DIRECTORY):
        return DEFAULT_WORKSPACE
    name = files.read(f"{DATA_DIRECTORY}/{WORKSPACE_FILE}").decode("utf-8", "replace").strip()
    return name if _WORKSPACE_NAME.fullmatch(name) else DEFAULT_WORKSPACE


@dataclass(frozen=True, slots=True)
class InWorkspace:
    """The files of a stack, with another workspace selected."""

    files: FileTree
    workspace: str

    def check(self) -> None:
        """Raise `errors.CodeInvalid` if there is no root."""
        self.files.check()

    def names(self, directory: str) -> Collection[str]:
        """The names of the files in a directory."""
        names = self.files.names(directory)
        return {*names, WORKSPACE_FILE} if directory == DATA_DIRECTORY else names

    def folders(self, directory: str) -> Collection[str] | None:
        """The names of the folders in a directory; None if nobody can tell."""
        return self.files.folders(directory)

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""
        return self.workspace.encode() if path == f"{DATA_DIRECTORY}/{WORKSPACE_FILE}" else self.files.read(path)

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file that is not large and not behind a link; None if there is none."""
        return self.files.small(path, most)


@dataclass(frozen=True, slots=True)
class EditedFiles:
    """The files of a stack, some of them with another content."""

    files: FileTree
    edited: Mapping[str, bytes]
    """By path relative to the root. A path that there is not yet is a new file."""
    without: str = ""
    """Of the other files below the root, those whose names end so are not there; empty for none."""

    def check(self) -> None:
        """Raise `errors.CodeInvalid` if there is no root."""
        self.files.check()

    def names(self, directory: str) -> Collection[str]:
        """The names of the files in a directory."""
        folder = posixpath.normpath(directory)
        here = {posixpath.basename(path) for path in self.edited if (posixpath.dirname(path) or ".") == folder}
        return here | {name for name in self.files.names(directory) if not self._is_gone(posixpath.join(folder, name))}

    def folders(self, directory: str) -> Collection[str] | None:
        """The names of the folders in a directory; None if nobody can tell."""
        return self.files.folders(directory)

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""
        edited = self.edited.get(posixpath.normpath(path))
        return self.files.read(path) if edited is None else edited

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file that is not large and not behind a link; None if there is none. What code reads so is never edited."""
        return self.files.small(path, most)

    def _is_gone(self, path: str) -> bool:
        return bool(self.without) and path.endswith(self.without) and not path.startswith("..")


def in_workspace(files: FileTree, workspace: str) -> FileTree:
    """The files, with this workspace selected unless it is empty."""
    return InWorkspace(files, workspace) if workspace else files
