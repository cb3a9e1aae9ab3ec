"""The Terraform stack of a `sentinel up`: a copy of the example in a git repository of its own, or the user's, where it is."""

import asyncio
import os
import shutil
from pathlib import Path

from gateway.cli.local.workspace import CannotStart, Workspace

_SAFE = (
    *("-c", "user.name=Sentinel", "-c", "user.email=sentinel@localhost"),
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"),
)


async def lay_out(place: Workspace, example: Path) -> None:
    """See to it that the stack is there, with a commit to build on. The user's own is only looked at, never written to.

    Raises CannotStart where it is no Terraform code in git.
    """
    if place.own_stack is None and not place.stack.exists():
        await _copy(example, place.stack)
    if not place.stack.is_dir() or not any(place.stack.glob("*.tf")):
        raise CannotStart(f"There is no Terraform code (*.tf) in {place.stack}. {_way_out(place)}")
    if not await _has_commit(place):
        raise CannotStart(
            f"{place.stack} is not in a git repository with a commit; Sentinel writes changes back as commits on a branch. {_way_out(place)}"
        )


def _way_out(place: Workspace) -> str:
    return (
        "Name the root module of your stack with --stack, committed to git."
        if place.own_stack
        else "It was changed from outside: begin anew with --fresh."
    )


async def _copy(example: Path, stack: Path) -> None:
    """Made aside and renamed, so that one that is there is whole."""
    aside = stack.with_name("stack.partial")
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(example, aside, ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*"))
    (aside / ".gitignore").write_text(".terraform*\n*.tfstate*\n")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "The stack as it was declared"),
    ):
        code, said = await _git(aside, *arguments)
        if code:
            raise CannotStart(f"git {arguments[0]} failed: {said}")
    aside.rename(stack)


async def _has_commit(place: Workspace) -> bool:
    """Whether git knows a commit here; for the copy, in its own repository and not in one further up."""
    if place.own_stack is None and not (place.stack / ".git").exists():
        return False
    code, _ = await _git(place.stack, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return code == 0


async def _git(directory: Path, *arguments: str) -> tuple[int, str]:
    """Exit code, and what git complained of. Variables that would point it to another repository are not passed on."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *_SAFE, "-C", str(directory), *arguments),
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise CannotStart("git is not on PATH; Sentinel writes changes back as git commits.") from error
    _, complaint = await process.communicate()
    return process.returncode or 0, complaint.decode(errors="replace").strip()
