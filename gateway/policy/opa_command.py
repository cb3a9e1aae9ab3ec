"""The `opa` tool: where it is, and what it is asked to do."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gateway.errors import PolicyInvalid

_SECONDS = 60


def find_opa() -> Path | None:
    """The `opa` on PATH, else the one that `make setup` built into `.tools/bin`; None where there is neither."""
    found = shutil.which("opa")
    if found:
        return Path(found)
    built = Path(__file__).resolve().parents[2] / ".tools" / "bin" / "opa"
    return built if os.access(built, os.X_OK) else None


def run_opa(opa: Path, arguments: Sequence[str], *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run opa in a directory, with nothing of our environment but PATH and HOME. Raises `errors.PolicyInvalid` where it cannot be run."""
    environment: Mapping[str, str] = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
    }
    try:
        return subprocess.run(
            [str(opa), *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PolicyInvalid(f"opa ({opa}) could not be run: {error}.") from error


def opa_output(opa: Path, arguments: Sequence[str], *, cwd: Path) -> str:
    """What opa prints. Raises `errors.PolicyInvalid` with opa's own words, which name file and line, where it fails."""
    done = run_opa(opa, arguments, cwd=cwd)
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip())[:4000]
        raise PolicyInvalid(f"opa {arguments[0]} found mistakes in the policies:\n{said}")
    return done.stdout


def opa_version(opa: Path) -> str:
    """Its version, e.g. `1.22.0`. Raises `errors.PolicyInvalid` where it does not tell."""
    with tempfile.TemporaryDirectory() as nowhere:
        for line in opa_output(opa, ["version"], cwd=Path(nowhere)).splitlines():
            name, _, value = line.partition(":")
            if name == "Version":
                return value.strip()
    raise PolicyInvalid(f"opa ({opa}) does not tell its version.")
