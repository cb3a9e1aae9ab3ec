"""Compiles Wasm that a caller sent in a process of its own, with so much time and memory: a compiler's work may grow faster than its input.

The gateway compiles the bundle in force itself. That one comes from its own disk.
"""

import os
import resource
import subprocess
import sys
from typing import Final

from gateway.core.errors import PolicyInvalid

CPU_SECONDS: Final = 20
"""Processor time; the shipped policies take less than one."""
_WALL_SECONDS: Final = 300
_ADDRESS_SPACE: Final = 4 * 1024**3
_NICE: Final = 10
"""Decisions come first."""


def compiled_apart(wasm: bytes) -> bytes:
    """The machine code of a module, as `embedded.native_code` makes it. Raises `errors.PolicyInvalid` for what is no Wasm, or takes too much."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=wasm,
            env={**environment, "PYTHONPATH": os.pathsep.join(each for each in sys.path if each)},
            capture_output=True,
            timeout=_WALL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PolicyInvalid(f"The policy bundle could not be compiled: {type(error).__name__}.") from error
    if done.returncode:
        raise PolicyInvalid(
            f"The policy bundle could not be compiled with {CPU_SECONDS} seconds of a processor and {_ADDRESS_SPACE // 1024**3} GiB: "
            "it is no Wasm, or no policies."
        )
    return done.stdout


def main() -> None:
    """Compile what stands on standard input to standard output."""
    from gateway.policy.embedded import native_code  # noqa: PLC0415  the limits come first

    sys.stdout.buffer.write(native_code(sys.stdin.buffer.read()))


if __name__ == "__main__":
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    main()
