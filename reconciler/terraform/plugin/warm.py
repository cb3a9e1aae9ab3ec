"""The AWS provider kept running between commands of Terraform, which saves each of them the start of it: about 3 s of CPU.

Source: "Debugging Providers" of Terraform's plug-in documentation (`TF_REATTACH_PROVIDERS`). Terraform configures an attached provider at
each command, and all configurations of a provider share its process. So one is attached only where the code has a single configuration
of it, to one command at a time, and a process that was configured one way is never configured in another.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from gateway.core.errors import CodeInvalid
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.configuration import single_configuration
from reconciler.terraform.plugin.lock_file import LOCK_FILE, check_locked, executable_of
from reconciler.terraform.plugin.process import ProviderProcess, give_way
from reconciler.terraform.plugin.reads import ProviderAt

_OF_AWS: Final = "*/hashicorp/aws"


class WarmProvider:
    """At most one running provider, for the commands of one Terraform in one event loop. Close it: it holds about 600 MB."""

    def __init__(self, environment: Mapping[str, str], *, background: bool = False) -> None:
        """`environment` is that of terraform, with the credentials; `background` is as for `Terraform`."""
        self._environment = environment
        self._background = background
        self._in_use = asyncio.Lock()
        self._running: tuple[ProviderAt, ProviderProcess] | None = None
        # A second Configure of one process fails with it: "unable to add custom RootCAs HTTPClient".
        self._usable = "AWS_CA_BUNDLE" not in environment

    @property
    def process(self) -> ProviderProcess | None:
        """The provider that runs now, if any."""
        return self._running[1] if self._running is not None and self._running[1].running else None

    @asynccontextmanager
    async def attached(self, root: Path, data: Path) -> AsyncIterator[Mapping[str, str]]:
        """What one command for the code in `root` needs in its environment to use the running provider.

        It is empty if another command uses it, or the code does not allow it: Terraform then starts its own. `data` is the plug-in data of
        the stack (`.terraform`).
        """
        if not self._usable or self._in_use.locked():
            yield {}
            return
        async with self._in_use:
            yield await self._attach(root, data)

    async def give_up(self) -> None:
        """Use it for no further command: one failed with it that Terraform can carry out without it."""
        self._usable = False
        async with self._in_use:
            await self._end()

    async def close(self) -> None:
        """End the provider. Safe to call twice."""
        async with self._in_use:
            await self._end()

    async def _attach(self, root: Path, data: Path) -> Mapping[str, str]:
        try:
            source = aws_source(data)
            settings = await asyncio.to_thread(single_configuration, root, data, source)
            executable = executable_of(data, source)
            await asyncio.to_thread(check_locked, executable, source, root / LOCK_FILE)
            wanted = ProviderAt(executable=executable.resolve(), settings=json.dumps(settings, sort_keys=True))
            return _settings(source, await self._started(wanted))
        except (PluginUnavailable, CodeInvalid, OSError) as error:
            import structlog  # noqa: PLC0415  it takes long to import, and is seldom needed here

            structlog.get_logger().info("provider_not_kept", reason=str(error))
            return {}

    async def _started(self, wanted: ProviderAt) -> ProviderProcess:
        """The provider for a configuration. Raises `errors.PluginUnavailable`."""
        if self._running is not None and (self._running[0] != wanted or not self._running[1].running):
            await self._end()
        if self._running is None:
            started = await ProviderProcess.start(wanted.executable, self._environment)
            if self._background:
                give_way(started.process.pid)
            self._running = (wanted, started)
        return self._running[1]

    async def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running[1].close()


@asynccontextmanager
async def warm_provider(environment: Mapping[str, str], *, background: bool = False) -> AsyncIterator[WarmProvider]:
    """A `WarmProvider` that is closed at the end."""
    warm = WarmProvider(environment, background=background)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(warm.close)
        yield warm


def aws_source(data: Path) -> str:
    """The AWS provider that is installed, e.g. `registry.terraform.io/hashicorp/aws`. Raises `errors.PluginUnavailable`."""
    providers = data / "providers"
    found = [path.relative_to(providers).as_posix() for path in providers.glob(_OF_AWS)]
    if len(found) != 1:
        raise PluginUnavailable.because(f"{len(found)} AWS providers are installed, not one.")
    return found[0]


def _settings(source: str, provider: ProviderProcess) -> Mapping[str, str]:
    """The variable that names a running provider. `Test` tells Terraform to leave it running at the end of the command."""
    at = {"Network": "unix", "String": provider.socket}
    named = {"Protocol": "grpc", "ProtocolVersion": 5, "Pid": provider.process.pid, "Test": True, "Addr": at}
    return {"TF_REATTACH_PROVIDERS": json.dumps({source: named})}
