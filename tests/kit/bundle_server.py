"""An OPA bundle server on loopback that keeps what is reported to it, and bundles that real OPA builds and signs."""

import gzip
import io
import json
import subprocess
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from gateway.policy.bundle import ENTRYPOINTS, OPTIONAL


@dataclass(slots=True)
class BundleServer:
    """What it serves, and what it got."""

    archive: bytes = b""
    etag: str = ""
    token: str = "secret-token"
    url: str = ""
    fetched: list[int] = field(default_factory=list)
    """The status of each answer for the bundle."""
    reported: dict[str, list[Any]] = field(default_factory=lambda: {"status": [], "logs": []})
    refuses: bool = False
    """Whether reports are answered with 503."""


@contextmanager
def bundle_server() -> Iterator[BundleServer]:
    """The server, until the block ends."""
    state = BundleServer()

    class Handler(BaseHTTPRequestHandler):
        """Answers as a bundle server with ETags does."""

        def log_message(self, *_: object) -> None:
            """Print nothing."""

        def _reply(self, status: int, body: bytes = b"", **headers: str) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            """The bundle."""
            same = bool(state.etag) and self.headers.get("If-None-Match") == state.etag
            allowed = self.headers.get("Authorization") == f"Bearer {state.token}"
            status = 401 if not allowed else 404 if not state.archive else 304 if same else 200
            state.fetched.append(status)
            self._reply(status, state.archive if status == 200 else b"", ETag=state.etag)

        def do_POST(self) -> None:
            """A status or decisions."""
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if state.refuses:
                self._reply(503)
                return
            state.reported[self.path.strip("/").split("/")[0]].append(json.loads(body))
            self._reply(200, b"{}")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


def key_pair(directory: Path) -> tuple[Path, Path]:
    """Files of a private and a public key."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private, public = directory / "private.pem", directory / "public.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
        )
    )
    public.write_bytes(
        key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return private, public


def signed_archive(
    policies: Path, tool: Path, private: Path, *, revision: str, wasm: bool, scope: str = "", issued: int | None = None
) -> bytes:
    """A bundle that opa builds and signs from policies, with these claims."""
    archive = private.parent / f"{revision}.tar.gz"
    entrypoints = [part for each in (*ENTRYPOINTS, *OPTIONAL) for part in ("-e", each)]
    claims = private.parent / "claims.json"
    given = {"scope": scope or None, "iat": issued}
    claims.write_text(json.dumps({name: value for name, value in given.items() if value is not None}))
    built, signed = private.parent / f"{revision}-unsigned.tar.gz", private.parent / revision
    target = ["-t", "wasm", *entrypoints] if wasm else []
    build = [
        "build",
        *target,
        "--revision",
        revision,
        "--ignore",
        "*_test.rego",
        "--ignore",
        "bundle",
        "--ignore",
        "packs",
    ]
    _opa(tool, [*build, "-o", str(built), "."], policies)
    with tarfile.open(built) as content:
        for member in content:
            file = content.extractfile(member)
            place = signed / member.name.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read() if file else b"")
    key = ["--signing-key", str(private), "--signing-alg", "RS256", "--claims-file", str(claims)]
    _opa(tool, ["sign", *key, "--bundle", ".", "-o", "."], signed)
    with tarfile.open(archive, "w:gz") as content:
        for place in sorted(each for each in signed.rglob("*") if each.is_file()):
            entry = tarfile.TarInfo(
                f"/{place.relative_to(signed).as_posix()}"
            )  # opa finds its Wasm only by such a name
            entry.size = place.stat().st_size
            content.addfile(entry, io.BytesIO(place.read_bytes()))
    return archive.read_bytes()


def _opa(tool: Path, arguments: list[str], directory: Path) -> None:
    done = subprocess.run([str(tool), *arguments], cwd=directory, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
