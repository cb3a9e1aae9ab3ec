"""Reads Terraform states by `terraform state pull`, in a directory of their own that has the backend's block and no other code.

So no provider and no module is installed or run, whatever the stack's code says.
"""

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from gateway.core.errors import CodeInvalid
from gateway.core.ports import Clock
from gateway.terraform.config.backend import StateBackend
from gateway.terraform.lang.quoting import quoted_text

_ASK_AGAIN: Final = 30.0
"""For how many seconds a state is taken as current."""
_LARGEST: Final = 256 * 1024 * 1024
_SHOWN: Final = 600
"""Characters of what terraform says that are shown."""
_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_ALWAYS: Final = (
    "PATH",
    "TMPDIR",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
_OF_BACKEND: Final[Mapping[str, tuple[str, ...]]] = {
    "azurerm": ("ARM_",),
    "cloud": ("TF_TOKEN_", "TF_CLOUD_"),
    "consul": ("CONSUL_",),
    "cos": ("TENCENTCLOUD_",),
    "gcs": ("GOOGLE_",),
    "http": ("TF_HTTP_",),
    "kubernetes": ("KUBE_",),
    "oci": ("OCI_",),
    "oss": ("ALICLOUD_",),
    "pg": ("PG",),
    "remote": ("TF_TOKEN_",),
}
"""How the variables begin from which each backend takes its credentials, as its page in Terraform's documentation says."""
_CONFIGURATION: Final = "terraform.tfrc"
_NO_PROVIDERS: Final = "provider_installation {{\n  filesystem_mirror {{\n    path = {path}\n  }}\n}}\n"
"""No provider is installed from anywhere: a state is read without."""
_RUNNING: Final = frozenset({"exec"})
"""Blocks inside a backend's block that name a program which the backend runs."""


@dataclass(frozen=True, slots=True)
class _Pulled:
    """The last answer for a backend."""

    content: bytes
    tag: str
    when: datetime


@dataclass(slots=True, weakref_slot=True)
class PulledStates:
    """States that Terraform reads. The first read of a state waits for it; later ones have the last state at once, and a new one is
    read in a thread of its own.
    """

    directory: Path
    executable: str
    allowed: frozenset[str]
    """Which blocks the settings allow to reach a server, such as `backend.pg`."""
    clock: Clock
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ, repr=False)
    seconds: float = 60.0
    """For how long one command of terraform may run."""
    ask_again: float = _ASK_AGAIN
    now: Callable[[], float] = time.monotonic
    _kept: dict[str, _Pulled] = field(default_factory=dict)
    _failures: dict[str, str] = field(default_factory=dict)
    _asked: dict[str, float] = field(default_factory=dict)
    """When a pull was started last."""
    _running: dict[str, threading.Thread] = field(default_factory=dict)
    _homes: dict[str, Path] = field(default_factory=dict)
    _initialised: set[str] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self, wanted: StateBackend) -> tuple[bytes, str]:
        """The state and its digest; no bytes if there is none yet.

        Raises `errors.CodeInvalid` if it cannot be read, and as long as the last attempt failed; who has an older state keeps it.
        """
        self._check(wanted)
        key = _digest(wanted)
        with self._lock:
            first = key not in self._asked
            due = first or self.now() - self._asked[key] >= self.ask_again
            if due and key not in self._running:
                self._asked[key] = self.now()
                self._running[key] = threading.Thread(target=self._pull, args=(wanted, key), daemon=True)
                self._running[key].start()
            running = self._running.get(key)
            known = key in self._kept or key in self._failures
        if running is not None and not known:
            running.join()
        if failure := self._failures.get(key):
            raise CodeInvalid(failure)
        kept = self._kept[key]
        return kept.content, kept.tag

    def _check(self, wanted: StateBackend) -> None:
        """Raise `CodeInvalid` unless the settings allow the backend: what code names as its server gets requests, and our credentials."""
        needed = [f"backend.{wanted.kind}" if wanted.kind != "cloud" else "cloud"]
        needed += [f"backend.{name}" for name in sorted(wanted.blocks & _RUNNING)]
        if missing := [name for name in needed if name not in self.allowed]:
            raise CodeInvalid(
                f"{wanted.source}: The stack {wanted.stack} keeps its state in {wanted.url}. It is read by `terraform state pull`, which "
                "reaches the server that the code names. If that is wanted, list "
                f"{' and '.join(f'`{name}`' for name in missing)} in `reconcile.allow.blocks`. Or write the state to a file "
                f"(`terraform state pull > FILE`, again after each apply), and name that as `state` of the stack {wanted.stack}."
            )

    def _pull(self, wanted: StateBackend, key: str) -> None:
        """Read the state now, and keep it or why it could not be read."""
        try:
            content = self._pulled(wanted, key)
            self._kept[key] = _Pulled(content, hashlib.sha256(content).hexdigest(), self.clock.now())
            failure = ""
        except Exception as error:  # noqa: BLE001  whatever it is, the thread ends with an answer
            self._initialised.discard(key)
            failure = self._failed(wanted, key, str(error) or type(error).__name__)
        with self._lock:
            self._failures[key] = failure
            self._running.pop(key, None)

    def _failed(self, wanted: StateBackend, key: str, why: str) -> str:
        kept = self._kept.get(key)
        age = f" The state as it was at {kept.when:%Y-%m-%dT%H:%M:%SZ} stays in force." if kept is not None else ""
        return f"{wanted.source}: The state in {wanted.url} of the stack {wanted.stack} cannot be read: {why}{age}"

    def _pulled(self, wanted: StateBackend, key: str) -> bytes:
        root = self._home(key)
        if key not in self._initialised:
            _write(root / "main.tf", f"terraform {{\n{wanted.code}\n}}\n")
            given = "".join(f"{name} = {quoted_text(value)}\n" for name, value in sorted(wanted.given.items()))
            _write(root / "given.tfbackend", given)
            _write(root / _CONFIGURATION, _NO_PROVIDERS.format(path=quoted_text(str(root / "providers"))))
            self._initialise(wanted, root, ["-backend-config=given.tfbackend"] if given else [])
            self._initialised.add(key)
        return self._run(wanted, root, "state", "pull")

    def _initialise(self, wanted: StateBackend, root: Path, more: list[str]) -> None:
        """Prepare the backend. Afterwards terraform wants the providers that the state names, which are not needed and not there."""
        settled = root / ".terraform" / "terraform.tfstate"
        settled.unlink(missing_ok=True)
        try:
            self._run(wanted, root, "init", "-input=false", "-no-color", "-lock=false", "-reconfigure", *more)
        except CodeInvalid:
            if not settled.is_file():
                raise

    def _home(self, key: str) -> Path:
        """A directory that only we can read, of this process alone and gone with it: replicas may share the data directory."""
        if key not in self._homes:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._homes[key] = Path(tempfile.mkdtemp(dir=self.directory))
            weakref.finalize(self, shutil.rmtree, self._homes[key], ignore_errors=True)
        return self._homes[key]

    def _run(self, wanted: StateBackend, root: Path, *argv: str) -> bytes:
        """What a command writes. It goes through files that only we can read, so that its size is known first. Raises `CodeInvalid`."""
        out, said = root / "out", root / "said"
        for file in (out, said):
            _write(file, "")
        try:
            with out.open("wb") as output, said.open("wb") as errors:
                done = subprocess.run(
                    [self._executable(), *argv],
                    cwd=root,
                    env=self._environment(wanted, root),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=errors,
                    timeout=self.seconds,
                    check=False,
                )
            if done.returncode:
                raise CodeInvalid(f"`terraform {argv[0]}` says: {_shown(said, out)}")
            if out.stat().st_size > _LARGEST:
                raise CodeInvalid(f"it is larger than {_LARGEST} bytes.")
            return out.read_bytes()
        except subprocess.TimeoutExpired:
            raise CodeInvalid(
                f"`terraform {argv[0]}` took longer than {self.seconds:.0f} seconds and was ended."
            ) from None
        except FileNotFoundError:
            raise CodeInvalid(f"there is no `{self.executable}`. Install it, or set `reconcile.terraform`.") from None
        finally:
            out.unlink(missing_ok=True)
            said.unlink(missing_ok=True)

    def _executable(self) -> str:
        if self.executable == "terraform" and shutil.which("terraform") is None:
            return shutil.which("tofu") or self.executable
        return self.executable

    def _environment(self, wanted: StateBackend, root: Path) -> dict[str, str]:
        """The variables that this kind of backend needs, and none of the gateway's others."""
        begins = _OF_BACKEND.get(wanted.kind, ())
        passed = {name: value for name, value in self.environ.items() if name in _ALWAYS or name.startswith(begins)}
        own = {"HOME": str(root), "TF_DATA_DIR": str(root / ".terraform"), "CHECKPOINT_DISABLE": "1"}
        own |= {"TF_CLI_CONFIG_FILE": str(root / _CONFIGURATION)}
        return {**passed, **own, **({"TF_WORKSPACE": wanted.workspace} if wanted.workspace else {})}


def _digest(wanted: StateBackend) -> str:
    """The same for the same backend and workspace of one stack."""
    parts = (wanted.stack, wanted.kind, wanted.code, repr(sorted(wanted.given.items())), wanted.workspace)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write a file that only we can read."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)


def _shown(*files: Path) -> str:
    """The end of what terraform said, on one line, without credentials in URLs."""
    text = next((text for file in files if (text := file.read_text(errors="replace").strip())), "nothing")
    line = " ".join(re.sub(r"\x1b\[[0-9;]{0,16}m|[╷│╵]", "", text).split())
    return _CREDENTIALS.sub("…", line)[-_SHOWN:]
