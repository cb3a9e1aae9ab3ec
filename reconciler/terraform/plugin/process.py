"""A provider as a running process: started as Terraform starts it, spoken to over a socket of its own, ended with us.

Source: HashiCorp's go-plugin, "Internals": the handshake is one line on standard output, `1|5|unix|PATH|grpc|…`.
"""

import asyncio
import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.messages import message_class

_COOKIE: Final = "d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2"
"""Terraform's own value of TF_PLUGIN_MAGIC_COOKIE: a provider ends at once without it. It is public and no secret."""
_PROTOCOL: Final = "5"
_START_SECONDS: Final = 60.0
_CALL_SECONDS: Final = 60.0
_END_SECONDS: Final = 5.0
_CRASH_SECONDS: Final = 1.0
_BEHIND: Final = 10
"""The nice value of what gives way: beside another process it gets about a tenth of a processor."""
ERROR: Final = 1
"""`Diagnostic.Severity.ERROR`."""


def give_way(pid: int) -> None:
    """Let the process group that was just started with `pid`, and what it starts, run only as far as others leave it time (`man 2 setpriority`)."""
    with contextlib.suppress(OSError):
        # Priorities are those of threads, and a program in Go has several at once: the group of the process has them all.
        os.setpriority(os.PRIO_PGRP, pid, _BEHIND)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ProviderProcess:
    """A provider that was started and answers. Close it."""

    process: asyncio.subprocess.Process
    channel: Any
    folder: Path
    """Holds its socket; only we can read it."""
    socket: str
    """The path of its socket."""

    @classmethod
    async def start(cls, executable: Path, environment: Mapping[str, str]) -> "ProviderProcess":
        """Start a provider. `environment` is that of terraform, with the credentials.

        Raises `errors.PluginUnavailable` if it does not start within a minute, or speaks another protocol.
        """
        if not os.access(executable, os.X_OK):
            raise PluginUnavailable.because(
                f"{executable.name} could not be started: it is no program that we may run."
            )
        folder = Path(tempfile.mkdtemp(prefix="sentinel-provider-"))
        try:
            process = await asyncio.create_subprocess_exec(
                *_ends_with_us(),
                executable,
                env={**environment, "TF_PLUGIN_MAGIC_COOKIE": _COOKIE, "PLUGIN_PROTOCOL_VERSIONS": _PROTOCOL, "TMPDIR": str(folder)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise PluginUnavailable.because(f"{executable.name} could not be started: {error}.") from error
        try:
            import grpc.aio  # noqa: PLC0415  imported while the provider starts, which takes longer

            message_class("Empty")
            socket = await _socket(process)
            options = [("grpc.max_receive_message_length", -1), ("grpc.enable_http_proxy", 0)]
            channel = grpc.aio.insecure_channel(f"unix:{socket}", options=options)
            return cls(process=process, channel=channel, folder=folder, socket=socket)
        except BaseException:
            await _end(process, folder)
            raise

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.returncode is None

    async def call(self, method: str, request: Any, response: str) -> Any:
        """The answer to one call of the service `tfplugin5.Provider`; `response` names the message it has.

        Raises `errors.PluginUnavailable` if it does not answer, or answers with an error.
        """
        answer = await self.answer(method, request, response)
        if errors := "; ".join(entry.summary for entry in answer.diagnostics if entry.severity == ERROR):
            raise PluginUnavailable.because(f"{method} failed: {errors}.")
        return answer

    async def answer(self, method: str, request: Any, response: str, *, seconds: float = _CALL_SECONDS) -> Any:
        """As `call`, and an error is part of the answer. Raises `errors.PluginUnavailable` if there is none."""
        import grpc.aio  # noqa: PLC0415  as in `start`

        kind = message_class(response)
        unary = self.channel.unary_unary(
            f"/tfplugin5.Provider/{method}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=kind.FromString,
        )
        try:
            return await unary(request, timeout=seconds)
        except grpc.aio.AioRpcError as error:
            raise PluginUnavailable.because(f"{method} failed: {error.details() or error.code().name}.") from error

    async def has_ended(self) -> bool:
        """Whether the process has ended: one that crashed in a call may take a moment."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), _CRASH_SECONDS)
        return not self.running

    async def close(self) -> None:
        """End it and remove its socket. Safe to call twice."""
        await self.channel.close()
        await _end(self.process, self.folder)


def _ends_with_us() -> list[str]:
    """What to put before a command so that it ends even if we are killed; nothing where the system has no `setpriv`, as on macOS."""
    found = shutil.which("setpriv")
    return [] if found is None else [found, "--pdeathsig", "TERM"]


async def _socket(process: asyncio.subprocess.Process) -> str:
    """The path of the socket from the handshake. Raises `errors.PluginUnavailable`."""
    assert process.stdout is not None  # noqa: S101  asked for by PIPE
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), _START_SECONDS)).decode(errors="replace").strip()
    except (TimeoutError, ValueError) as error:
        raise PluginUnavailable.because("It sent no handshake within a minute.") from error
    parts = line.split("|")
    if len(parts) < 5 or parts[1] != _PROTOCOL or parts[2] != "unix" or parts[4] != "grpc":  # noqa: PLR2004  the fields that "Internals" names
        raise PluginUnavailable.because("It does not speak version 5 of the plug-in protocol over a socket.")
    return parts[3]


async def _end(process: asyncio.subprocess.Process, folder: Path) -> None:
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            await asyncio.wait_for(process.wait(), _END_SECONDS)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    shutil.rmtree(folder, ignore_errors=True)
