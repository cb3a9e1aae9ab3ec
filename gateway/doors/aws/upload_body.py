"""The body of an S3 object between the client and AWS: decoded, verified and counted while it passes."""

from collections.abc import AsyncIterator, Sequence

from gateway.authn.body_check import BodyCheck
from gateway.errors import Malformed, SentinelError


class UploadBody:
    """Implements `model.upload.Upload`. Its last piece is handed on only after everything before it was verified."""

    def __init__(
        self, source: AsyncIterator[bytes], check: BodyCheck, *, length: int, sha256: str = "", trailer: str = ""
    ) -> None:
        """`source` is the body of the request, `length` what its head states as the length of the object."""
        self._source = source
        self._check = check
        self._length = length
        self._sha256 = sha256
        self._trailer = trailer
        self._complete = False
        self._failure: SentinelError | None = None
        self._trailers: Sequence[tuple[str, str]] = ()
        self.begun = False
        """Whether a part of it was asked for."""

    @property
    def length(self) -> int:
        """Bytes of the object."""
        return self._length

    @property
    def sha256(self) -> str:
        """The signed hash, empty if there is none."""
        return self._sha256

    @property
    def trailer(self) -> str:
        """Name of the checksum after the body."""
        return self._trailer

    @property
    def complete(self) -> bool:
        """Whether it is verified and handed on as a whole."""
        return self._complete

    @property
    def failure(self) -> SentinelError | None:
        """Why it ended early."""
        return self._failure

    def trailers(self) -> Sequence[tuple[str, str]]:
        """The checksum that followed it."""
        return self._trailers

    async def parts(self) -> AsyncIterator[bytes]:
        """The object in pieces. What a piece contains is not trusted: a body that fails is never ended."""
        try:
            held = b""
            async for piece in self._decoded():
                if held:
                    yield held
                held = piece
        except SentinelError as error:
            self._failure = error
            raise
        self._complete = True
        if held:
            yield held

    async def _decoded(self) -> AsyncIterator[bytes]:
        self.begun = True
        size = 0
        async for raw in self._source:
            for piece in self._check.feed(raw):
                size += len(piece)
                if size > self._length:
                    self._refuse_length(f"more than {self._length}")
                yield piece
        self._trailers = self._check.finish()
        if size != self._length:
            self._refuse_length(str(size))

    def _refuse_length(self, found: str) -> None:
        raise Malformed(
            f"The body has {found} bytes, but its head states {self._length}. AWS stores nothing of it.",
            aws_code="IncompleteBody",
            code="bad_length",
        )
