"""The directory of one `sentinel up`: stack, settings, credentials, logs."""

import fcntl
import json
import os
import re
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from gateway.cli.demo.credentials import FILE_NAME
from gateway.core.errors import SentinelError
from gateway.core.outbound.blocking import blocking_request
from gateway.core.outbound.response import HttpResponse, OutboundFailure
from gateway.core.ports import Key

_LAST_START = "ports.json"
_LOCK = "lock"
_ANSWER_SECONDS, _LONGEST_ANSWER = 1.0, 64 * 1024


class CannotStart(SentinelError):
    """`sentinel up` cannot start with these options."""

    code = "cannot_start"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspaceOptions:
    """Options that `sentinel up` saves. None: as at the last start."""

    port: int | None = None
    simulated_port: int | None = None
    real: bool = False
    stack: Path | None = None
    """The user's own stack."""
    fresh: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """The paths and ports of one `sentinel up`."""

    root: Path
    port: int
    simulated_port: int
    """0 for the real AWS."""
    own_stack: Path | None = None
    """The user's own stack, used in place; None for a copy of the example."""
    ledger: str = ""
    """URL of the ledger in PostgreSQL; empty for SQLite."""

    @property
    def stack(self) -> Path:
        """The checkout of the Terraform stack."""
        return self.own_stack or self.root / "stack"

    @property
    def stack_name(self) -> str:
        """The stack's name in settings, records and the name of the branch."""
        name = re.sub(r"[^a-z0-9]+", "-", self.own_stack.name.lower()).strip("-")[:60] if self.own_stack else ""
        return name or "example"

    @property
    def config(self) -> Path:
        """The settings file that gateway and reconciler read."""
        return self.root / "sentinel.toml"

    @property
    def credentials(self) -> Path:
        """The file with the demo keys, mode 0600."""
        return self.root / FILE_NAME

    @property
    def applied(self) -> Path:
        """A marker file that exists once the stack was applied completely."""
        return self.root / "applied"

    @property
    def url(self) -> str:
        """The gateway's URL: AWS endpoint and JSON API."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def simulated_url(self) -> str:
        """The URL of the simulated AWS; empty for the real AWS."""
        return f"http://127.0.0.1:{self.simulated_port}" if self.simulated_port else ""


@contextmanager
def open_workspace(root: Path, options: WorkspaceOptions) -> Iterator[Workspace]:
    """The workspace in `root`, locked while the block runs, and emptied first with `options.fresh`, which keeps its ports.

    Raises CannotStart if a port is in use, if the directory was not made by `sentinel up` or is locked by another one, or if
    the options name another AWS or another stack than the last start.
    """
    if root.exists() and not _is_workspace(root):
        raise CannotStart(
            f"{root} is not empty and was not made by `sentinel up`. Choose another directory with --home."
        )
    workspace = _choose(root, options, _last_ports(root) if options.fresh else _read_last(root))
    for number, option in ((workspace.port, "--port"), (workspace.simulated_port, "--aws-port")):
        if number and not _is_free(number):
            if (root / _LOCK).exists():
                with _lock(root):  # if this `sentinel up` runs already, that is why, and it is said
                    pass
            raise CannotStart(_port_in_use(number, option))
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    with _lock(root):
        if options.fresh:
            _empty(root)
        ports = {"port": workspace.port, "simulated_port": workspace.simulated_port}
        own = {"stack": str(workspace.own_stack)} if workspace.own_stack else {}
        write_private(root / _LAST_START, json.dumps({**ports, **own}) + "\n")
        yield workspace


def _is_workspace(root: Path) -> bool:
    names = {entry.name for entry in root.iterdir()} if root.is_dir() else {"a file"}
    return not names or _LAST_START in names or _LOCK in names


def _read_last(root: Path) -> Mapping[str, str | int]:
    """Ports and stack of the last start, empty before the first. Raises CannotStart if the file is damaged."""
    path = root / _LAST_START
    try:
        document = json.loads(path.read_text())
        numbers = {name: int(document[name]) for name in ("port", "simulated_port")}
        return {**numbers, "stack": str(document.get("stack", ""))}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotStart(
            f"{path} is damaged ({type(error).__name__}: {error}), so the options of the last start in {root} are unknown. "
            "Start over with --fresh."
        ) from error


def _last_ports(root: Path) -> Mapping[str, str | int]:
    """The ports of the last start and nothing else; empty if they are not known."""
    try:
        last = _read_last(root)
    except CannotStart:
        return {}
    return {name: last[name] for name in ("port", "simulated_port") if last.get(name)}


def _choose(root: Path, options: WorkspaceOptions, last: Mapping[str, str | int]) -> Workspace:
    last_stack = str(last.get("stack", ""))
    if last and not options.fresh:
        _check_kind(root, options, last)
    workspace = Workspace(
        root=root,
        port=options.port or int(last.get("port", 8484)),
        simulated_port=0 if options.real else options.simulated_port or int(last.get("simulated_port", 8485)),
        own_stack=options.stack or (Path(last_stack) if last_stack else None),
    )
    if workspace.port == workspace.simulated_port:
        raise CannotStart(
            f"Gateway and simulated AWS cannot both listen on port {workspace.port}; choose different ports."
        )
    return workspace


def _check_kind(root: Path, options: WorkspaceOptions, last: Mapping[str, str | int]) -> None:
    """Raise CannotStart if the options name another AWS or another stack than the last start."""
    if bool(last["simulated_port"]) == options.real:
        kind, how = ("the simulated AWS", "without --aws") if options.real else ("the real AWS", "with --aws")
        raise CannotStart(
            f"{root} belongs to {kind}. Start it {how}, choose another --home, or start over with --fresh."
        )
    last_stack = str(last.get("stack", ""))
    if options.stack and str(options.stack) != last_stack:
        raise CannotStart(
            f"{root} belongs to {f'the stack {last_stack}' if last_stack else 'the example stack'}. "
            "Choose another --home for another stack, or start over with --fresh."
        )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _port_in_use(port: int, option: str) -> str:
    """The sentence for a port in use, which says if another Sentinel uses it."""
    user = "by another Sentinel" if _is_sentinel(port) else ""
    return f"Port {port} on 127.0.0.1 is in use{user and ' '}{user}. Choose another with {option}, or end the process that uses it."


def _is_sentinel(port: int) -> bool:
    """Whether a gateway answers on a port of this machine."""
    reply = successful_get(f"http://127.0.0.1:{port}/healthz", seconds=_ANSWER_SECONDS)
    return reply is not None and reply.document() == {"status": "alive"}


def successful_get(url: str, *, seconds: float) -> HttpResponse | None:
    """The reply of a part of a `sentinel up`; None if it does not listen, takes longer than `seconds`, or answers otherwise than 200."""
    try:
        reply = blocking_request(
            "GET", url, headers={}, connect_seconds=seconds, wait_seconds=seconds, most_bytes=_LONGEST_ANSWER
        )
    except OutboundFailure:
        return None
    return reply if reply.status == HTTPStatus.OK else None


@contextmanager
def _lock(root: Path) -> Iterator[None]:
    with (root / _LOCK).open("a") as file:  # the operating system releases the lock when the process ends
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotStart(
                f"Another `sentinel up` is running in {root}. End it, or choose another --home."
            ) from error
        yield


def _empty(root: Path) -> None:
    for entry in root.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()


def write_config(workspace: Workspace, *, reconciler: Key | None, policies: Path | None, observe: bool = False) -> None:
    """Write the settings file of gateway and reconciler. It contains the reconciler's key, so its mode is 0600."""
    key = (
        [f"key_id = {_toml_string(reconciler.id)}", f"key_secret = {_toml_string(reconciler.secret)}"]
        if reconciler
        else []
    )
    mode = ['mode = "observe"'] if observe else []
    lines = [
        "# Written by `sentinel up` at each start.",
        f"data = {_toml_string(workspace.root / 'data')}",
        *([f"ledger = {_toml_string(workspace.ledger)}"] if workspace.ledger else []),
        *mode,
        "[server]",
        'host = "127.0.0.1"',
        f"port = {workspace.port}",
        "[upstream]",
        f"simulated = {_toml_string(workspace.simulated_url)}",
        "[reconcile]",
        f"endpoint = {_toml_string(workspace.url)}",
        *key,
        *(["[policy]", f"path = {_toml_string(policies)}", "green_tests = false"] if policies else []),
        "[[stacks]]",
        f"name = {_toml_string(workspace.stack_name)}",
        f"path = {_toml_string(workspace.stack)}",
        *mode,
    ]
    write_private(workspace.config, "\n".join(lines) + "\n")


def _toml_string(value: object) -> str:
    """A TOML basic string. JSON's escapes are valid in TOML except surrogate pairs, so non-ASCII characters are not escaped."""
    return json.dumps(str(value), ensure_ascii=False)


def write_private(path: Path, text: str) -> None:
    """Write a file atomically, with mode 0600."""
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)  # an old one might be readable by others
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    partial.rename(path)
