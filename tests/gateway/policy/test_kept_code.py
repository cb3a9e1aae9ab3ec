"""Machine code of policies that is kept between starts: it runs only if this gateway sealed it for this module."""

import hmac
from pathlib import Path

import pytest
import wasmtime

from gateway.policy import embedded
from gateway.policy.embedded import native_code
from gateway.policy.kept_code import KeptCode

KEY = b"k" * 32
MODULE = bytes(wasmtime.wat2wasm('(module (func (export "run") (result i32) (i32.const 1)))'))
OTHER = bytes(wasmtime.wat2wasm('(module (func (export "run") (result i32) (i32.const 2)))'))


@pytest.fixture
def kept(tmp_path: Path) -> KeptCode:
    return KeptCode(path=tmp_path / "policy-code", key=KEY)


@pytest.fixture(autouse=True)
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The modules that were compiled, by a process that knows none."""
    found: list[bytes] = []
    compiled = embedded.compiled

    def counted(wasm: bytes) -> bytes:
        found.append(wasm)
        return compiled(wasm)

    monkeypatch.setattr(embedded, "compiled", counted)
    monkeypatch.setattr(embedded, "_known_code", {})
    return found


def test_what_was_compiled_once_is_not_compiled_at_the_next_start(kept: KeptCode, compilations: list[bytes]) -> None:
    first = native_code(MODULE, kept)
    embedded._known_code.clear()
    assert native_code(MODULE, kept) == first
    assert compilations == [MODULE]
    assert kept.path.stat().st_mode & 0o777 == 0o600


def test_code_of_another_module_is_not_taken(kept: KeptCode, compilations: list[bytes]) -> None:
    code = native_code(MODULE, kept)
    embedded._known_code.clear()
    assert native_code(OTHER, kept) != code
    assert compilations == [MODULE, OTHER]
    assert kept.read(MODULE) == b""


def test_code_that_somebody_else_wrote_is_not_taken(kept: KeptCode) -> None:
    """Machine code without a seal, of another key, with a changed byte, of another module under the seal of this one, and cut off."""
    code, other = native_code(MODULE, kept), native_code(OTHER)
    sealed = kept.path.read_bytes()
    stranger = KeptCode(path=kept.path, key=b"s" * 32)
    stranger.write(MODULE, other)
    forged = [kept.path.read_bytes(), code, b"", sealed[:32], sealed[:-1], sealed[:32] + other]
    forged += [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in (0, 31, 32, len(sealed) - 1)]
    forged.append(hmac.digest(KEY, code, "sha256") + code)
    for content in forged:
        kept.path.write_bytes(content)
        assert kept.read(MODULE) == b""
    kept.path.write_bytes(sealed)
    assert kept.read(MODULE) == code


def test_code_that_cannot_run_here_is_compiled_again(kept: KeptCode, compilations: list[bytes]) -> None:
    """As after a new version of wasmtime, or on another processor."""
    kept.write(MODULE, b"the machine code of another machine")
    code = native_code(MODULE, kept)
    assert compilations == [MODULE]
    assert kept.read(MODULE) == code


def test_a_directory_that_takes_no_file_costs_the_time_of_compiling_only(
    tmp_path: Path, compilations: list[bytes]
) -> None:
    kept = KeptCode(path=tmp_path / "none" / "policy-code", key=KEY)
    assert native_code(MODULE, kept)
    assert compilations == [MODULE]
    assert not kept.path.exists()


def test_the_key_is_not_shown(kept: KeptCode) -> None:
    assert "kkkk" not in repr(kept)
