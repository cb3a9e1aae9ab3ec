"""A proxy on loopback that adds a key to every request, for programs that cannot send one themselves."""

import asyncio
import threading
from types import TracebackType
from typing import Self

from aiohttp import ClientSession, ClientTimeout, web

_HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "trailer", "upgrade", "content-length"})


class KeyProxy:
    """Runs in a thread of its own. `Host` and `Origin` are passed on as they are, and answers as they arrive."""

    def __init__(self, target: str, headers: dict[str, str]) -> None:
        """`target` is the URL of the gateway, `headers` are added to every request."""
        self.url = ""
        self._target = target
        self._headers = headers
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(300), "the proxy did not start"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(300)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        self._end = asyncio.Event()
        async with ClientSession(timeout=ClientTimeout(total=300), auto_decompress=False) as self._session:
            application = web.Application(client_max_size=64 * 1024 * 1024)
            application.router.add_route("*", "/{path:.*}", self._pass_on)
            runner = web.AppRunner(application, shutdown_timeout=1)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            self._ready.set()
            await self._end.wait()
            await runner.cleanup()
            # What a client left open would wait for ever.
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        kept = [(name, value) for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP]
        headers = [*kept, *self._headers.items()]
        async with self._session.request(
            request.method,
            self._target + request.path_qs,
            headers=headers,
            data=await request.read(),
            allow_redirects=False,
        ) as answer:
            told = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
            response = web.StreamResponse(status=answer.status, headers=told)
            await response.prepare(request)
            async for part in answer.content.iter_any():
                await response.write(part)
            await response.write_eof()
            return response
