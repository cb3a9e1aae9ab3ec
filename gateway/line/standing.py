"""Looks again at a caller whose request takes its time to arrive: its key may have ended since its head was read, and it may have been stopped.

Small requests arrive at once, and nothing is asked again for them. A large or a slow one could be begun with a key, and ended long after a
person revoked that key: a body may take minutes, the upload of an object hours.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from gateway.core.errors import NotAllowed, SentinelError, Stopped
from gateway.core.model.caller import Caller
from gateway.core.model.inbound import Upload
from gateway.core.model.stop import Reach, in_the_way
from gateway.core.ports import Clock, KeyRing, StopLedger
from gateway.identity.caller import KEY_SECONDS, still_in

LATELY: Final = timedelta(seconds=1)
"""What was looked at so lately is not looked at again: a key is cached as long."""
_EVERY: Final = timedelta(seconds=KEY_SECONDS)
"""How often it is looked at while an object arrives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Keys and stops as they are now."""

    keys: KeyRing
    stops: StopLedger
    clock: Clock

    async def holds(self, caller: Caller) -> bool:
        """Whether the caller's key still holds."""
        return await still_in(self.keys, self.clock, caller)

    async def require_key(self, caller: Caller, since: datetime) -> None:
        """Raise `errors.NotAllowed` if the caller's key has ended; it was looked at `since`."""
        if self.clock.now() - since >= LATELY and not await self.holds(caller):
            raise NotAllowed(
                "The key was revoked, or it ended, while the request was still arriving. Nothing was sent, and of an object AWS stores nothing."
            )

    async def require(self, caller: Caller, reach: Reach, since: datetime) -> None:
        """Raise `errors.NotAllowed` as `require_key`, and `errors.Stopped` if a person has stopped what the request is about."""
        if self.clock.now() - since < LATELY:
            return
        await self.require_key(caller, since)
        if found := in_the_way(await self.stops.stops(), reach):
            raise Stopped(f"{found[0].sentence} The object was still arriving; AWS stores nothing of it.")


class WatchedUpload:
    """An upload that goes on as long as its caller may still send it, and whose last piece is handed on only then."""

    def __init__(
        self, upload: Upload, check: Callable[[datetime], Awaitable[None]], *, clock: Clock, since: datetime
    ) -> None:
        """`check` raises an `errors.SentinelError` if it may not go on; it is told when it was looked at before, at first `since`."""
        self._upload = upload
        self._check = check
        self._clock = clock
        self._since = since
        self._failure: SentinelError | None = None
        self._passed = False
        self.length = upload.length
        self.sha256 = upload.sha256
        self.trailer = upload.trailer

    @property
    def complete(self) -> bool:
        """Whether everything was verified and the last piece was handed on."""
        return self._passed and self._upload.complete

    @property
    def failure(self) -> SentinelError | None:
        """Why the body ended early; None if it did not."""
        return self._failure or self._upload.failure

    def trailers(self) -> Sequence[tuple[str, str]]:
        """The checksum that followed the body."""
        return self._upload.trailers()

    async def parts(self) -> AsyncIterator[bytes]:
        """The object in pieces. Raises what `check` raises, too."""
        held = b""
        async for piece in self._upload.parts():
            if self._clock.now() - self._since >= _EVERY:
                await self._look()
            if held:
                yield held
            held = piece
        await self._look()
        self._passed = True
        if held:
            yield held

    async def _look(self) -> None:
        try:
            await self._check(self._since)
        except SentinelError as error:
            self._failure = error
            raise
        self._since = self._clock.now()
