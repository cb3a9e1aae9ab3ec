"""Reads Terraform states that are no files: from S3 directly, from any other backend through Terraform."""

import asyncio
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote

from gateway.aws.client.credentials import CredentialsProvider
from gateway.aws.client.endpoints import Endpoints
from gateway.aws.client.signer import signed_headers
from gateway.aws.client.streams import AwsReads
from gateway.core.errors import CodeInvalid, SentinelError, UpstreamUnavailable
from gateway.core.model.mutation import Call
from gateway.core.outbound.blocking import blocking_request
from gateway.core.outbound.response import HttpResponse, OutboundFailure, ResponseTooLong
from gateway.core.ports import Clock
from gateway.terraform.config.backend import StateBackend, StateObject
from gateway.terraform.pulled_states import PulledStates

_EMPTY = hashlib.sha256(b"").hexdigest()
_ASK_AGAIN = 5.0
"""For how many seconds an answer is taken as current."""
_LARGEST = 256 * 1024 * 1024
_OK, _NOT_MODIFIED, _MISSING = 200, 304, 404


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last answer for an object."""

    content: bytes
    tag: str
    at: float


@dataclass(slots=True)
class BucketStates:
    """States in S3. It blocks, so it is used in threads of its own; `credentials` is not shared with an event loop."""

    endpoints: Endpoints
    credentials: CredentialsProvider
    clock: Clock
    seconds: float = 30.0
    """Timeout of one request."""
    now: Callable[[], float] = time.monotonic
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _failed: dict[str, tuple[float, str]] = field(default_factory=dict)
    """When S3 last did not answer, and how: it is asked again no sooner, because other stacks wait meanwhile."""

    def read(self, wanted: StateObject) -> tuple[bytes, str]:
        """The bytes of the object and its ETag; no bytes if there is no such object. Raises `errors.CodeInvalid`."""
        kept = self._kept.get(wanted.url)
        if kept is None or self.now() - kept.at >= _ASK_AGAIN:
            at, failure = self._failed.get(wanted.url, (0.0, ""))
            if failure and self.now() - at < _ASK_AGAIN:
                raise CodeInvalid(failure)
            try:
                kept = self._kept[wanted.url] = self._asked(wanted, kept)
            except CodeInvalid as error:
                self._failed[wanted.url] = (self.now(), str(error))
                raise
            self._failed.pop(wanted.url, None)
        return kept.content, kept.tag

    def _asked(self, wanted: StateObject, kept: _Kept | None) -> _Kept:
        try:
            reply = self._get(wanted, kept.tag if kept is not None else "")
        except ResponseTooLong:
            raise _unread(wanted, f"it is larger than {_LARGEST} bytes") from None
        except (OutboundFailure, SentinelError) as error:
            raise _unread(wanted, str(error)) from error
        if reply.status == _NOT_MODIFIED and kept is not None:
            return _Kept(kept.content, kept.tag, self.now())
        if reply.status == _MISSING and b"<Code>NoSuchKey</Code>" in reply.body:
            return _Kept(b"", "", self.now())
        if reply.status != _OK:
            raise _unread(wanted, f"S3 answers with {reply.status}{_code(reply.body)}")
        return _Kept(reply.body, reply.header("etag"), self.now())

    def _get(self, wanted: StateObject, tag: str) -> HttpResponse:
        parameters = {"Bucket": wanted.bucket, "Key": wanted.key}
        call = Call(service="s3", operation="GetObject", parameters=parameters, region=wanted.region)
        endpoint = self.endpoints.of_read(call)
        target = f"{endpoint.path}/{quote(wanted.bucket)}/{quote(wanted.key)}"
        headers = signed_headers(
            method="GET",
            target=target,
            headers=[("x-amz-content-sha256", _EMPTY), *([("if-none-match", tag)] if tag else [])],
            payload=_EMPTY,
            endpoint=endpoint,
            credentials=asyncio.run(self.credentials.current()),
            at=self.clock.now(),
        )
        return blocking_request(
            "GET",
            f"{endpoint.origin}{target}",
            headers=dict(headers),
            connect_seconds=self.seconds,
            wait_seconds=self.seconds,
            most_bytes=_LARGEST,
        )


@dataclass(frozen=True, slots=True)
class StatesNow:
    """States in S3 as they are at this moment, for what is about to be written over them."""

    reads: AwsReads

    async def read(self, wanted: StateObject) -> bytes:
        """The bytes of the object; none if there is no such object. Raises `errors.UpstreamUnavailable`."""
        parameters = {"Bucket": wanted.bucket, "Key": wanted.key}
        call = Call(service="s3", operation="GetObject", parameters=parameters, region=wanted.region)
        target = f"/{quote(wanted.bucket)}/{quote(wanted.key)}"
        response = await self.reads.open(call, method="GET", target=target, headers=(), body=b"", payload=_EMPTY)
        try:
            if response.length is not None and response.length > _LARGEST:
                raise UpstreamUnavailable(
                    f"{wanted.url}: The state is larger than {_LARGEST} bytes. Nothing was written."
                )
            content = await response.read()
        finally:
            response.abandon()
        if response.status == _MISSING and b"<Code>NoSuchKey</Code>" in content:
            return b""
        if response.status != _OK:
            raise UpstreamUnavailable(
                f"{wanted.url}: The state that is there cannot be read: S3 answers with {response.status}{_code(content)}. Nothing was "
                "written. Give the gateway's role s3:GetObject and s3:ListBucket there."
            )
        return content


def _code(content: bytes) -> str:
    """The error code in S3's answer, for the message."""
    _, found, rest = content.partition(b"<Code>")
    return f" ({rest.partition(b'</Code>')[0][:60].decode(errors='replace')})" if found else ""


def _unread(wanted: StateObject, why: str) -> CodeInvalid:
    return CodeInvalid(
        f"{wanted.url}: The state cannot be read: {why}. Give the gateway's role s3:GetObject (and s3:ListBucket) there, or name a state file in the settings."
    )


@dataclass(frozen=True, slots=True)
class States:
    """Reads a state from S3 or from another backend."""

    buckets: BucketStates
    backends: PulledStates

    def read(self, wanted: StateObject | StateBackend) -> tuple[bytes, str]:
        """The state and a tag that changes with it; no bytes if there is none yet. Raises `errors.CodeInvalid`."""
        return self.buckets.read(wanted) if isinstance(wanted, StateObject) else self.backends.read(wanted)
