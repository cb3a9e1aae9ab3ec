"""The description of the protected resource: public, complete, and only at its own paths."""

import json
from typing import Any

import pytest

from gateway.doors.mcp.door import PATH, ProtectedResource

RESOURCE = ProtectedResource("https://s.example", ("https://id.example",))


async def ask(path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    await RESOURCE({"type": "http", "path": path, "method": method}, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


@pytest.mark.parametrize("path", [PATH, f"{PATH}/mcp", f"{PATH}/"])
async def test_it_names_the_resource_and_who_gives_keys(path: str) -> None:
    status, headers, body = await ask(path)
    assert (status, headers["content-type"]) == (200, "application/json")
    document = json.loads(body)
    assert (document["resource"], document["authorization_servers"]) == (
        "https://s.example/mcp",
        ["https://id.example"],
    )
    assert document["bearer_methods_supported"] == ["header"]
    assert RESOURCE.url == "https://s.example/.well-known/oauth-protected-resource/mcp"


async def test_other_paths_and_methods() -> None:
    assert (await ask(f"{PATH}/other"))[0] == 404
    assert (await ask(PATH, "POST"))[0] == 405
    assert (await ask(PATH, "HEAD"))[::2] == (200, b"")
