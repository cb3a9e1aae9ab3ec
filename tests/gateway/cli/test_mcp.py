"""`sentinel mcp` prints what the usual agents take, without the key unless it is asked for."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from gateway.cli.mcp import McpClient, configuration

Document = Callable[..., tuple[int, Any]]
TOKEN = "SNTLAAAAAAAAAAAAAAAA.secret"


@pytest.fixture(autouse=True)
def in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SENTINEL_URL", "https://s.example/")
    monkeypatch.setenv("SENTINEL_TOKEN", TOKEN)


@pytest.mark.parametrize("client", McpClient)
def test_each_names_the_endpoint_and_not_the_key(document: Document, client: McpClient) -> None:
    code, found = document("mcp", client.value)
    assert code == 0
    assert "https://s.example/mcp" in json.dumps(found)
    assert TOKEN not in json.dumps(found)


@pytest.mark.parametrize("client", McpClient)
def test_the_key_is_written_where_it_is_asked_for(document: Document, client: McpClient) -> None:
    _, found = document("mcp", client.value, "--show-token")
    assert f"Bearer {TOKEN}" in json.dumps(found)


def test_all_of_them_with_their_places(sentinel: Callable[..., Any], document: Document) -> None:
    shown = sentinel("mcp").stdout
    assert all(each.value in shown for each in McpClient)
    assert ".vscode/mcp.json" in shown
    assert set(document("mcp")[1]) == {each.value for each in McpClient}


def test_without_a_key_the_default_address_is_named(
    document: Document, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("SENTINEL_TOKEN")
    monkeypatch.delenv("SENTINEL_URL")
    monkeypatch.chdir(tmp_path)
    code, found = document("mcp", "generic")
    assert (code, found["url"]) == (0, "http://127.0.0.1:8484/mcp")
    code, problem = document("mcp", "generic", "--show-token")
    assert (code, problem["code"]) == (1, "no_identity")


def test_vscode_asks_for_the_key_once() -> None:
    made = configuration(McpClient.VSCODE, "https://s.example", "")
    assert made["inputs"][0]["password"] is True
    assert made["inputs"][0]["id"] in made["servers"]["sentinel"]["headers"]["Authorization"]
