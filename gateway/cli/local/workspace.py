"""The directory of one `sentinel up`: the stack's repository, settings, credentials, logs."""

import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gateway.cli.local.credentials import FILE_NAME
from gateway.errors import SentinelError
from gateway.ports import Key

_MEMORY = "ports.json"
_LOCK = "lock"


class CannotStart(SentinelError):
    """`sentinel up` cannot start as asked."""

    code = "cannot_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceOptions:
    """What `sentinel up` is asked for; what is left open is as it was last time."""

    port: int | None = None
    simulated_port: int | None = None
    real: bool = False
    stack: Path | None = None
    """The user's own stack."""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """Where everything of one `sentinel up` lies, and the ports it uses."""

    root: Path
    port: int
    simulated_port: int
    """0 for the real AWS."""
    own_stack: Path | None = None
    """The user's own stack, guarded where it is; None for a copy of the example."""

    @property
    def stack(self) -> Path:
        """The checkout of the Terraform stack."""
        return self.own_stack or self.root / "stack"

    @property
    def stack_name(self) -> str:
        """The stack's name in settings, records and the branch."""
        name = re.sub(r"[^a-z0-9]+", "-", self.own_stack.name.lower()).strip("-")[:60] if self.own_stack else ""
        return name or "example"

    @property
    def config(self) -> Path:
        """The settings file of gateway and reconciler."""
        return self.root / "sentinel.toml"

    @property
    def credentials(self) -> Path:
        """The ready-made keys, mode 0600."""
        return self.root / FILE_NAME

    @property
    def applied(self) -> Path:
        """A file that is there once the stack was applied as a whole."""
        return self.root / "applied"

    @property
    def url(self) -> str:
        """Where the gateway listens: AWS endpoint and API in one."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def simulated_url(self) -> str:
        """Where the simulated AWS listens; empty for the real one."""
        return f"http://127.0.0.1:{self.simulated_port}" if self.simulated_port else ""


@contextmanager
def open_workspace(root: Path, wanted: WorkspaceOptions) -> Iterator[Workspace]:
    """The workplace in `root`, ours alone for as long as the block lasts; emptied first where a fresh one is wanted.

    Raises CannotStart for a port in use, a directory that is not ours, one that another `sentinel up` holds, and for going on
    with another AWS or another stack than last time.
    """
    if root.exists() and not _is_ours(root):
        raise CannotStart(f"{root} is not empty and no `sentinel up` made it. Choose another directory with --home.")
    place = _place(root, wanted, {} if wanted.fresh else _remembered(root))
    for number, option in ((place.port, "--port"), (place.simulated_port, "--aws-port")):
        if number and not _free(number):
            raise CannotStart(
                f"Port {number} on 127.0.0.1 is in use. Choose another with {option}, or end what uses it."
            )
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _alone(root):
        if wanted.fresh:
            _empty(root)
        memory = {"port": place.port, "simulated_port": place.simulated_port}
        own = {"stack": str(place.own_stack)} if place.own_stack else {}
        write_private(root / _MEMORY, json.dumps({**memory, **own}) + "\n")
        yield place


def _is_ours(root: Path) -> bool:
    names = {entry.name for entry in root.iterdir()} if root.is_dir() else {"a file"}
    return not names or _MEMORY in names or _LOCK in names


def _remembered(root: Path) -> Mapping[str, str | int]:
    """What the last start chose. Raises CannotStart where that is damaged."""
    path = root / _MEMORY
    try:
        document = json.loads(path.read_text())
        numbers = {name: int(document[name]) for name in ("port", "simulated_port")}
        return {**numbers, "stack": str(document.get("stack", ""))}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotStart(
            f"{path} is damaged ({type(error).__name__}: {error}), so what {root} was started with is not known. "
            "Begin anew with --fresh."
        ) from error


def _place(root: Path, wanted: WorkspaceOptions, last: Mapping[str, str | int]) -> Workspace:
    if last and bool(last["simulated_port"]) == wanted.real:
        kind, how = ("the simulated AWS", "without --aws") if wanted.real else ("the real AWS", "with --aws")
        raise CannotStart(
            f"{root} belongs to {kind}. Start it {how}, choose another --home, or begin anew with --fresh."
        )
    known = str(last.get("stack", ""))
    if last and wanted.stack and str(wanted.stack) != known:
        raise CannotStart(
            f"{root} belongs to {f'the stack {known}' if known else 'the example stack'}. "
            "Choose another --home for another stack, or begin anew with --fresh."
        )
    place = Workspace(
        root=root,
        port=wanted.port or int(last.get("port", 8484)),
        simulated_port=0 if wanted.real else wanted.simulated_port or int(last.get("simulated_port", 8485)),
        own_stack=wanted.stack or (Path(known) if known else None),
    )
    if place.port == place.simulated_port:
        raise CannotStart(f"Gateway and simulated AWS cannot both listen on port {place.port}; choose two ports.")
    return place


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def _alone(root: Path) -> Iterator[None]:
    with (root / _LOCK).open("a") as file:  # the lock ends with the process, however it ends
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotStart(f"Another `sentinel up` runs in {root}. End it, or choose another --home.") from error
        yield


def _empty(root: Path) -> None:
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()


def write_config(place: Workspace, *, reconciler: Key | None, policies: Path | None) -> None:
    """Write the settings file that gateway and reconciler of this workplace read. It holds the reconciler's key: mode 0600."""
    key = [f"key_id = {_quoted(reconciler.id)}", f"key_secret = {_quoted(reconciler.secret)}"] if reconciler else []
    lines = [
        "# Written by `sentinel up` at each start.",
        f"data = {_quoted(place.root / 'data')}",
        "[server]",
        'host = "127.0.0.1"',
        f"port = {place.port}",
        "[upstream]",
        f"simulated = {_quoted(place.simulated_url)}",
        "[reconcile]",
        f"endpoint = {_quoted(place.url)}",
        *key,
        *(["[policy]", f"path = {_quoted(policies)}"] if policies else []),
        "[[stacks]]",
        f"name = {_quoted(place.stack_name)}",
        f"path = {_quoted(place.stack)}",
    ]
    write_private(place.config, "\n".join(lines) + "\n")


def _quoted(value: object) -> str:
    """A TOML basic string: JSON's escapes are a subset of TOML's, but for surrogate pairs, so other letters stay as they are."""
    return json.dumps(str(value), ensure_ascii=False)


def write_private(path: Path, text: str) -> None:
    """Write a file only its owner can read, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)  # one left behind might be readable by others
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    partial.rename(path)
