"""What of the stack's branch the protected branch does not have: write-backs by their trailers, files by their content."""

import re
from pathlib import Path

from reconciler.publish.codeowners import LARGEST, PLACES
from reconciler.publish.git import git, mutations_in, trailer_keys

_KEY = re.compile(r"(mut|fgn)_[0-9a-z]{26}(@[0-9]{1,18})?")
"""A mutation or a change from outside, and the record that is corrected."""


async def unmerged_write_backs(source: Path, tip: str, protected: str) -> tuple[str, ...]:
    """The write-backs of the branch at `tip`, oldest first, that the protected branch does not contain, however they were merged.

    Anyone who can push to the branch can write a trailer: one that names no id of ours is none. Raises `errors.GitFailed`.
    """
    merged = await mutations_in(source, protected)
    keys = await trailer_keys(source, "--reverse", tip, "--not", protected)
    return tuple(dict.fromkeys(key for key in keys if key not in merged and _KEY.fullmatch(key)))


async def all_merged(source: Path, tip: str, protected: str) -> bool:
    """Whether the branch has write-backs, and the protected branch contains each of them. Raises `errors.GitFailed`."""
    keys = await trailer_keys(source, tip, "--not", protected)
    return bool(keys) and not await unmerged_write_backs(source, tip, protected)


async def changed_files(source: Path, tip: str, protected: str) -> tuple[str, ...]:
    """The files, from the top of the repository, that the branch changes compared with where it left the protected branch.

    Raises `errors.GitFailed`.
    """
    listed = await git(source, "diff", "--name-only", "--no-renames", "-z", f"{protected}...{tip}", "--")
    return tuple(name for name in listed.split("\0") if name)


async def codeowners_text(source: Path, protected: str) -> str:
    """The CODEOWNERS file of the protected branch that counts; empty if there is none. Raises `errors.GitFailed`."""
    listed = await git(source, "ls-tree", "-l", "-z", "--full-tree", protected, "--", *PLACES)
    rows = [row.partition("\t") for row in listed.split("\0") if row]
    found = {name: about.split() for about, _, name in rows}
    for place in PLACES:
        if place in found:
            _, kind, blob, size = found[place]
            readable = kind == "blob" and size.isdigit() and int(size) <= LARGEST
            return await git(source, "cat-file", "blob", blob) if readable else ""
    return ""
