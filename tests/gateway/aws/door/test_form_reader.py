"""Browser forms, in pieces of any size: the fields before the file, and the file byte for byte."""

from collections.abc import AsyncIterator

import pytest

from gateway.aws.door.form_uploads import MAX_FIELDS_BYTES, FormReader
from gateway.core.errors import Malformed

KIND = "multipart/form-data; boundary=xyz"
FILE = b"one\r\n--xy\r\n--xyother\r\n\r\ntwo"


def _part(name: str, value: bytes, more: str = "") -> bytes:
    return f'--xyz\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n'.encode() + value + b"\r\n"


FORM = (
    _part("Key", b"up/${filename}")
    + _part("policy", b"e30=")
    + _part("file", FILE, '; filename="a b.txt"\r\nContent-Type: text/plain')
)


async def _source(raw: bytes, size: int) -> AsyncIterator[bytes]:
    for at in range(0, len(raw), size):
        yield raw[at : at + size]


async def _read(raw: bytes, size: int = 5, kind: str = KIND) -> tuple[dict[str, str], bytes, str]:
    reader = FormReader(_source(raw, size), kind)
    fields = await reader.fields()
    return fields, b"".join([part async for part in reader.file()]), reader.filename


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("end", [b"--xyz--\r\n", b"--xyz--", _part("submit", b"ignored") + b"--xyz--\r\n"])
async def test_a_form_is_read_in_pieces_of_any_size(size: int, end: bytes) -> None:
    assert await _read(FORM + end, size) == ({"key": "up/${filename}", "policy": "e30="}, FILE, "a b.txt")


async def test_an_empty_file() -> None:
    assert (await _read(_part("file", b"") + b"--xyz--"))[1] == b""


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "no file"),
        (_part("key", b"k") + b"--xyz--\r\n", "no file"),
        (FORM[:-5], "ends before its file does"),
        (_part("key", b"k") + FORM, "twice"),
        (_part("key", b"\xff") + FORM, "UTF-8"),
        (b"--xyz\r\nContent-Type: text/plain\r\n\r\nx\r\n" + FORM, "no name"),
        (_part("big", b"x" * MAX_FIELDS_BYTES) + FORM, "more than 20480 bytes"),
        (b"x" * (MAX_FIELDS_BYTES + 10), "more than 20480 bytes"),
        (b"".join(_part(f"f{number}", b"") for number in range(102)), "more than 100 fields"),
    ],
)
async def test_what_is_not_a_form_is_refused(raw: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        await _read(raw, 1000)


@pytest.mark.parametrize(
    "kind", ["multipart/form-data", "multipart/form-data; boundary=", f"multipart/form-data; boundary={'x' * 71}"]
)
def test_a_form_needs_a_boundary(kind: str) -> None:
    with pytest.raises(Malformed, match="boundary"):
        FormReader(_source(b"", 1), kind)


async def test_a_long_file_is_not_kept() -> None:
    made = 0

    async def source() -> AsyncIterator[bytes]:
        nonlocal made
        yield _part("file", b"")[:-2]
        for _ in range(100):
            made += 1
            yield bytes(1000)
        yield b"\r\n--xyz--"

    reader = FormReader(source(), KIND)
    await reader.fields()
    taken = 0
    async for part in reader.file():
        taken += len(part)
        assert made * 1000 - taken < 2000
    assert taken == 100_000
