"""A stand-in for AWS that remembers, queue by queue, which values arrived and in which order."""

import asyncio
import json
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from tests.bench.stub import Connection, rendered

_DONE = rendered("application/x-amz-json-1.0", "{}")


@dataclass
class RememberingAws:
    """What arrived."""

    port: int = 0
    _arrived: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def queues(self) -> Sequence[str]:
        """The queues that something arrived for."""
        return tuple(self._arrived)

    def arrived(self, queue: str) -> Sequence[int]:
        """The values of a queue that were set, in order."""
        return tuple(self._arrived[queue])

    def take(self, body: bytes) -> None:
        """Remember a `SetQueueAttributes`."""
        call = json.loads(body)
        queue = call["QueueUrl"].rpartition("/")[2]
        self._arrived[queue].append(int(call["Attributes"]["VisibilityTimeout"]))


@asynccontextmanager
async def remembering_aws() -> AsyncIterator[RememberingAws]:
    """It listens on a free port until the block ends."""
    aws = RememberingAws()
    server = await asyncio.get_running_loop().create_server(lambda: _Remembering(aws), "127.0.0.1", 0)
    aws.port = server.sockets[0].getsockname()[1]
    try:
        yield aws
    finally:
        server.close()


class _Remembering(Connection):
    def __init__(self, aws: RememberingAws) -> None:
        super().__init__(Counter())
        self._aws = aws

    def _reply(self) -> bytes:
        self._aws.take(self._body)
        return _DONE
