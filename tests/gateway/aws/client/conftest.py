"""A loopback server with scripted replies, doubles of ports, and an `Aws` that talks to it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from gateway.aws.client.credentials import FixedCredentials
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.http_client import Client
from gateway.aws.client.mutations import Aws
from gateway.aws.client.signer import RequestSigner
from gateway.core.service_models import ServiceModels
from tests.kit.upstream import SIMULATED


@dataclass
class Server:
    """What arrives is kept whole; what is answered is scripted, the last reply for ever."""

    port: int = 0
    seen: list[bytes] = field(default_factory=list)
    replies: list[bytes] = field(default_factory=list)
    connections: int = 0
    hold: float = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.split(b"\r\n")
                        if line.lower().startswith(b"content-length:")
                    ),
                    0,
                )
                self.seen.append(head + await reader.readexactly(length))
                reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
                await asyncio.sleep(self.hold)
                writer.write(reply)
                await writer.drain()
                if b"\r\n\r\n" not in reply or b"connection: close" in reply.lower():
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def http(status: int = 200, body: bytes = b"", **headers: str) -> bytes:
    """A reply as bytes. Header names are written with underscores."""
    lines = [
        f"HTTP/1.1 {status} X",
        f"Content-Length: {len(body)}",
        *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


@pytest.fixture
def reply() -> Callable[..., bytes]:
    return http


@pytest.fixture(scope="session")
def models() -> ServiceModels:
    return ServiceModels()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    scripted = Server()
    listening = await asyncio.start_server(scripted.handle, "127.0.0.1", 0)
    scripted.port = listening.sockets[0].getsockname()[1]
    yield scripted
    listening.close()


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    made = Client(connect_seconds=300, reply_seconds=300)
    yield made
    await made.close()


@pytest.fixture
def parts(models: ServiceModels, client: Client) -> Callable[[str], dict[str, Any]]:
    """The constructor arguments of `Aws` and `AwsReads`, for an upstream at a URL."""

    def make(url: str) -> dict[str, Any]:
        return {
            "models": models,
            "endpoints": Endpoints(models=models, regions=("us-east-1", "eu-west-1"), simulated=url),
            "signer": RequestSigner(FixedCredentials(SIMULATED), Now()),
            "client": client,
        }

    return make


@pytest.fixture
def aws(parts: Callable[[str], dict[str, Any]], server: Server) -> Aws:
    return Aws(**parts(server.url))
