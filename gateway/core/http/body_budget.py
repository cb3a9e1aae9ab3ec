"""One limit for the bytes of all request bodies in memory, because a body is read before its signature can be verified.

Without it, one key id and a hundred connections fill the memory. Bodies over `SMALL_BODY` may use only a part of the budget, so that a
flood of large ones leaves room for the usual ones, which have a few kilobytes.
"""

from typing import Final

from gateway.core.errors import Overloaded
from gateway.core.http.asgi import Message, Receive

SMALL_BODY: Final = 64 * 1024
LARGE_SHARE: Final = 0.75


class BodyBudget:
    """The bytes of request bodies that one gateway process keeps in memory."""

    def __init__(self, total: int) -> None:
        self._total = total
        self.used = 0
        """Bytes that are held now."""

    def metered(self, receive: Receive) -> "MeteredReceive":
        """The channel of one request, its bytes counted. Call `release` when the request is answered."""
        return MeteredReceive(self, receive)

    def take(self, size: int, *, held: int) -> None:
        """Count `size` more bytes of a body of which `held` are held already. Raises `errors.Overloaded`; then nothing is counted."""
        limit = self._total if held + size <= SMALL_BODY else int(self._total * LARGE_SHARE)
        if self.used + size > limit:
            raise Overloaded(
                "Sentinel holds as many request bodies in memory as it may. Nothing was sent; try again in a second."
            )
        self.used += size


class MeteredReceive:
    """An ASGI receive channel that counts the bytes of the body against the budget."""

    def __init__(self, budget: BodyBudget, receive: Receive) -> None:
        self._budget = budget
        self._receive = receive
        self._held = 0

    async def __call__(self) -> Message:
        """The next message. Raises `errors.Overloaded` for a part of the body that does not fit into the budget."""
        message = await self._receive()
        if size := len(message.get("body", b"")):
            self._budget.take(size, held=self._held)
            self._held += size
        return message

    def passed(self, size: int) -> None:
        """Give back `size` bytes that were passed on and are not kept."""
        self._budget.used -= size
        self._held -= size

    def release(self) -> None:
        """Give back what this request held."""
        self._budget.used -= self._held
        self._held = 0
