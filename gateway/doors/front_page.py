"""The page that a browser gets at `/`: what this server is, and where to go. Everything else at `/` is an AWS request."""

import base64
from hashlib import sha256
from html import escape
from typing import Final

from gateway.core.http.asgi import Scope, Send, send_response

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42em; margin: 3em auto; padding: 0 1em; color: #1b1f24; background: #fff }
code, pre { font: 14px/1.5 ui-monospace, monospace; background: #f2f4f7; border-radius: 4px; padding: .1em .3em }
pre { padding: .8em; overflow-x: auto }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #16191d } code, pre { background: #23282e } a { color: #8ab4f8 }
}
"""
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sentinel</title>
<style>{style}</style>
</head>
<body>
<h1>Sentinel</h1>
<p>This is an endpoint for AWS clients. Changes of infrastructure go through it: it checks who asks for what and why,
records the decision, applies what passes once, and writes it back into the Terraform code.</p>
<p>To use it, set this for any AWS SDK, the AWS CLI or Terraform, with a key from <code>sentinel key</code> or
<code>sentinel session</code>:</p>
<pre>export AWS_ENDPOINT_URL={url}</pre>
<ul>
{console}<li><a href="/v1/docs">The JSON API</a> (<a href="/v1/openapi.json">OpenAPI</a>)</li>
<li><a href="/readyz">Readiness</a>: stacks, policy, and what is wrong at the moment</li>
<li>The <code>README.md</code> of the repository says how to start, and <code>docs/</code> how to write contracts and policies</li>
</ul>
</body>
</html>
"""
_CONSOLE: Final = '<li><a href="/console">The console</a>: what happens, what waits for you, who holds what</li>\n'
_STYLE_HASH: Final = base64.b64encode(sha256(_STYLE.encode()).digest()).decode()
_HEADERS: Final = [
    ("content-type", "text/html; charset=utf-8"),
    (
        "content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cache-control", "no-store"),
    ("vary", "accept"),
]


def is_browser_at_root(scope: Scope) -> bool:
    """Whether a browser opens `/`. Call it only for a request without an AWS signature."""
    if scope["method"] not in ("GET", "HEAD") or scope["path"] != "/" or scope["query_string"]:
        return False
    return any(name == b"accept" and b"text/html" in value.lower() for name, value in scope["headers"])


async def send_front_page(scope: Scope, send: Send, public_url: str = "", *, console: bool = False) -> None:
    """Send the page. Without `public_url` it names the host that the browser called. `console` is whether there is one."""
    host = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"host"), "")
    link = _CONSOLE if console else ""
    page = _PAGE.format(
        style=_STYLE, console=link, url=escape(public_url or f"{scope.get('scheme', 'http')}://{host}")
    ).encode()
    headers = [*_HEADERS, ("content-length", str(len(page)))]
    await send_response(send, 200, headers, b"" if scope["method"] == "HEAD" else page)
