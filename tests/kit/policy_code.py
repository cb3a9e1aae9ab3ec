"""The machine code of policies, compiled once on a machine: it takes 0.75 s of a processor for each bundle, in each process."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.policy import embedded
from gateway.policy.compile_apart import compiled_apart
from gateway.policy.kept_code import KeptCode, code_of

_PLACE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sentinel-gateway" / "policy-code"
_MOST: Final = 128
"""Files that are kept, of some 2 MB."""
_compiled = embedded.compiled


def compiled_once(wasm: bytes) -> bytes:
    """As `embedded.compiled`; what this runtime compiled on this machine before is read."""
    return _once(wasm, _compiled)


def compiled_apart_once(wasm: bytes) -> bytes:
    """As `compile_apart.compiled_apart`, in the same way: where only data were edited, the policies are those in force."""
    return _once(wasm, compiled_apart)


def _once(wasm: bytes, compiled: Callable[[bytes], bytes]) -> bytes:
    path = _PLACE / hashlib.sha256(wasm).hexdigest()
    if not path.exists():
        _PLACE.mkdir(parents=True, exist_ok=True, mode=0o700)
        _prune()
    return code_of(wasm, KeptCode(path=path, key=b"tests"), compiled, embedded._runs)


def _prune() -> None:
    """Remove the oldest files. Another process may do the same at once."""
    with suppress(OSError):
        for oldest in sorted(_PLACE.iterdir(), key=lambda path: -path.stat().st_mtime)[_MOST:]:
            oldest.unlink()
