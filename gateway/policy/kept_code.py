"""Keeps the machine code of the policies between starts, sealed with a key: machine code is not checked when it is loaded."""

import hashlib
import hmac
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog

FILE_NAME: Final = "policy-code"
"""Name of the file in the data directory."""
_SEAL: Final = 32
_LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a file that is read; the shipped policies have 1.8 MB of machine code."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptCode:
    """The machine code of the module that was compiled last, in a file of the gateway."""

    path: Path
    key: bytes = field(repr=False)
    """Seals the code together with the module: who may write the file and has no key cannot make the gateway run anything."""

    def read(self, wasm: bytes) -> bytes:
        """The code of this module; empty if the file is missing, is of another module or was written by somebody else."""
        try:
            with self.path.open("rb") as file:
                content = file.read(_LARGEST)
        except OSError:
            return b""
        seal, code = content[:_SEAL], content[_SEAL:]
        if not code or not hmac.compare_digest(seal, self._seal(wasm, code)):
            return b""
        return code

    def write(self, wasm: bytes, code: bytes) -> None:
        """Keep the code of this module in place of what was kept. If that fails, the next start takes longer."""
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.write(self._seal(wasm, code) + code)
            temporary.replace(self.path)
        except OSError as error:
            log.warning("policy_code_not_kept", path=str(self.path), problem=str(error))

    def _seal(self, wasm: bytes, code: bytes) -> bytes:
        return hmac.digest(self.key, hashlib.sha256(wasm).digest() + code, "sha256")


def code_of(
    wasm: bytes, kept: KeptCode | None, compiled: Callable[[bytes], bytes], runs: Callable[[bytes], bool]
) -> bytes:
    """The machine code of a module: what is kept, if it `runs` here, else as it is `compiled` now, which is kept then.

    Another version of the runtime or another processor cannot run what is kept. Raises what `compiled` raises.
    """
    if kept is None:
        return compiled(wasm)
    code = kept.read(wasm)
    if code and runs(code):
        return code
    code = compiled(wasm)
    kept.write(wasm, code)
    return code
