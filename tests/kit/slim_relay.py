"""The AWS provider with the schemas of a few types: each call goes to the real one, and what it says of other types is left out.

A type that is left out is one that Terraform says it does not know. `slim_provider` runs this file as a program: `beside SOCKET REAL TYPE…` listens on
a socket for a provider that runs; `before DIRECTORY EXECUTABLE` is a provider as Terraform starts one. Nothing of ours is imported: it starts often.
"""

import base64
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import grpc

_SCHEMAS: Final = "/tfplugin5.Provider/GetSchema"
_SHUTDOWN: Final = "/plugin.GRPCController/Shutdown"
_BY_TYPE: Final = {2, 3, 8}
"""Fields of `GetProviderSchema.Response` in tfplugin5.proto that hold schemas by type: of resources, data sources, ephemeral resources."""
_LENGTH_DELIMITED: Final = 2
_OPTIONS: Final = [
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_http_proxy", 0),
]


def only(types: Collection[str], schemas: bytes) -> bytes:
    """The message `GetProviderSchema.Response` without the schemas of other types."""
    return b"".join(
        schemas[start:end]
        for number, start, content, end in _fields(schemas)
        if number not in _BY_TYPE or _key(schemas[content:end]) in types
    )


def _fields(message: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Of each field its number, and where it starts, where its content starts, and where it ends."""
    start = 0
    while start < len(message):
        tag, at = _varint(message, start)
        assert tag & 7 == _LENGTH_DELIMITED, "The fields of schemas have lengths."
        length, at = _varint(message, at)
        yield tag >> 3, start, at, at + length
        start = at + length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """The number that starts there, and where it ends."""
    end = next(place for place in range(at, len(message)) if message[place] < 0x80) + 1
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(message[at:end])), end


def _key(entry: bytes) -> str:
    return next(entry[content:end].decode() for number, _, content, end in _fields(entry) if number == 1)


class _Relay(grpc.GenericRpcHandler):
    """Passes every call on but that for schemas, which is kept."""

    def __init__(self, channel: Callable[[], Any], types: Collection[str], kept: Path, end: Callable[[], None]) -> None:
        """`channel` gives the one to the provider, which may start then; `kept` is where the schemas stay."""
        self._channel, self._types, self._kept, self._end = channel, types, kept, end

    def service(self, details: Any) -> Any:
        """The handler of one method. What else go-plugin asks, it does without."""
        method = details.method
        if method == _SHUTDOWN:
            threading.Timer(0.01, self._end).start()
            return grpc.unary_unary_rpc_method_handler(lambda _, __: b"")
        if not method.startswith("/tfplugin5."):
            return None
        return grpc.unary_unary_rpc_method_handler(
            self._schemas if method == _SCHEMAS else lambda asked, _: self._channel().unary_unary(method)(asked)
        )

    def _schemas(self, asked: bytes, _: Any) -> bytes:
        if not self._kept.exists():
            found = only(self._types, self._channel().unary_unary(_SCHEMAS)(asked))
            written = self._kept.with_suffix(f".{os.getpid()}")
            written.write_bytes(found)
            written.replace(self._kept)
        return self._kept.read_bytes()


class _Provider:
    """The real provider, started when it is first asked."""

    def __init__(self, executable: str, folder: Path) -> None:
        """`folder` is removed at the end."""
        self._executable, self._folder = executable, folder
        self._one = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._channel: Any = None

    def channel(self) -> Any:
        """The channel to it."""
        with self._one:
            if self._channel is None:
                plain = {name: value for name, value in os.environ.items() if name != "PLUGIN_CLIENT_CERT"}
                found = shutil.which("setpriv")
                with_us = [] if found is None else [found, "--pdeathsig", "KILL"]
                self._process = subprocess.Popen(
                    [*with_us, self._executable], env=plain, stdout=subprocess.PIPE, text=True
                )
                assert self._process.stdout is not None
                told = self._process.stdout.readline().split("|")
                assert told[1:3] == ["5", "unix"], told
                self._channel = grpc.insecure_channel(f"unix:{told[3]}", options=_OPTIONS)
            return self._channel

    def end(self) -> None:
        """End it, and this process, whose threads wait."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()  # so that its time counts as that of the command
        shutil.rmtree(self._folder, ignore_errors=True)
        os._exit(0)


def _server(relay: _Relay, socket: Path, certificate: Path | None = None) -> Any:
    server = grpc.server(ThreadPoolExecutor(32), handlers=(relay,), options=_OPTIONS)
    if certificate is None:
        assert server.add_insecure_port(f"unix:{socket}")
    else:
        pair = ((certificate.with_name("key.pem").read_bytes(), certificate.read_bytes()),)
        assert server.add_secure_port(f"unix:{socket}", grpc.ssl_server_credentials(pair))
    server.start()
    return server


def beside(socket: str, provider: str, *types: str) -> None:
    """Relay for a provider that runs, until this process is ended."""
    with grpc.insecure_channel(f"unix:{provider}", options=_OPTIONS) as channel:
        relay = _Relay(lambda: channel, frozenset(types), Path(socket).with_name("schemas"), lambda: None)
        _server(relay, Path(socket)).wait_for_termination()


def before(directory: str, executable: str) -> None:
    """Be the provider of one command, as go-plugin starts it: say in one line where it listens."""
    folder, here = Path(tempfile.mkdtemp(prefix="slim-")), Path(directory)
    real, certificate = _Provider(executable, folder), here / "certificate.pem"
    # Control-C reaches every process of a terminal. Terraform alone acts on it, and go-plugin's providers ignore it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: real.end())
    relay = _Relay(real.channel, frozenset((here / "types").read_text().split()), here / "schemas", real.end)
    encrypted = "PLUGIN_CLIENT_CERT" in os.environ
    server = _server(relay, folder / "socket", certificate if encrypted else None)
    told = base64.b64encode(ssl.PEM_cert_to_DER_cert(certificate.read_text())).decode().rstrip("=")
    print("1|5|unix", folder / "socket", "grpc", told if encrypted else "", sep="|", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    if sys.argv[1] == "beside":
        beside(*sys.argv[2:])
    else:
        before(*sys.argv[2:])
