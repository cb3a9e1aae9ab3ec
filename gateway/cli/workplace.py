"""The directory of one `sentinel up`: the stack's repository, settings, credentials, logs."""

import asyncio
import json
import os
import shutil
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import SentinelError
from gateway.ports import Key


class CannotStart(SentinelError):
    """`sentinel up` cannot start as asked."""

    code = "cannot_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Workplace:
    """Where everything of one `sentinel up` lies, and the ports it uses."""

    root: Path
    port: int
    simulated_port: int
    """0 for the real AWS."""

    @property
    def stack(self) -> Path:
        """The working copy of the Terraform stack, a git repository of its own."""
        return self.root / "stack"

    @property
    def config(self) -> Path:
        """The settings file of gateway and reconciler."""
        return self.root / "sentinel.toml"

    @property
    def credentials(self) -> Path:
        """The ready-made keys, mode 0600."""
        return self.root / "credentials.json"

    @property
    def url(self) -> str:
        """Where the gateway listens: AWS endpoint and API in one."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def simulated_url(self) -> str:
        """Where the simulated AWS listens; empty for the real one."""
        return f"http://127.0.0.1:{self.simulated_port}" if self.simulated_port else ""


def open_workplace(root: Path, *, port: int, simulated_port: int, real: bool, fresh: bool) -> Workplace:
    """The workplace in `root`: with the ports it had last time where none are asked for, emptied first if `fresh`.

    Raises CannotStart for a port in use, and for going on with another AWS than last time.
    """
    if fresh and root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True, exist_ok=True)
    remembered = root / "ports.json"
    last: Mapping[str, Any] = json.loads(remembered.read_text()) if remembered.is_file() else {}
    if last and bool(last["simulated_port"]) == real:
        kind = "the simulated AWS" if real else "the real AWS"
        raise CannotStart(f"{root} belongs to {kind}. Start it so, or begin anew with --fresh.")
    place = Workplace(
        root=root,
        port=port or int(last.get("port", 8484)),
        simulated_port=0 if real else simulated_port or int(last.get("simulated_port", 8485)),
    )
    for number, option in ((place.port, "--port"), (place.simulated_port, "--aws-port")):
        if number and not _free(number):
            raise CannotStart(
                f"Port {number} on 127.0.0.1 is in use. Choose another with {option}, or end what uses it."
            )
    remembered.write_text(json.dumps({"port": place.port, "simulated_port": place.simulated_port}))
    return place


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


async def lay_out(place: Workplace, source: Path) -> None:
    """Copy the stack and make it a git repository with one commit on `main`; what is there already is left as it is."""
    if place.stack.exists():
        return
    copy = place.stack.with_name("stack.partial")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns(".terraform*", "*.tfstate*"))
    (copy / ".gitignore").write_text(".terraform*\n*.tfstate*\n")
    identity = ("-c", "user.name=Sentinel", "-c", "user.email=sentinel@localhost", "-c", "core.hooksPath=/dev/null")
    for arguments in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        (*identity, "commit", "--quiet", "-m", "The stack as it was declared"),
    ):
        await _git(copy, *arguments)
    copy.rename(place.stack)


async def _git(directory: Path, *arguments: str) -> None:
    try:
        process = await asyncio.create_subprocess_exec(
            "git", "-C", str(directory), *arguments, stderr=asyncio.subprocess.PIPE
        )
    except FileNotFoundError as error:
        raise CannotStart("git is not on PATH; Sentinel writes changes back as git commits.") from error
    _, complaint = await process.communicate()
    if process.returncode:
        raise CannotStart(f"git {' '.join(arguments[:1])} failed: {complaint.decode(errors='replace').strip()}")


def write_config(place: Workplace, *, reconciler: Key, policies: Path | None) -> None:
    """Write the settings file that gateway and reconciler of this workplace read. It holds the reconciler's key: mode 0600."""
    lines = [
        "# Written by `sentinel up`.",
        f"data = {_quoted(place.root / 'data')}",
        "[server]",
        f"port = {place.port}",
        "[upstream]",
        f"simulated = {_quoted(place.simulated_url)}",
        "[reconcile]",
        f"endpoint = {_quoted(place.url)}",
        f"key_id = {_quoted(reconciler.id)}",
        f"key_secret = {_quoted(reconciler.secret)}",
        *(["[policy]", f"path = {_quoted(policies)}"] if policies else []),
        "[[stacks]]",
        'name = "example"',
        f"path = {_quoted(place.stack)}",
    ]
    write_private(place.config, "\n".join(lines) + "\n")


def _quoted(value: object) -> str:
    """A TOML basic string (JSON's escapes are a subset of TOML's)."""
    return json.dumps(str(value))


def write_private(path: Path, text: str) -> None:
    """Write a file only its owner can read, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
    partial.rename(path)
