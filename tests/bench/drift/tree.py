"""Compares two copies of a project: which files differ, by how many lines, and which modules they belong to."""

import difflib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

_NOT_CODE = re.compile(r"(^|/)(\.terraform/|.*\.tfstate(\..*)?$|\.terraform\.tfstate\.lock\.info$|crash\.log$)")
_HIDES = re.compile(r"\bignore_changes\b|\bignore_tags\b|\bremoved\s*\{")
_CODE = (".tf", ".tfvars", ".json", ".tpl", ".tftpl", ".hcl")


def changed_files(before: Path, after: Path) -> dict[str, tuple[bytes, bytes]]:
    """Previous and new bytes of each file that differs, by path; empty bytes for a file that is not there."""
    old, new = _files(before), _files(after)
    return {
        name: (old.get(name, b""), new.get(name, b""))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    }


def diff_lines(changes: Iterable[tuple[bytes, bytes]]) -> int:
    """How many lines a diff adds and removes."""
    return sum(_lines(old, new) for old, new in changes)


def hides(before: Path, after: Path) -> set[str]:
    """Words that hide drift (`ignore_changes` and the like) and that occur more often than before."""
    old, new = _words(before), _words(after)
    return {word for word in new if new.count(word) > old.count(word)}


def module_folders(root: str, project: Path) -> dict[str, str]:
    """The folder of each module by its key (`jobs`, `jobs.queue`; the root's is empty), relative to the project."""
    index = project / root / ".terraform" / "modules" / "modules.json"
    entries = json.loads(index.read_text())["Modules"] if index.is_file() else []
    folders = {entry["Key"]: _plain(PurePosixPath(root) / entry["Dir"]) for entry in entries}
    return {"": _plain(PurePosixPath(root)), **folders}


def module_keys(address: str) -> list[str]:
    """The keys of the modules on the way to a resource, the root first: `module.a["x"].module.b.aws_y.z` → '', a, a.b."""
    names = re.findall(r"module\.([\w-]+)(?:\[[^\]]*\])?\.", address)
    return ["", *(".".join(names[: index + 1]) for index in range(len(names)))]


def folder_of(file: str, folders: Iterable[str]) -> str:
    """The innermost of the folders that holds the file."""
    parents = [str(parent) for parent in PurePosixPath(file).parents]
    return next((parent for parent in parents if parent in set(folders)), ".")


def _plain(path: PurePosixPath) -> str:
    """The path without `..`."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def _files(top: Path) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in _walk(top)}


def _walk(top: Path) -> Iterator[tuple[str, Path]]:
    for path in top.rglob("*"):
        name = path.relative_to(top).as_posix()
        if path.is_file() and not _NOT_CODE.search(name):
            yield name, path


def _words(top: Path) -> list[str]:
    texts = [path.read_text() for name, path in _walk(top) if name.endswith(_CODE)]
    return [match[0] for text in texts for match in _HIDES.finditer(text)]


def _lines(old: bytes, new: bytes) -> int:
    lines = difflib.unified_diff(old.decode().splitlines(), new.decode().splitlines(), n=0, lineterm="")
    return sum(line[:1] in {"+", "-"} and not line.startswith(("+++", "---")) for line in lines)
