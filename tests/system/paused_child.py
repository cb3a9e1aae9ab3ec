"""A gateway in a process of its own that stops itself with SIGSTOP after it has stored a decision, before it sends: `SETTINGS KEY-ID SECRET`.

How old a signed request may be when it is sent is set to a tenth of a second, so that the pause need not last a minute.
"""

import asyncio
import os
import signal
import sys
from unittest.mock import patch

import httpx

from gateway.app.running import running
from gateway.aws.client.mutations import Aws
from gateway.core.model.outcome import Sent
from gateway.core.ports import Prepared
from gateway.core.settings import Settings

_send = Aws.send


async def _paused(aws: Aws, prepared: Prepared) -> Sent:
    os.kill(os.getpid(), signal.SIGSTOP)
    await asyncio.sleep(0.2)
    return await _send(aws, prepared)


async def main(settings: Settings, key_id: str, secret: str) -> None:
    """Propose one change."""
    with patch.object(Aws, "send", _paused), patch("gateway.aws.client.mutations._OLDEST_SECONDS", 0.1):
        async with running(settings) as app:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=300) as client:
                body = {
                    "service": "sqs",
                    "operation": "SetQueueAttributes",
                    "parameters": {
                        "QueueUrl": "https://sqs.us-east-1.amazonaws.com/123456789012/queue-1",
                        "Attributes": {"VisibilityTimeout": "7"},
                    },
                    "motive": {"intent": "availability", "motivation": "routine"},
                }
                answer = await client.post(
                    "/v1/mutations", json=body, headers={"Authorization": f"Bearer {key_id}.{secret}"}
                )
                assert answer.json()["outcome"]["outcome"] == "failed", answer.text


if __name__ == "__main__":
    asyncio.run(main(Settings.model_validate_json(sys.argv[1]), sys.argv[2], sys.argv[3]))
