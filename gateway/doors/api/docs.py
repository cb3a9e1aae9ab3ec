"""`/v1/docs`: the API's description as a page that loads nothing from elsewhere.

The page that FastAPI makes loads scripts from a public host and has a script inside, which a strict content security policy refuses.
"""

import gzip
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import FastAPI, Request, Response

_ASSETS: Final = files("gateway.doors.api") / "docs_assets"
_KINDS: Final = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
    "docs.js": "text/javascript; charset=utf-8",
}
"""The files that the page loads, by name."""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sentinel: the JSON API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/docs.js"></script>
</head>
<body>
<div id="docs"></div>
<noscript>This page needs scripts. <a href="openapi.json">The description itself</a> does not.</noscript>
</body>
</html>
"""
_GUARDED: Final = {
    # Pictures in the style sheet are `data:` URLs. Calls that the page tries go to this gateway only.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


def add_docs(app: FastAPI) -> None:
    """Add the page and the files it loads. Neither needs a key: they say nothing about this gateway. Call it before `/v1` is routed."""

    @app.get("/v1/docs", include_in_schema=False)
    async def page() -> Response:
        return Response(_PAGE, media_type="text/html", headers=_GUARDED)

    for name in _KINDS:
        app.add_api_route(f"/v1/docs/{name}", _sends(name), include_in_schema=False)


def _sends(name: str) -> Callable[[Request], Awaitable[Response]]:
    """What answers with one file."""

    async def send(request: Request) -> Response:
        packed = "gzip" in request.headers.get("accept-encoding", "")
        headers = {**_GUARDED, "cache-control": "public, max-age=3600", "vary": "accept-encoding"}
        if packed:
            headers["content-encoding"] = "gzip"
        return Response(_packed(name) if packed else asset(name), media_type=_KINDS[name], headers=headers)

    return send


def asset(name: str) -> bytes:
    """A file that the page loads, as its authors published it."""
    return gzip.decompress(_packed(name))


@cache
def _packed(name: str) -> bytes:
    """The same, compressed. Read at the first call: most gateways are never asked."""
    packed = _ASSETS / f"{name}.gz"
    return packed.read_bytes() if packed.is_file() else gzip.compress((_ASSETS / name).read_bytes(), mtime=0)
