"""A stand-in for AWS that answers at once over kept-alive connections: what latency is measured against, and what counts sends.

Run it with `python tests/bench/stub.py --port 5599`. Replies are rendered beforehand, one per operation; `GET /_count` tells how often each was
asked for. It checks nothing: its answers prove nothing about signatures.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from typing import cast
from urllib.parse import parse_qs, unquote_plus

import httptools

JSON, XML = "application/x-amz-json-1.0", "text/xml"
REQUEST_ID = "6f7e2c1a-0000-4000-8000-000000000000"


def _query(operation: str, version: str, result: str = "") -> str:
    inner = f"<{operation}Result>{result}</{operation}Result>" if result else ""
    return (
        f'<{operation}Response xmlns="http://stub.amazonaws.com/doc/{version}/">{inner}'
        f"<ResponseMetadata><RequestId>{REQUEST_ID}</RequestId></ResponseMetadata></{operation}Response>"
    )


def _ec2(operation: str, inner: str) -> str:
    return f'<{operation}Response xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><requestId>{REQUEST_ID}</requestId>{inner}</{operation}Response>'


REPLIES: dict[str, tuple[str, str]] = {
    "GetQueueUrl": (JSON, '{"QueueUrl": "http://127.0.0.1/123456789012/orders"}'),
    "CreateQueue": (JSON, '{"QueueUrl": "http://127.0.0.1/123456789012/orders"}'),
    "SetQueueAttributes": (JSON, "{}"),
    "ListTables": (JSON, '{"TableNames": ["orders"]}'),
    "SetDesiredCapacity": (XML, _query("SetDesiredCapacity", "2011-01-01")),
    "UpdateAutoScalingGroup": (XML, _query("UpdateAutoScalingGroup", "2011-01-01")),
    "DescribeAutoScalingGroups": (
        XML,
        _query("DescribeAutoScalingGroups", "2011-01-01", "<AutoScalingGroups/>"),
    ),
    "GetCallerIdentity": (
        XML,
        _query(
            "GetCallerIdentity",
            "2011-06-15",
            "<Arn>arn:aws:iam::123456789012:user/stub</Arn><UserId>AIDASTUB</UserId><Account>123456789012</Account>",
        ),
    ),
    "DescribeInstances": (XML, _ec2("DescribeInstances", "<reservationSet/>")),
    "CreateVpc": (XML, _ec2("CreateVpc", "<vpc><vpcId>vpc-0stub</vpcId></vpc>")),
    "PutMetricAlarm": (XML, _query("PutMetricAlarm", "2010-08-01")),
}
"""Reply by operation name: content type and body."""


def rendered(content_type: str, body: str, status: str = "200 OK") -> bytes:
    """One whole reply."""
    raw = body.encode()
    head = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(raw)}\r\nx-amzn-RequestId: {REQUEST_ID}\r\n\r\n"
    return head.encode() + raw


_RENDERED = {operation: rendered(*reply) for operation, reply in REPLIES.items()}
_OTHER = rendered(JSON, "{}")


class Connection(asyncio.Protocol):
    """One client connection."""

    def __init__(self, counts: Counter[str]) -> None:
        self._counts = counts
        self._parser = httptools.HttpRequestParser(self)
        self._reset()

    def _reset(self) -> None:
        self._url = self._target = self._body = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one only in behaviour

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._transport.close()

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"x-amz-target":
            self._target = value

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._transport.write(self._reply())
        self._reset()

    def _reply(self) -> bytes:
        if self._url.startswith(b"/_count"):
            return rendered("application/json", json.dumps(self._counts))
        operation = self._operation()
        self._counts[operation] += 1
        return _RENDERED.get(operation, _OTHER)

    def _operation(self) -> str:
        if self._target:
            return self._target.rpartition(b".")[2].decode("latin-1")
        if b"Action=" in self._body:
            return unquote_plus(self._body.decode("latin-1").partition("Action=")[2].partition("&")[0])
        query = parse_qs(self._url.partition(b"?")[2].decode("latin-1"))
        return query.get(
            "Action", [f"{self._parser.get_method().decode()} {self._url.partition(b'?')[0].decode('latin-1')}"]
        )[0]


async def serve(port: int, host: str = "127.0.0.1") -> asyncio.Server:
    """Start listening; port 0 takes a free one."""
    counts: Counter[str] = Counter()
    return await asyncio.get_running_loop().create_server(lambda: Connection(counts), host, port)


async def _main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--port", type=int, default=5599)
    server = await serve(arguments.parse_args().port)
    print(f"stub listens on 127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.run(_main())
    except KeyboardInterrupt:
        sys.exit(0)
