"""Wasm that a caller sends is compiled apart from the gateway, and not for as long as the caller likes."""

from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy import compile_apart
from gateway.policy.bundle import Bundle
from gateway.policy.compile_apart import compiled_apart
from gateway.policy.embedded import Embedded

pytestmark = pytest.mark.slow


def _number(value: int) -> bytes:
    """LEB128."""
    parts = []
    while value > 0x7F:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*parts, value))


def _section(kind: int, content: bytes) -> bytes:
    return bytes((kind,)) + _number(len(content)) + content


def _module(branches: int, variables: int = 40_000) -> bytes:
    """A valid module of one function, whose compilation grows with branches and variables together."""
    lines = b"".join(
        b"\x20\x00\x04\x40\x20\x00\x21" + _number(1 + each % variables) + b"\x0b" for each in range(branches)
    )
    body = b"\x01" + _number(variables) + b"\x7f" + lines + b"\x20\x00\x0b"
    return (
        b"\0asm\1\0\0\0"
        + _section(1, b"\x01\x60\x01\x7f\x01\x7f")
        + _section(3, b"\x01\x00")
        + _section(10, b"\x01" + _number(len(body)) + body)
    )


async def test_what_is_compiled_apart_decides_as_the_gateways_own(shipped_bundle: Bundle) -> None:
    native = compiled_apart(shipped_bundle.wasm)
    apart = Embedded(shipped_bundle, deadline_ms=1000, memory_mb=64, native=native)
    try:
        assert apart.revision == shipped_bundle.revision
        assert apart.answers("sentinel/guardrails/result")
    finally:
        await apart.close()


@pytest.mark.parametrize("wasm", [b"", b"no wasm", b"\0asm\1\0\0\0\xff"])
def test_what_is_no_wasm_is_refused(wasm: bytes) -> None:
    with pytest.raises(PolicyInvalid, match="no Wasm"):
        compiled_apart(wasm)


def test_what_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its limit is set lower here, in a copy of the module: the time itself is the test's."""
    source = Path(compile_apart.__file__).read_text()
    copy = tmp_path / "compile_for_a_second.py"
    copy.write_text(source.replace("CPU_SECONDS: Final = 20", "CPU_SECONDS: Final = 2"))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(compile_apart, "__name__", "compile_for_a_second")
    with pytest.raises(PolicyInvalid, match="could not be compiled"):
        compiled_apart(_module(40_000))


def test_nothing_of_the_current_directory_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway may be started in a checkout of code, which others write."""
    (tmp_path / "resource.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert compiled_apart(_module(1))
