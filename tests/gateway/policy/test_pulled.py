"""Policies are pulled from a bundle server, verified, and reported on, as a real OPA with the same bundle and keys does."""

import asyncio
import http.client
import io
import ipaddress
import json
import socket
import subprocess
import tarfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.policy.opa_command import find_opa
from gateway.policy.pulled import PulledEngine, bundle_status, from_server
from gateway.policy.signed_bundle import opened
from gateway.policy.sources import shipped
from tests.kit.bundle_server import BundleServer, bundle_server, key_pair, signed_archive
from tests.kit.nouns import QUEUE

pytestmark = [pytest.mark.opa, pytest.mark.enable_socket]
NETWORKS = (ipaddress.ip_network("127.0.0.0/8"),)
GUARDRAILS = "sentinel/guardrails/result"


@dataclass(frozen=True, slots=True)
class Made:
    """Bundles that one process of opa built, with their keys."""

    private: Path
    public: Path
    compiled: bytes
    plain: bytes


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    directory = tmp_path_factory.mktemp("keys")
    tool = find_opa()
    assert tool is not None
    private, public = key_pair(directory)
    compiled = signed_archive(shipped(), tool, private, revision="r1", wasm=True)
    plain = signed_archive(shipped(), tool, private, revision="r2", wasm=False, scope="write")
    return Made(private, public, compiled, plain)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BundleServer]:
    with bundle_server() as state:
        monkeypatch.setenv("BUNDLE_TOKEN", state.token)
        yield state


@pytest.fixture
def settings(server: BundleServer, made: Made) -> ControlPlaneSettings:
    return ControlPlaneSettings(
        url=server.url,
        bundle="bundles/sentinel.tar.gz",
        key_file=made.public,
        token_env="BUNDLE_TOKEN",
        private_addresses=("127.0.0.0/8",),
    )


@pytest.fixture
def engine(settings: ControlPlaneSettings, tmp_path: Path) -> Callable[[], PulledEngine]:
    def new() -> PulledEngine:
        return PulledEngine(
            settings, fetch=from_server(settings, NETWORKS), directory=tmp_path, deadline_ms=1000, memory_mb=64
        )

    return new


def document() -> dict[str, Any]:
    return {
        "caller": {"actor": "a", "kind": "agent"},
        "motive": None,
        "mutation": {
            "service": "sqs", "operation": "X", "class": "mutation", "understood": True, "inner": [], "region": "us-east-1",
            "effects": [{"action": "delete", "resource_type": "aws_dynamodb_table", "address": QUEUE, "attribute": "*", "changes": True, "parts": []}],
        },
        "claims": [], "flips": {}, "now_ns": 1, "stack": "s", "stacks": ["s"], "dependants": [],
        "cost": {"known_cents": 0, "unknown": [], "unknown_count": 0, "dated": ""},
    }  # fmt: skip


async def test_a_signed_bundle_comes_into_force_and_is_looked_for_again(
    server: BundleServer, made: Made, engine: Callable[[], PulledEngine], tmp_path: Path
) -> None:
    server.archive, server.etag = made.compiled, '"1"'
    pulled = engine()
    await pulled.open()
    try:
        first = await pulled.ask(GUARDRAILS, document())
        assert isinstance(first, dict)
        assert {each["id"] for each in first["findings"]} >= {"SEN-M001", "SEN-D001"}
        assert (pulled.state.revision, pulled.problem) == ("r1", "")
        revision = pulled.revision
        await pulled.pull()
        assert (server.fetched, pulled.revision) == ([200, 304], revision)
        server.archive, server.etag = b"not a bundle", '"2"'
        await pulled.pull()
        assert "not a tar.gz archive" in pulled.problem
        assert (pulled.revision, await pulled.ask(GUARDRAILS, document())) == (revision, first)
    finally:
        await pulled.close()
    server.archive, server.token = b"", "another"
    again = engine()
    await again.open()
    try:
        assert again.revision == revision
        assert "status 401" in again.problem
    finally:
        await again.close()


async def test_without_a_bundle_a_gateway_does_not_start(engine: Callable[[], PulledEngine]) -> None:
    with pytest.raises(PolicyInvalid, match=r"There are no policies\. The bundle server answered with status 404"):
        await engine().open()


def altered(archive: bytes, change: Callable[[dict[str, bytes]], object]) -> bytes:
    """The archive with other files."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as content:
        files = {
            each.name.lstrip("/"): (content.extractfile(each) or io.BytesIO()).read()
            for each in content
            if each.isfile()
        }
    change(files)
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as content:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            content.addfile(entry, io.BytesIO(text))
    return made.getvalue()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda files: files.pop(".signatures.json"), "it is not signed"),
        (lambda files: files.update({"extra.rego": b"package x"}), "extra.rego is either not in it or not in its signature"),
        (lambda files: files.pop("policy.wasm"), "policy.wasm is either not in it"),
        (lambda files: files.update({"data.json": b'{"data": {}}'}), "data.json is not the file that was signed"),
        (lambda files: files.update({"policy.wasm": b"\0asm"}), "policy.wasm is not the file that was signed"),
        (lambda files: files.update({".signatures.json": b'{"signatures": []}'}), "does not hold exactly one signature"),
        (lambda files: files.update({".signatures.json": b'{"signatures": ["eyJhbGciOiJub25lIn0.e30."]}'}), "not one of the key"),
    ],
)  # fmt: skip
def test_a_bundle_that_was_changed_is_not_taken(
    made: Made, change: Callable[[dict[str, bytes]], object], reason: str
) -> None:
    with pytest.raises(PolicyInvalid, match=reason):
        opened(altered(made.compiled, change), key=made.public.read_bytes(), algorithm="RS256", scope="")


def test_another_key_and_another_scope_are_not_taken(made: Made, tmp_path: Path) -> None:
    _, other = key_pair(tmp_path)
    with pytest.raises(PolicyInvalid, match="not one of the key"):
        opened(made.compiled, key=other.read_bytes(), algorithm="RS256", scope="")
    key = made.public.read_bytes()
    assert opened(made.plain, key=key, algorithm="RS256", scope="write").revision == "r2"
    with pytest.raises(PolicyInvalid, match="another scope"):
        opened(made.plain, key=key, algorithm="RS256", scope="")


def peer(directory: Path, server: BundleServer, made: Made) -> Path:
    """The configuration of a real OPA with the same bundle, key and service."""
    config = {
        "services": {"plane": {"url": server.url, "credentials": {"bearer": {"token": server.token}}}},
        "keys": {"signer": {"algorithm": "RS256", "key": made.public.read_text()}},
        "bundles": {
            "sentinel": {
                "service": "plane",
                "resource": "bundles/sentinel.tar.gz",
                "signing": {"keyid": "signer", "scope": "write"},
                "polling": {"min_delay_seconds": 1, "max_delay_seconds": 2},
            }
        },
        "status": {"service": "plane"},
        "decision_logs": {"service": "plane", "reporting": {"min_delay_seconds": 1, "max_delay_seconds": 1}},
    }
    path = directory / "opa.json"
    path.write_text(json.dumps(config))
    return path


async def test_a_real_opa_with_the_same_bundle_and_key_decides_and_reports_alike(
    server: BundleServer, made: Made, settings: ControlPlaneSettings, tmp_path: Path
) -> None:
    """The bundle holds Rego alone: an opa that `go install` makes has no engine for Wasm, and the gateway builds it with opa."""
    server.archive, server.etag = made.plain, '"1"'
    scoped = settings.model_copy(update={"scope": "write"})
    pulled = PulledEngine(
        scoped, fetch=from_server(scoped, NETWORKS), directory=tmp_path, deadline_ms=1000, memory_mb=64
    )
    await pulled.open()
    try:
        ours = await pulled.ask(GUARDRAILS, document())
    finally:
        await pulled.close()
    tool = find_opa()
    assert tool is not None
    address = tmp_path / "opa.sock"
    arguments = [
        str(tool),
        "run",
        "--server",
        "--addr",
        f"unix://{address}",
        "--config-file",
        str(peer(tmp_path, server, made)),
    ]
    theirs = await asyncio.to_thread(_answer_of, [*arguments, "--log-level", "error"], address, server)
    assert isinstance(ours, dict)
    assert _sorted(theirs["findings"]) == _sorted(ours["findings"])
    assert theirs["evaluated"] == ours["evaluated"]
    status = next(each for each in server.reported["status"] if _is_active(each))
    mine = bundle_status("sentinel", pulled.state, {"id": "x"})
    assert mine["bundles"]["sentinel"].keys() <= status["bundles"]["sentinel"].keys()
    assert mine["bundles"]["sentinel"]["active_revision"] == status["bundles"]["sentinel"]["active_revision"] == "r2"
    assert mine.keys() <= status.keys() | {"plugins"}


def _is_active(status: Any) -> bool:
    return bool(status.get("bundles", {}).get("sentinel", {}).get("active_revision"))


def _answer_of(arguments: list[str], address: Path, server: BundleServer) -> dict[str, Any]:
    """What the peer answers; it has reported by then."""
    with subprocess.Popen(arguments) as running:
        try:
            answer = _asked(address)
            _wait(lambda: server.reported["logs"] and any(map(_is_active, server.reported["status"])))
        finally:
            running.terminate()
    return answer


def _asked(address: Path) -> dict[str, Any]:
    """What the peer answers once it has its bundle."""
    found: dict[str, Any] = {}

    def answers() -> bool:
        connection = http.client.HTTPConnection("localhost")
        try:
            connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            connection.sock.connect(str(address))
            connection.request("POST", f"/v1/data/{GUARDRAILS}", body=json.dumps({"input": document()}))
            found.update(json.loads(connection.getresponse().read()))
        except OSError:
            return False
        finally:
            connection.close()
        return "result" in found

    _wait(answers)
    result: dict[str, Any] = found["result"]
    return result


def _wait(ready: Callable[[], object]) -> None:
    for _ in range(3000):
        if ready():
            return
        time.sleep(0.1)
    pytest.fail("it did not come to pass within 300 seconds")


def _sorted(findings: Any) -> list[str]:
    return sorted(json.dumps(each, sort_keys=True) for each in findings)
