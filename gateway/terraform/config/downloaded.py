"""Where `terraform init` put the modules that are not local: read from `.terraform/modules/modules.json` beside the root."""

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from gateway.errors import CodeInvalid
from gateway.terraform.files import FileTree

DIRECTORY = ".terraform/modules"
_MANIFEST = "modules.json"
_LOCAL = ("./", "../")


def read_downloaded(files: FileTree) -> Mapping[str, Mapping[str, str]]:
    """The directory of each downloaded module, relative to the root: by the directory of its caller, then by the call's name.

    Empty if nothing was downloaded. A module is only found while its files are there. Raises `errors.CodeInvalid`.
    """
    if _MANIFEST not in files.names(DIRECTORY):
        return {}
    try:
        entries = json.loads(files.read(f"{DIRECTORY}/{_MANIFEST}"))["Modules"]
        rows = {str(entry["Key"]): (str(entry.get("Source", "")), _directory(entry)) for entry in entries}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = (
            f"{DIRECTORY}/{_MANIFEST}:1: The list of downloaded modules cannot be read; run `terraform init` again."
        )
        raise CodeInvalid(message) from error
    found: dict[str, dict[str, str]] = {}
    for key, (source, directory) in rows.items():
        caller, _, name = key.rpartition(".")
        if key and caller in {"", *rows} and not source.startswith(_LOCAL) and any(files.names(directory)):
            found.setdefault(rows[caller][1] if caller else ".", {})[name] = directory
    return found


def _directory(entry: Mapping[str, Any]) -> str:
    """Where a module is, seen from the root; terraform names a data directory elsewhere by its own path."""
    directory, key = posixpath.normpath(str(entry["Dir"])), str(entry["Key"])
    _, found, rest = directory.partition(f"/modules/{key}") if key else ("", "", "")
    return posixpath.join(DIRECTORY, f"{key}{rest}") if found else directory
