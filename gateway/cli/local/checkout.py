"""The Terraform stack of `sentinel up`: a copy of the example in its own git repository, or the user's stack in place."""

import asyncio
import os
import shutil
from pathlib import Path

from gateway.cli.local.workspace import CannotStart, Workspace

_GIT_OPTIONS = (
    *("-c", "user.name=Sentinel", "-c", "user.email=sentinel@localhost"),
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false"),
)


async def prepare_stack(workspace: Workspace, example: Path) -> None:
    """Copy the example if the user gave no stack, and check that the stack is in git with at least one commit.

    The user's own stack is only read. Raises CannotStart unless the stack is Terraform code in git.
    """
    if workspace.own_stack is None and not workspace.stack.exists():
        await _copy(example, workspace.stack)
    if not workspace.stack.is_dir() or not any(workspace.stack.glob("*.tf")):
        raise CannotStart(f"There is no Terraform code (*.tf) in {workspace.stack}. {_remedy(workspace)}")
    if not await _has_commit(workspace):
        raise CannotStart(
            f"{workspace.stack} is not in a git repository with a commit, and Sentinel writes changes back as commits on a branch. {_remedy(workspace)}"
        )


def _remedy(workspace: Workspace) -> str:
    return (
        "Name the root module of your stack with --stack, committed to git."
        if workspace.own_stack
        else "Something else changed this copy of the example. Start over with --fresh."
    )


async def _copy(example: Path, stack: Path) -> None:
    """Copy the example and commit it, under a temporary name that is then renamed, so that the stack is never incomplete."""
    partial = stack.with_name("stack.partial")
    shutil.rmtree(partial, ignore_errors=True)
    shutil.copytree(example, partial, ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*"))
    (partial / ".gitignore").write_text(".terraform*\n*.tfstate*\n")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "-m", "The stack as it was declared"),
    ):
        code, message = await _git(partial, *arguments)
        if code:
            raise CannotStart(f"git {arguments[0]} failed: {message}")
    partial.rename(stack)


async def _has_commit(workspace: Workspace) -> bool:
    """Whether the stack's repository has a commit. The copy must have its own repository; one in a parent directory does not count."""
    if workspace.own_stack is None and not (workspace.stack / ".git").exists():
        return False
    code, _ = await _git(workspace.stack, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return code == 0


async def _git(directory: Path, *arguments: str) -> tuple[int, str]:
    """Run git; returns exit code and standard error. GIT_* variables are removed, because they could name another repository."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("git", *_GIT_OPTIONS, "-C", str(directory), *arguments),
            env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
        )
    except FileNotFoundError as error:
        raise CannotStart("git is not on PATH, and Sentinel writes changes back as git commits.") from error
    _, stderr = await process.communicate()
    return process.returncode or 0, stderr.decode(errors="replace").strip()
