"""Ends with 0 if the gateway of this container answers that it lives, else with 1 and a sentence: the check of an image without a shell or curl."""

import http.client
import os
import sys

_SECONDS = 4


def main() -> int:
    """Ask `/healthz` on loopback, at the port of `SENTINEL_SERVER__PORT` (8484)."""
    port = int(os.environ.get("SENTINEL_SERVER__PORT", "8484"))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_SECONDS)
    try:
        connection.request("GET", "/healthz")
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        sys.stderr.write(f"The gateway does not answer on port {port} ({error}).\n")
        return 1
    finally:
        connection.close()
    if status != http.client.OK:
        sys.stderr.write(f"The gateway answers with {status}.\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
