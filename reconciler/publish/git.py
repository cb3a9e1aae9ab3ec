"""Runs git in our own worktree, so that the user's checkout and index never change, and reads which write-backs a branch has."""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reconciler.errors import GitFailed
from reconciler.publish.codeowners import LARGEST, PLACES
from reconciler.terraform.cli import end_process

_SAFE = (
    "core.hooksPath=/dev/null",  # do not run the repository's hooks
    "protocol.file.allow=never",  # a submodule must not read repositories of this machine
    "core.fsmonitor=false",  # would run a program that the repository's configuration names
    "core.autocrlf=false",  # the bytes we edit are the bytes that are committed
    "commit.gpgSign=false",  # would ask for a pass phrase
    "gc.auto=0",
    "user.name=Sentinel",
    "user.email=sentinel@localhost",
)
_INHERITED = ("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USER", "LOGNAME")
"""The variables that git gets from our environment: no credential is among them."""
TRAILER = "Sentinel-Mutation"
TRAILER_FIELDS = (
    "--format=%x00%H"
    f"%x00%(trailers:key={TRAILER},valueonly,separator=%x20)"
    "%x00%(trailers:key=Sentinel-Corrects,valueonly,separator=%x20)"
)
"""Three fields for each commit. A commit message cannot hold a NUL, so nobody can add a field."""


async def git(
    directory: Path, *argv: str, stdin: str = "", environment: Mapping[str, str] | None = None, seconds: float = 600.0
) -> str:
    """Run git in `directory` and return what it printed. Raises `errors.GitFailed`, also after so many seconds."""
    environment = {**{name: os.environ[name] for name in _INHERITED if name in os.environ}, **(environment or {})}
    # Replacement objects would show another content under the id of a commit that we checked.
    environment |= {"GIT_TERMINAL_PROMPT": "0", "GIT_NO_REPLACE_OBJECTS": "1", "LC_ALL": "C.UTF-8"}
    options = [part for setting in _SAFE for part in ("-c", setting)]
    try:
        process = await asyncio.create_subprocess_exec(
            "git",
            *options,
            *argv,
            cwd=directory,
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        message = f"git could not be run in {directory}: {error}. Nothing was written."
        raise GitFailed(message) from error
    try:
        out, err = await asyncio.wait_for(process.communicate(stdin.encode()), seconds)
    except TimeoutError as error:
        message = f"`git {argv[0]}` took longer than {seconds:.0f} seconds in {directory} and was ended."
        raise GitFailed(message) from error
    finally:
        await end_process(process)
    if process.returncode:
        output = (err or out).decode(errors="replace").strip().splitlines()[-10:]
        message = f"`git {argv[0]}` failed in {directory}, and nothing more was written. It said:\n" + "\n".join(output)
        raise GitFailed(message)
    return out.decode(errors="replace")


_ON_FILES = r"merge\..*\.driver|filter\..*\.(clean|smudge|process)|trailer\..*\.(command|cmd)"
"""Keys of a configuration that make git run a program where files are checked out, committed or merged."""
_AT_REMOTES = (
    r"credential\..*|core\.(sshcommand|askpass|gitproxy|alternaterefscommand)|remote\..*\.(vcs|receivepack|uploadpack)"
)
"""Those that make a fetch or a push run one."""


async def refuse_programs(source: Path, *, remote: bool = False) -> None:
    """Raise `errors.GitFailed` if the repository's own configuration would have git run a program with our rights: on files, or also at a `remote`."""
    keys = f"^({_ON_FILES}|{_AT_REMOTES})$" if remote else f"^({_ON_FILES})$"
    try:
        found = await git(source, "config", "--show-scope", "--includes", "--name-only", "--get-regexp", keys)
    except GitFailed:
        return  # git ends with 1 if no key matches
    rows: Sequence[list[str]] = [row.split() for row in found.splitlines()]
    if local := [name for scope, name in rows if scope in {"local", "worktree"}]:
        message = (
            f"The configuration of the repository at {source} sets {', '.join(local)}, which would run a program with Sentinel's rights, so "
            "nothing was checked out, written or pushed. Set it in the configuration of the user that runs Sentinel instead."
        )
        raise GitFailed(message)


async def protected_head(source: Path, protected: str = "HEAD") -> str:
    """The protected branch's commit. Raises `errors.GitFailed`."""
    return (await git(source, "rev-parse", "--verify", f"{protected}^{{commit}}")).strip()


async def branch_tip(source: Path, name: str) -> str:
    """The commit of a branch, unchecked; empty if there is no such branch. Raises `errors.GitFailed`."""
    listed = await git(source, "for-each-ref", "--format=%(objectname) %(refname)", f"refs/heads/{name}")
    return next((row.split()[0] for row in listed.splitlines() if row.endswith(f" refs/heads/{name}")), "")


async def mutations_in(source: Path, protected: str = "HEAD") -> frozenset[str]:
    """The mutations with a trailer in the protected branch's commits; for those that correct a record also `ID@NUMBER`. Raises `errors.GitFailed`."""
    listed = await git(source, "log", "--fixed-strings", f"--grep={TRAILER}: ", TRAILER_FIELDS, protected, "--")
    found: set[str] = set()
    for _, ids, corrected in read_trailers(listed):
        found |= {*ids, *write_back_keys(ids, corrected)}
    return frozenset(found)


async def trailer_keys(source: Path, *revisions: str) -> tuple[str, ...]:
    """The write-backs that the commits in a range name: mutation ids, and `ID@NUMBER` for a commit that corrects a record. Raises `errors.GitFailed`."""
    rows = read_trailers(await git(source, "log", TRAILER_FIELDS, *revisions, "--"))
    return tuple(key for _, ids, corrected in rows for key in write_back_keys(ids, corrected))


def read_trailers(listed: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Commit, mutations and corrected records, from what `git log` printed with `TRAILER_FIELDS`.

    A corrected record is a number, or `ID@NUMBER` in a commit of several mutations.
    """
    fields = [field.split() for field in listed.split("\0")[1:]]
    for (commit,), ids, corrected in zip(fields[::3], fields[1::3], fields[2::3], strict=True):
        yield commit, ids, corrected


def write_back_keys(ids: Sequence[str], corrected: Sequence[str]) -> Iterator[str]:
    """What names the write-backs of one commit: the ids of mutations, and `ID@NUMBER` for those that correct a record."""
    numbers = [each for each in corrected if "@" not in each]
    for mutation in ids:
        own = [each for each in corrected if each.startswith(f"{mutation}@")]
        yield from (*(f"{mutation}@{number}" for number in numbers), *own) or (mutation,)


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
