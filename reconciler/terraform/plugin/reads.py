"""Live resources read by providers that stay running: milliseconds a resource, where a plan takes seconds."""

import asyncio
import contextlib
import hashlib
import json
import tempfile
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from gateway.core.errors import CodeInvalid
from gateway.core.model.json import Json
from gateway.terraform.config.module import Module, load_module
from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.configuration import (
    BlockShape,
    configuration,
    conform,
    dump,
    load,
    provider_name,
    read_shape,
)
from reconciler.terraform.plugin.lock_file import LOCK_FILE, check_locked, executable_of
from reconciler.terraform.plugin.messages import message
from reconciler.terraform.plugin.process import ProviderProcess
from reconciler.terraform.plugin.state_resources import StoredResource, read_stored
from reconciler.terraform.refresh import Refreshed

_AT_ONCE: Final = 10
"""Reads at the same time, as many as Terraform makes."""
_TERRAFORM: Final = "1.11.0"
"""The version of Terraform that we name to the provider; it goes into its user agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAt:
    """A provider with its configuration: one process serves it."""

    executable: Path
    settings: str
    """Its configuration as JSON, without what is not set."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PluginReads:
    """Reads resources through their providers. Close it, so that no provider outlives us."""

    environment: Mapping[str, str] = field(repr=False)
    """That of terraform. It holds credentials, so it is never printed."""
    workdir: Path
    """Our own directory, for the shapes of configurations. Where it cannot be written, they are asked for each time."""
    check_lock: bool = True
    """Whether a provider is first compared with the lock file; only where you run your own code may it be off."""
    running: dict[ProviderAt, ProviderProcess] = field(default_factory=dict)
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def refresh(self, root: Path, *, state: Path | None, targets: Sequence[str], data: Path | None) -> Refreshed:
        """The live attributes of the targets and of what is below them, as `Terraform.refresh` gives them. Nothing is changed.

        `data` is the plug-in data of the stack (`.terraform`). Raises `errors.PluginUnavailable` if anything is not as it has to be;
        then nothing was read.
        """
        if data is None:
            raise PluginUnavailable.because("The stack is not initialised.")
        stored = await asyncio.to_thread(read_stored, state or root / "terraform.tfstate", targets)
        module = await asyncio.to_thread(_module, root)
        limit = asyncio.Semaphore(_AT_ONCE)
        providers = {
            written: await self._provider(written, root, data, module) for written in {each.provider for each in stored}
        }

        async def read(resource: StoredResource) -> Mapping[str, Json] | None:
            async with limit:
                return await _read(providers[resource.provider], resource)

        found = await _all([read(each) for each in stored])
        objects = {each.address: live for each, live in zip(stored, found, strict=True) if live is not None}
        return Refreshed(read=frozenset(each.address for each in stored), objects=objects)

    async def close(self) -> None:
        """End every provider."""
        async with AsyncExitStack() as stack:
            for process in self.running.values():
                stack.push_async_callback(process.close)
            self.running.clear()

    async def provider(self, written: str, root: Path, data: Path) -> ProviderProcess:
        """The running provider of the code in `root` by the name that a state has for it. Raises `errors.PluginUnavailable`."""
        return await self._provider(written, root, data, await asyncio.to_thread(_module, root))

    async def _provider(self, written: str, root: Path, data: Path, module: Module) -> ProviderProcess:
        """The running provider for a name in the state, started and configured if need be."""
        named = provider_name(written)
        values = configuration(module, named)
        executable = executable_of(data, named.source)
        if self.check_lock:
            await asyncio.to_thread(check_locked, executable, named.source, root / LOCK_FILE)
        key = ProviderAt(executable=executable.resolve(), settings=json.dumps(values, sort_keys=True))
        async with self._starting:
            known = self.running.get(key)
            if known is None or not known.running:
                self.running[key] = known = await self._start(key, values)
        return known

    async def _start(self, provider: ProviderAt, values: Mapping[str, Json]) -> ProviderProcess:
        process = await ProviderProcess.start(provider.executable, self.environment)
        try:
            shape = await self._shape(process, provider.executable)
            config = message("DynamicValue", msgpack=msgspec.msgpack.encode(conform(values, shape)))
            asked = message("ConfigureRequest", terraform_version=_TERRAFORM, config=config)
            await process.call("Configure", asked, "ConfigureResponse")
        except BaseException:
            await process.close()
            raise
        return process

    async def _shape(self, process: ProviderProcess, executable: Path) -> BlockShape:
        """The shape of the provider's configuration. Asking takes seconds, so it is kept for as long as the executable is the same."""
        kept = self.workdir / f"provider-{_fingerprint(executable)}.json"
        try:
            return load(kept.read_bytes())
        except (OSError, ValueError):
            answer = await process.call("GetSchema", message("Empty"), "GetSchemaResponse")
            shape = read_shape(answer.provider.block)
            await asyncio.to_thread(_keep, kept, dump(shape))
            return shape


def _keep(path: Path, content: bytes) -> None:
    """Write a file that another process may read at the same time, if that is possible."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
        with open(descriptor, "wb") as file:  # noqa: PTH123  a descriptor has no path
            file.write(content)
        Path(name).replace(path)


async def _all(reads: Sequence[Coroutine[Any, Any, Mapping[str, Json] | None]]) -> list[Mapping[str, Json] | None]:
    """The results of all reads. If one fails, the others end before its error is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(read) for read in reads]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


def _fingerprint(executable: Path) -> str:
    """Changes with the file."""
    about = executable.stat()
    identity = f"{executable}:{about.st_size}:{about.st_mtime_ns}:{about.st_ino}"
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


def _module(root: Path) -> Module:
    try:
        return load_module(root)
    except CodeInvalid as error:
        raise PluginUnavailable.because(f"The code cannot be read: {error}") from error


async def _read(process: ProviderProcess, resource: StoredResource) -> Mapping[str, Json] | None:
    """The live attributes of one resource; None if it does not exist."""
    raw = message("RawState", json=json.dumps(resource.attributes).encode())
    upgrade = message(
        "UpgradeRequest", type_name=resource.resource_type, version=resource.schema_version, raw_state=raw
    )
    upgraded = await process.call("UpgradeResourceState", upgrade, "UpgradeResponse")
    asked = message(
        "ReadRequest", type_name=resource.resource_type, current_state=upgraded.upgraded_state, private=resource.private
    )
    answer = await process.call("ReadResource", asked, "ReadResponse")
    return _decoded(answer.new_state)


def _decoded(value: Any) -> Mapping[str, Json] | None:
    """A resource's attributes from MessagePack, or JSON. Raises `errors.PluginUnavailable` if a part of it is unknown."""
    try:
        found: Mapping[str, Json] | None = (
            msgspec.msgpack.decode(value.msgpack) if value.msgpack else json.loads(value.json)
        )
    except ValueError as error:
        raise PluginUnavailable.because("It answered with a value that cannot be read.") from error
    if _has_extension(found):
        raise PluginUnavailable.because("It answered with a value that is not known yet.")
    return found


def _has_extension(value: object) -> bool:
    match value:
        case msgspec.msgpack.Ext():
            return True
        case dict():
            return any(_has_extension(each) for each in value.values())
        case list():
            return any(_has_extension(each) for each in value)
    return False
