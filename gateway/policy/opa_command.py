"""Finds and runs the `opa` command."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from gateway.core.errors import PolicyInvalid

_SECONDS: ContextVar[float] = ContextVar("opa_seconds", default=900)
OPA_TEST_TIMEOUT = "600s"
"""How long one rego test may run. opa's own default, 5 s, fails tests on a busy machine."""


@contextmanager
def opa_within(seconds: float) -> Iterator[None]:
    """Each run of opa in the block ends after so many seconds: for policies that nobody has reviewed."""
    token = _SECONDS.set(seconds)
    try:
        yield
    finally:
        _SECONDS.reset(token)


def find_opa() -> Path | None:
    """The `opa` on PATH, else the one that `make opa` built in `.tools/bin`, else None."""
    found = shutil.which("opa")
    if found:
        return Path(found)
    built = Path(__file__).resolve().parents[2] / ".tools" / "bin" / "opa"
    return built if os.access(built, os.X_OK) else None


def run_opa(opa: Path, arguments: Sequence[str], *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run opa in a directory with only PATH, HOME, TMPDIR and GOGC from the environment. Raises `errors.PolicyInvalid` if it cannot be run."""
    environment: Mapping[str, str] = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "GOGC") if name in os.environ
    }
    try:
        return subprocess.run(
            [str(opa), *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS.get(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PolicyInvalid(f"opa ({opa}) could not be run: {error}.") from error


def opa_output(opa: Path, arguments: Sequence[str], *, cwd: Path) -> str:
    """The standard output of opa. Raises `errors.PolicyInvalid` with opa's message, which contains file and line, if it fails."""
    done = run_opa(opa, arguments, cwd=cwd)
    if done.returncode != 0:
        message = (done.stderr.strip() or done.stdout.strip())[:4000]
        raise PolicyInvalid(f"opa {arguments[0]} found mistakes in the policies:\n{message}")
    return done.stdout


def opa_version(opa: Path) -> str:
    """The version of opa, e.g. `1.22.0`. Raises `errors.PolicyInvalid` if opa does not print one."""
    with tempfile.TemporaryDirectory() as empty:
        for line in opa_output(opa, ["version"], cwd=Path(empty)).splitlines():
            name, _, value = line.partition(":")
            if name == "Version":
                return value.strip()
    raise PolicyInvalid(f"opa ({opa}) does not print its version.")
