"""A real OPA server with policies' sources, on loopback."""

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.policy.opa_command import find_opa
from tests.kit.up import free_port


@contextmanager
def opa_server(policies: Path) -> Iterator[str]:
    """Its URL, until the block ends."""
    tool = find_opa()
    assert tool is not None, "there is no opa on PATH or in .tools/bin; make setup builds it"
    port = free_port()
    address = ["--addr", f"127.0.0.1:{port}"]
    quiet = ["--log-level", "error", "--disable-telemetry"]
    sources = ["--ignore", "*_test.rego", "--ignore", "bundle", "."]
    with subprocess.Popen([str(tool), "run", "--server", *address, *quiet, *sources], cwd=policies) as server:
        try:
            _wait(port)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _wait(port: int) -> None:
    end = time.monotonic() + 300
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail("the OPA server did not come up")
