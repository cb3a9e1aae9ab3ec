"""The Terraform workspace that code is evaluated in, which `terraform.workspace` names."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from gateway.terraform.files import FileTree

DEFAULT: Final = "default"
DIRECTORY: Final = ".terraform"
FILE: Final = "environment"
"""The file in Terraform's data directory that names the selected workspace. https://developer.hashicorp.com/terraform/language/state/workspaces"""

_NAME = re.compile(r"[A-Za-z0-9._~-]{1,90}")


def read_workspace(files: FileTree) -> str:
    """The workspace that is selected beside the root; `default` if none is. Raises `errors.CodeInvalid`."""
    if FILE not in files.names(DIRECTORY):
        return DEFAULT
    name = files.read(f"{DIRECTORY}/{FILE}").decode("utf-8", "replace").strip()
    return name if _NAME.fullmatch(name) else DEFAULT


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
        return {*names, FILE} if directory == DIRECTORY else names

    def read(self, path: str) -> bytes:
        """The bytes of a file. Raises `errors.CodeInvalid`."""
        return self.workspace.encode() if path == f"{DIRECTORY}/{FILE}" else self.files.read(path)

    def small(self, path: str, most: int) -> bytes | None:
        """The bytes of a file that is not large and not behind a link; None if there is none."""
        return self.files.small(path, most)


def in_workspace(files: FileTree, workspace: str) -> FileTree:
    """The files, with this workspace selected unless it is empty."""
    return InWorkspace(files, workspace) if workspace else files
