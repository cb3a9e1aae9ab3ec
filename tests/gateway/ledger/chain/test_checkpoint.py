"""A checkpoint is a signed note that other tools can check, and no other bytes pass for one."""

import base64
import hashlib
import os
import threading
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.errors import LedgerBroken, LedgerUnavailable
from gateway.ledger.chain.checkpoint import ORIGIN, Checkpoint, CheckpointFile, parse, sign
from tests.kit.stores import KEYS

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
CHECKPOINT = Checkpoint(size=20852163, hash="ab" * 32)
NOTE = sign(CHECKPOINT, KEY)


def test_it_has_the_lines_of_the_format() -> None:
    """As https://c2sp.org/tlog-checkpoint and https://c2sp.org/signed-note describe them, computed here by hand."""
    root = base64.b64encode(b"\xab" * 32).decode()
    text = f"sentinel/ledger\n20852163\n{root}\n"
    public = KEY.public_key().public_bytes_raw()
    key_id = hashlib.sha256(b"sentinel/ledger\n\x01" + public).digest()[:4]
    signature = base64.b64encode(key_id + KEY.sign(text.encode())).decode()
    assert f"{text}\n— sentinel/ledger {signature}\n" == NOTE


@given(st.integers(0, 2**63), st.binary(min_size=32, max_size=32))
def test_what_was_signed_is_read(size: int, root: bytes) -> None:
    checkpoint = Checkpoint(size=size, hash=root.hex())
    assert parse(sign(checkpoint, KEY), KEY.public_key()) == checkpoint


def test_no_byte_can_be_changed() -> None:
    raw = NOTE.encode()
    changed = {place: raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :] for place in range(len(raw))}
    assert [place for place, text in changed.items() if _is_read(text.decode("utf-8", "replace"))] == []


def _is_read(text: str) -> bool:
    try:
        parse(text, KEY.public_key())
    except LedgerBroken:
        return False
    return True


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n\n",
        CHECKPOINT.text,
        NOTE.partition("\n\n")[0] + "\n\n",
        sign(CHECKPOINT, OTHER),
        NOTE.replace("20852163", "20852162"),
        "extra\n" + NOTE,
        NOTE.replace("\n\n", "\n\n\n").replace(" ", "  "),
        NOTE.partition("— ")[0] + "— " + ORIGIN + " AAAA\n",
        NOTE.partition("— ")[0] + "— " + ORIGIN + " not base64\n",
    ],
)
def test_what_is_not_signed_is_refused(note: str) -> None:
    with pytest.raises(LedgerBroken):
        parse(note, KEY.public_key())


def test_a_witness_may_sign_too() -> None:
    witness = "— witness.example " + base64.b64encode(b"w" * 76).decode() + "\n"
    assert parse(NOTE + witness, KEY.public_key()) == CHECKPOINT
    text, _, ours = NOTE.partition("\n\n")
    assert parse(f"{text}\n\n{witness}{ours}", KEY.public_key()) == CHECKPOINT


@pytest.mark.parametrize(
    "text", ["other/log\n1\n" + "A" * 43 + "=\n", f"{ORIGIN}\nx\nAAAA\n", f"{ORIGIN}\n1\nAAAA\n", f"{ORIGIN}\n1\n"]
)
def test_a_signed_text_of_another_kind_is_refused(text: str) -> None:
    public = KEY.public_key()
    key_id = base64.b64decode(NOTE.rpartition(" ")[2])[:4]
    signature = base64.b64encode(key_id + KEY.sign(text.encode())).decode()
    with pytest.raises(LedgerBroken, match="is signed, but"):
        parse(f"{text}\n— {ORIGIN} {signature}\n", public)


FIRST = Checkpoint(size=1, hash="ab" * 32)


@pytest.fixture
def file(tmp_path: Path) -> CheckpointFile:
    return CheckpointFile(tmp_path / "ledger.checkpoint", KEYS.signing)


def test_what_was_written_is_read(file: CheckpointFile) -> None:
    assert file.read() is None
    for size in (1, 2):
        file.write(Checkpoint(size=size, hash="ab" * 32))
        assert file.read() == Checkpoint(size=size, hash="ab" * 32)
    assert [path.name for path in file.path.parent.iterdir()] == [file.path.name]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"sentinel/ledger\n0\n\n", b"x" * 100_000])
def test_what_we_did_not_sign_is_refused_and_the_file_named(file: CheckpointFile, content: bytes) -> None:
    file.path.write_bytes(content)
    with pytest.raises(LedgerBroken, match=r"ledger\.checkpoint"):
        file.read()


def test_a_place_that_cannot_be_used_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "occupied").write_text("")
    nowhere = CheckpointFile(tmp_path / "occupied" / "x", KEYS.signing)
    with pytest.raises(LedgerUnavailable, match="cannot be written"):
        nowhere.write(FIRST)
    with pytest.raises(LedgerUnavailable, match="cannot be locked"), nowhere.locked():
        pass
    (tmp_path / "directory").mkdir()
    with pytest.raises(LedgerUnavailable, match="cannot be read"):
        CheckpointFile(tmp_path / "directory", KEYS.signing).read()


def test_a_failed_write_leaves_the_old_one(file: CheckpointFile, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write(FIRST)

    def fail(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LedgerUnavailable, match="No space left"):
        file.write(Checkpoint(size=2, hash="cd" * 32))
    assert file.read() == FIRST


def test_only_one_holds_the_lock(file: CheckpointFile) -> None:
    order = []

    def second() -> None:
        with file.locked():
            order.append("second")

    with file.locked():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
