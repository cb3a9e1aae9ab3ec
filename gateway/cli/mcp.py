"""`sentinel mcp`: the configuration with which agents find Sentinel's tools."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from gateway.cli.client import identity
from gateway.cli.demo.credentials import NoIdentity
from gateway.cli.options import As, Json
from gateway.cli.output import console, fail, safe, show_json

_DEFAULT_URL = "http://127.0.0.1:8484"
_PLACEHOLDER = "<key id>.<secret>"


class McpClient(StrEnum):
    """Agents whose configuration is known."""

    CLAUDE_CODE = "claude-code"
    CLAUDE_DESKTOP = "claude-desktop"
    CURSOR = "cursor"
    VSCODE = "vscode"
    GENERIC = "generic"


_WHERE = {
    McpClient.CLAUDE_CODE: ".mcp.json in the project, with SENTINEL_TOKEN in the environment",
    McpClient.CLAUDE_DESKTOP: "claude_desktop_config.json (Settings, Developer), with the key in place of the placeholder",
    McpClient.CURSOR: ".cursor/mcp.json in the project or in the home directory, with SENTINEL_TOKEN in the environment",
    McpClient.VSCODE: ".vscode/mcp.json in the project; VS Code asks for the key once and keeps it",
    McpClient.GENERIC: "any other client: streamable HTTP with a header",
}


def mcp(
    client: Annotated[
        McpClient | None, typer.Argument(help="Only this agent's; default: all, each with its place.")
    ] = None,
    *,
    show_token: Annotated[
        bool, typer.Option("--show-token", help="Write the key itself into the configuration; keep it out of git.")
    ] = False,
    who: As = None,
    as_json: Json = False,
) -> None:
    """Print the configuration of the usual agents for Sentinel's tools (the Model Context Protocol).

    The key is the agent's own: what it asks for is recorded, decided and limited as its actor's. Issue one with `sentinel key create NAME --kind agent`.
    """
    url, token = _DEFAULT_URL, ""
    try:
        caller = identity(who, default="agent")
        url, token = caller.url, caller.token
    except NoIdentity as error:
        if who is not None or show_token:
            fail(error, as_json=as_json)
    chosen = [client] if client is not None else list(McpClient)
    documents = {each.value: configuration(each, url, token if show_token else "") for each in chosen}
    if as_json or client is not None:
        show_json(documents[client.value] if client is not None else documents)
        return
    for each in chosen:
        console.print(f"[bold]{each.value}[/bold]: {safe(_WHERE[each])}")
        show_json(documents[each.value])


def configuration(client: McpClient, url: str, token: str) -> dict[str, Any]:
    """The configuration of a client. Without a token it names the variable that holds one, where the client can read variables."""
    endpoint = f"{url}/mcp"
    match client:
        case McpClient.CLAUDE_CODE:
            return {"mcpServers": {"sentinel": _remote(endpoint, token or "${SENTINEL_TOKEN}", kind="http")}}
        case McpClient.CURSOR:
            return {"mcpServers": {"sentinel": _remote(endpoint, token or "${env:SENTINEL_TOKEN}")}}
        case McpClient.VSCODE:
            asked = {"type": "promptString", "id": "sentinel-token", "description": "Sentinel key", "password": True}
            server = _remote(endpoint, token or "${input:sentinel-token}", kind="http")
            return {"inputs": [] if token else [asked], "servers": {"sentinel": server}}
        case McpClient.CLAUDE_DESKTOP:
            # Its configuration file starts programs only, so the usual bridge passes the messages on.
            arguments = ["-y", "mcp-remote", endpoint, "--header", "Authorization:${SENTINEL_AUTHORIZATION}"]
            environment = {"SENTINEL_AUTHORIZATION": f"Bearer {token or _PLACEHOLDER}"}
            return {"mcpServers": {"sentinel": {"command": "npx", "args": arguments, "env": environment}}}
        case McpClient.GENERIC:
            return {"transport": "streamable-http", **_remote(endpoint, token or _PLACEHOLDER)}


def _remote(endpoint: str, token: str, kind: str = "") -> dict[str, Any]:
    told = {"type": kind} if kind else {}
    return {**told, "url": endpoint, "headers": {"Authorization": f"Bearer {token}"}}
