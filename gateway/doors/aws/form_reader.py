"""Reads a browser form (multipart/form-data, RFC 7578): its fields first, then its file piece by piece."""

from collections.abc import AsyncIterator
from email.errors import MessageError
from email.message import Message
from email.parser import BytesHeaderParser
from typing import NoReturn

from gateway.errors import Malformed

MAX_FIELDS_BYTES = 20 * 1024
"""Bytes of everything before the file, as in S3."""
MAX_FIELDS = 100
_FILE = "file"


class FormReader:
    """One form. Read `fields` first, then `file`."""

    def __init__(self, source: AsyncIterator[bytes], content_type: str) -> None:
        """Raises `errors.Malformed` if the content type names no boundary."""
        header = Message()
        header["content-type"] = content_type
        boundary = header.get_param("boundary")
        if not isinstance(boundary, str) or not 0 < len(boundary) <= 70 or not boundary.isascii():  # noqa: PLR2004  RFC 2046
            _malformed("its content type names no boundary")
        self._delimiter = b"\r\n--" + boundary.encode()
        self._source = source
        # The first delimiter has no line before it.
        self._buffer = b"\r\n"
        self.filename = ""
        """Name of the file, as the browser states it."""

    async def fields(self) -> dict[str, str]:
        """The fields before the file, names in lower case. Raises `errors.Malformed`, also if a field is repeated or there is no file."""
        found: dict[str, str] = {}
        used = 0
        await self._upto(self._delimiter, MAX_FIELDS_BYTES)
        while True:
            header = await self._upto(b"\r\n\r\n", MAX_FIELDS_BYTES - used)
            used += len(header)
            name = self._name(header)
            if name == _FILE:
                return found
            value = await self._upto(self._delimiter, MAX_FIELDS_BYTES - used)
            used += len(value)
            if name in found:
                _malformed(f"it has the field {name[:60]} twice")
            found[name] = _text(value)
            if len(found) > MAX_FIELDS:
                _malformed(f"it has more than {MAX_FIELDS} fields")

    async def file(self) -> AsyncIterator[bytes]:
        """The file. What follows it is ignored, as in S3. Raises `errors.Malformed` if the form ends before the file does."""
        keep = len(self._delimiter) - 1
        while True:
            end = self._buffer.find(self._delimiter)
            if end >= 0:
                yield self._buffer[:end]
                return
            if len(self._buffer) > keep:
                yield self._buffer[:-keep]
                self._buffer = self._buffer[-keep:]
            await self._more()

    async def _upto(self, end: bytes, limit: int) -> bytes:
        """What is before `end`; both are taken. Searches each byte once."""
        searched = 0
        while True:
            place = self._buffer.find(end, max(0, searched - len(end)))
            if (place if place >= 0 else len(self._buffer)) > limit:
                _malformed(f"what is before its file has more than {MAX_FIELDS_BYTES} bytes")
            if place >= 0:
                taken, self._buffer = self._buffer[:place], self._buffer[place + len(end) :]
                return taken
            searched = len(self._buffer)
            await self._more()

    async def _more(self) -> None:
        try:
            self._buffer += await anext(self._source)
        except StopAsyncIteration:
            _malformed("it ends before its file does, or has no file")

    def _name(self, header: bytes) -> str:
        try:
            parsed = BytesHeaderParser().parsebytes(header.removeprefix(b"\r\n") + b"\r\n\r\n")
            name = parsed.get_param("name", header="content-disposition")
            self.filename = parsed.get_filename("")
        except (MessageError, ValueError, LookupError):
            name = None
        if not isinstance(name, str) or not name:
            _malformed("a part of it has no name")
        return name.lower()


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        _malformed("a field of it is not UTF-8")


def _malformed(reason: str) -> NoReturn:
    raise Malformed(
        f"The form cannot be read: {reason}. Nothing was sent.", aws_code="MalformedPOSTRequest", code="bad_form"
    )
