"""Settings of the HTTP server, and of the connection to AWS."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from gateway.core.settings.stacks import ROLE_ARN
from gateway.core.settings.table import SettingsTable


class UnsignedUploads(StrEnum):
    """Which S3 objects are accepted although the signature does not cover their bytes."""

    PROTECTED = "protected"
    """Those that nobody can change on the way: from this machine, by https, or with a `public_url` that begins with https."""
    ALWAYS = "always"
    NEVER = "never"


class ServerSettings(SettingsTable):
    """The HTTP server."""

    host: str = "127.0.0.1"
    """The address that the gateway listens on."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8484
    """The port that the gateway listens on."""
    max_body_bytes: Annotated[int, Field(ge=1024)] = 6 * 1024 * 1024
    """Largest body of a change whose parameters are in the body, in bytes. Reads and uploads have `max_upload_bytes` instead."""
    max_upload_bytes: Annotated[int, Field(ge=1024)] = 64 * 1024 * 1024
    """Largest body of a read, or of an upload whose body is one blob (S3 objects and parts, Lambda payloads), in bytes. Clients upload
    larger objects in parts."""
    max_object_bytes: Annotated[int, Field(ge=1024)] = 5 * 1024 * 1024 * 1024
    """Largest S3 object or part in one request, in bytes. It is streamed, so it takes no memory. S3 accepts 5 GiB."""
    unsigned_uploads: UnsignedUploads = UnsignedUploads.PROTECTED
    """Whether an S3 object whose bytes the signature does not cover is accepted, as presigned URLs and streams of JavaScript send it."""
    public_url: Annotated[str, Field(pattern=r"^(https?://[A-Za-z0-9._\[\]:-]+)?$")] = ""
    """URL at which clients reach this gateway, e.g. `https://sentinel.example`; URLs in AWS's replies lead there. Default: the host that
    the client signed."""
    s3_hosts: tuple[
        Annotated[
            str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$")
        ],
        ...,
    ] = ()
    """Host names, without a port, before which clients put an S3 bucket, e.g. `["sentinel.internal"]` for `bucket.sentinel.internal`. Always:
    `localhost`, the host of `public_url`, both also with `s3.` before them, and AWS's own names of S3."""
    max_buffered_bytes: Annotated[int, Field(ge=1024)] = 256 * 1024 * 1024
    """Bytes of all request bodies in memory together. A request for which there is no room gets 503 with Retry-After."""
    max_connections: Annotated[int, Field(ge=16, le=65536)] = 4096
    """Connections of clients that each process keeps. For one more, some that are owed no answer are closed, first those that never had one; if
    there are none, it gets 503. Fewer where the system lets a process open fewer files than twice as many and 256."""
    clock_skew_seconds: Annotated[int, Field(ge=1, le=900)] = 300
    """Largest difference between the time of a signature and the clock of this machine, in seconds. AWS accepts 300, S3 900."""
    lease_seconds: Annotated[float, Field(ge=1, le=3600)] = 15.0
    """How long the mutations that a gateway sends are left to it after its last sign of life. Then they are in doubt."""
    own_core: bool = False
    """Whether each of several workers (`serve --workers`) stays on a processor core of its own: two carry out a fifth more changes so. For machines
    on which no other program keeps these cores busy. Linux only."""


class UpstreamSettings(SettingsTable):
    """The connection to AWS."""

    simulated: str = ""
    """URL of a simulated AWS on this machine, e.g. `http://127.0.0.1:5555`; empty for the real AWS. Must be a loopback address."""
    assume_role: Annotated[str, Field(pattern=ROLE_ARN)] = ""
    """ARN of a role in the gateway's own account with which it sends changes; default: its own credentials."""
    session_per_mutation: bool = False
    """Whether each change is sent in a session of its own, whose policy is that call and whose tags say who, why, which mutation and who
    approved. Needs `assume_role`, and of every stack in another account, too."""
    regions: tuple[str, ...] = (
        "us-east-1",
        "us-east-2",
        "us-west-1",
        "us-west-2",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "eu-central-1",
        "eu-north-1",
        "ap-south-1",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-northeast-1",
        "ap-northeast-2",
        "ca-central-1",
        "sa-east-1",
    )
    """Regions that may be called. The region of a request determines the host, so any other is refused."""
    default_region: str = "us-east-1"
    """Region of calls whose signature and stack name none."""
    connect_seconds: float = 5.0
    """How long to wait for a connection to AWS."""
    reply_seconds: float = 900.0
    """How long to wait for the answer to a mutation before it is in doubt, in seconds. A read waits as long for its reply, and for each
    next byte of it."""
