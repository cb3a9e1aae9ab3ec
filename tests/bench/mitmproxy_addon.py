"""The least that somebody would write with mitmproxy to let reads pass and stop the rest."""

import re
from typing import Any

READ = re.compile(r"\.(Get|List|Describe|Head|Query|Scan)\w*$")


def request(flow: Any) -> None:
    """Stop a request that names no caller, or no read."""
    asked = flow.request.headers.get("x-amz-target", "")
    if "Credential=SNTL" not in flow.request.headers.get("authorization", "") or not READ.search(asked):
        flow.kill()
