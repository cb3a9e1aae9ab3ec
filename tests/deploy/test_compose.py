"""compose.yaml, loaded by the library of `docker compose config`, and its nginx, run in front of two servers."""

import asyncio
import os
import re
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.deploy.install import COMPOSE_CONFIG, debian
from tests.kit.up import free_port

COMPOSE = Path(__file__).parent.parent.parent / "deploy" / "compose"
NEEDED = {
    "SENTINEL_MASTER_KEY": "m" * 32,
    "SENTINEL_PUBLIC_URL": "https://sentinel.example",
    "SENTINEL_RECONCILE__KEY_ID": "id",
    "SENTINEL_RECONCILE__KEY_SECRET": "secret",
}


def _config(environment: Mapping[str, str], file: Path = COMPOSE / "compose.yaml") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [COMPOSE_CONFIG, file], capture_output=True, text=True, cwd=COMPOSE, env=dict(environment), check=False
    )


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    """The services as Compose understands them."""
    done = _config(NEEDED)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = yaml.safe_load(done.stdout)["services"]
    return found


@pytest.mark.parametrize("name", NEEDED)
def test_without_a_secret_it_does_not_start(name: str) -> None:
    done = _config({key: value for key, value in NEEDED.items() if key != name})
    assert done.returncode != 0
    assert name in done.stderr


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("stop_grace_period: 40s", "stop_grace_periot: 40s"), ("networks: [front]", "networks: [frond]")],
)
def test_a_mistake_would_be_noticed(tmp_path: Path, right: str, wrong: str) -> None:
    text = (COMPOSE / "compose.yaml").read_text()
    assert right in text
    (tmp_path / "compose.yaml").write_text(text.replace(right, wrong))
    assert _config(NEEDED, tmp_path / "compose.yaml").returncode != 0


def test_everything_is_there_and_has_no_rights(services: dict[str, dict[str, Any]]) -> None:
    assert set(services) == {"proxy", "migrate", "gateway-1", "gateway-2", "reconciler", "postgres"}
    for name, service in services.items():
        if name == "postgres":
            continue
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
    assert {name for name, service in services.items() if service.get("cap_add")} == {"proxy"}
    assert {name for name, service in services.items() if service.get("ports")} == {"proxy"}
    # An S3 object or a long change ends before the process is killed.
    assert services["gateway-1"]["stop_grace_period"] == "40s"


def test_the_database_has_no_way_out_and_only_the_programs_reach_it(services: dict[str, dict[str, Any]]) -> None:
    done = yaml.safe_load(_config(NEEDED).stdout)
    assert done["networks"]["back"]["internal"] is True
    on_back = {name for name, service in services.items() if "back" in service["networks"]}
    assert on_back == {"gateway-1", "gateway-2", "migrate", "reconciler", "postgres"}
    assert set(services["postgres"]["networks"]) == {"back"}


def test_the_schema_is_migrated_first_and_each_gateway_has_its_own_checkpoint(
    services: dict[str, dict[str, Any]],
) -> None:
    places = set()
    for name in ("gateway-1", "gateway-2"):
        assert services[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
        places |= {mount["source"] for mount in services[name]["volumes"] if mount["target"].endswith("checkpoint")}
    assert len(places) == 2
    assert services["migrate"]["command"] == ["migrate"]
    # The ledger's password is in a file, not in the environment.
    assert "PASSWORD" not in " ".join(services["gateway-1"]["environment"])
    assert ":" not in services["gateway-1"]["environment"]["SENTINEL_LEDGER"].partition("://")[2].partition("@")[0]


@dataclass
class Upstream:
    """A server that writes down the heads it gets, and answers, or breaks the connection off."""

    breaks: bool = False
    heads: list[bytes] = field(default_factory=list)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        try:
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                if self.breaks:
                    break
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
                await writer.drain()
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


@asynccontextmanager
async def _proxied(place: Path, *upstreams: Upstream) -> AsyncIterator[int]:
    """The nginx of Compose, with its configuration, in front of these servers; its port."""
    servers = []
    for upstream in upstreams:
        server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
        upstream.port = server.sockets[0].getsockname()[1]
        servers.append(server)
    port = free_port()
    process = _start_nginx(place, port, [upstream.port for upstream in upstreams])
    try:
        while not await asyncio.to_thread(_listens, port):
            assert process.poll() is None, (process.stderr.read() if process.stderr else b"").decode()
            await asyncio.sleep(0.05)
        yield port
    finally:
        process.terminate()
        await asyncio.to_thread(process.communicate)
        for server in servers:
            server.close()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _start_nginx(place: Path, port: int, upstreams: list[int]) -> subprocess.Popen[bytes]:
    certificate = [
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=sentinel.example",
    ]
    subprocess.run(
        [debian("openssl"), *certificate, "-keyout", place / "key", "-out", place / "crt"],
        check=True,
        capture_output=True,
    )
    text = (COMPOSE / "nginx.conf").read_text()
    instead = {
        "/run/secrets/tls_certificate": str(place / "crt"),
        "/run/secrets/tls_key": str(place / "key"),
        "/run/nginx.pid": str(place / "pid"),
        "listen 443": f"listen 127.0.0.1:{port}",
        "worker_processes auto": "worker_processes 1",
        **{f"gateway-{number}:8484": f"127.0.0.1:{upstream}" for number, upstream in enumerate(upstreams, 1)},
    }
    for old, new in instead.items():
        assert old in text, old
        text = text.replace(old, new)
    for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"):
        text = text.replace("http {", f"http {{\n  {kind}_temp_path {place}/{kind};", 1)
    (place / "nginx.conf").write_text(text if os.geteuid() else f"user root;\n{text}")
    argv = [debian("nginx"), "-e", "/dev/stderr", "-c", str(place / "nginx.conf"), "-g", "daemon off;"]
    return subprocess.Popen(argv, stderr=subprocess.PIPE)


async def _asked(port: int, head: bytes) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    writer.write(head)
    await writer.drain()
    answer = await reader.readuntil(b"\r\n")
    writer.close()
    return answer


loopback = pytest.mark.allow_hosts(["127.0.0.1"])


@loopback
async def test_what_the_client_signed_reaches_the_gateway_unchanged(tmp_path: Path) -> None:
    first, second = Upstream(), Upstream()
    target = b"/bucket//a%2Fb/../c%20d?prefix=x%2Fy&marker="
    async with _proxied(tmp_path, first, second) as port:
        answer = await _asked(
            port, b"GET " + target + b" HTTP/1.1\r\nHost: s3.sentinel.example:8443\r\nx-amz-date: 1\r\n\r\n"
        )
    assert answer == b"HTTP/1.1 200 OK\r\n"
    (head,) = first.heads + second.heads
    assert head.startswith(b"GET " + target + b" HTTP/1.1\r\n")
    assert re.search(rb"^Host: s3\.sentinel\.example:8443\r$", head, re.MULTILINE)
    assert b"X-Forwarded" not in head


@loopback
@pytest.mark.parametrize("method", [b"POST", b"GET", b"PUT"])
async def test_a_request_is_sent_to_one_gateway_once(tmp_path: Path, method: bytes) -> None:
    """A gateway that dies after it got the request may have applied it: the other one must not get it too."""
    first, second = Upstream(breaks=True), Upstream(breaks=True)
    async with _proxied(tmp_path, first, second) as port:
        answer = await _asked(port, method + b" / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert len(first.heads + second.heads) == 1
