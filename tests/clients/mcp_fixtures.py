"""The tools and resources that the conformance suite calls by name, beside our own: only in a build for tests."""

import base64
from typing import Any, Final

import mcp_types as types
import pytest

from gateway.doors.mcp import server

_PIXEL: Final = base64.b64encode(b"\x89PNG\r\n\x1a\n").decode()
_SOUND: Final = base64.b64encode(b"RIFF\x00\x00\x00\x00WAVE").decode()
_TEXT: Final = types.TextContent(text="This is a simple text response for testing.")
_IMAGE: Final = types.ImageContent(data=_PIXEL, mime_type="image/png")


def _embedded(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=kind, text=text))


_ANSWERS: Final[dict[str, list[Any]]] = {
    "test_simple_text": [_TEXT],
    "test_image_content": [_IMAGE],
    "test_audio_content": [types.AudioContent(data=_SOUND, mime_type="audio/wav")],
    "test_embedded_resource": [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource.")],
    "test_multiple_content_types": [_TEXT, _IMAGE, _embedded("test://mixed", "application/json", '{"test":"data"}')],
    "test_error_handling": [types.TextContent(text="This tool intentionally returns an error for testing")],
}


class _WithFixtures(server._Handlers):
    """Our handlers, with the suite's tools and resources before them."""

    async def list_tools(self, context: Any, params: Any) -> types.ListToolsResult:
        own = await super().list_tools(context, params)
        schema = {"type": "object"}
        more = [types.Tool(name=name, description="Of the suite.", input_schema=schema) for name in _ANSWERS]
        return types.ListToolsResult(tools=[*own.tools, *more])

    async def call_tool(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in _ANSWERS:
            return await super().call_tool(context, params)
        return types.CallToolResult(content=_ANSWERS[params.name], is_error=params.name == "test_error_handling")

    async def read_resource(self, context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        uri, contents = params.uri, None
        if uri == "test://static-text":
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="Static text.")
        elif uri == "test://static-binary":
            binary = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=_PIXEL)
            return types.ReadResourceResult(contents=[binary])
        elif uri.startswith("test://template/"):
            text = f'{{"id":"{uri.split("/")[3]}"}}'
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=text)
        if contents is None:
            return await super().read_resource(context, params)
        return types.ReadResourceResult(contents=[contents])


def add_fixtures(patch: pytest.MonkeyPatch) -> None:
    """Have the next door serve them too."""
    patch.setattr(server, "_Handlers", _WithFixtures)
