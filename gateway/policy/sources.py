"""The source files of a policy bundle: every `.rego` file except tests, and `data/*.json`."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.core.errors import PolicyInvalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """A snapshot of all sources: contents by path relative to `directory`, with `/`."""

    directory: Path
    files: Mapping[str, bytes]

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file, 64 hex digits."""
        return {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}


def shipped() -> Path:
    """The directory of the policies shipped with Sentinel: in the installed package, else in this checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "_assets" / "policies"
    return installed if installed.is_dir() else package.parent / "policies"


def source_paths(directory: Path) -> list[Path]:
    """The sorted paths of the sources, without tests, the built bundle and hidden directories.

    Raises `errors.PolicyInvalid` if there is no policy.
    """
    rego = [path for path in directory.rglob("*.rego") if not path.name.endswith("_test.rego")]
    data = list((directory / "data").glob("*.json"))
    if not rego:
        raise PolicyInvalid(
            f"There are no policies (*.rego) in {directory}, and Sentinel does not run without policies."
        )
    return sorted(path for path in (*rego, *data) if not _is_excluded(path.relative_to(directory)))


def read_sources(directory: Path) -> Sources:
    """Read all sources once. Raises `errors.PolicyInvalid` if there are none or one cannot be read."""
    try:
        files = {path.relative_to(directory).as_posix(): path.read_bytes() for path in source_paths(directory)}
    except OSError as error:
        raise PolicyInvalid(f"The policies in {directory} cannot be read: {error}.") from error
    return Sources(directory=directory, files=files)


def _is_excluded(path: Path) -> bool:
    return any(part.startswith(".") or part == "bundle" for part in path.parts)
