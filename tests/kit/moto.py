"""A simulated AWS (moto) as the upstream of a `Gate`, for tests with real clients."""

from dataclasses import dataclass, field
from typing import Any, cast

from aiohttp import web
from moto.server import ThreadedMotoServer

from tests.kit.upstream import UpstreamStub


class _Runner:
    """What `Gate` stops."""

    def __init__(self, server: ThreadedMotoServer) -> None:
        self._server = server

    async def cleanup(self) -> None:
        """Stop the server."""
        self._server.stop()


@dataclass
class MotoUpstream(UpstreamStub):
    """Moto in a thread. Its state is that of this process."""

    server: ThreadedMotoServer = field(default_factory=lambda: ThreadedMotoServer("127.0.0.1", 0, verbose=False))
    _clients: dict[str, Any] = field(default_factory=dict)

    async def start(self) -> web.AppRunner:
        """Listen on a free port of loopback."""
        self.server.start()
        self.port = self.server.get_host_and_port()[1]
        return cast(web.AppRunner, _Runner(self.server))

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://127.0.0.1:{self.port}"

    def client(self, service: str) -> Any:
        """A boto3 client that calls it directly; the same one for the same service, since botocore takes 3 to 20 ms to make one."""
        import boto3  # noqa: PLC0415

        if service not in self._clients:
            self._clients[service] = boto3.client(
                service,
                endpoint_url=self.url,
                region_name="us-east-1",
                aws_access_key_id="simulated",
                aws_secret_access_key="simulated",
            )
        return self._clients[service]
