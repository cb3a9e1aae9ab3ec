"""Where the files of an export go: a directory, or a prefix in S3. A file is there whole or not at all, and writing it again replaces it."""

import os
import tempfile
from pathlib import Path
from typing import Any, Final, Protocol

from gateway.core.errors import SentinelError, SettingsInvalid

_BUCKET_URL: Final = "s3://"


class ExportFailed(SentinelError):
    """A file of an export could not be written. The export goes on with the same records when it is run again."""

    code = "export_failed"


class ExportDestination(Protocol):
    """A place for files."""

    @property
    def name(self) -> str:
        """The place as people write it, always the same for the same place."""

    def write(self, path: str, content: bytes) -> None:
        """Write a file whole. Returns once it is safe there. Raises `ExportFailed`."""


class DirectoryDestination:
    """A directory. Files are on disk, under their names, before `write` returns."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()

    @property
    def name(self) -> str:
        """Its whole path."""
        return str(self._root)

    def write(self, path: str, content: bytes) -> None:
        """Write the file beside its name first, so that no reader sees a part of it. Raises `ExportFailed`."""
        file = self._root / path
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".part", dir=file.parent)
            try:
                with os.fdopen(handle, "wb") as part:
                    part.write(content)
                    part.flush()
                    os.fsync(part.fileno())
                Path(beside).replace(file)
            finally:
                _remove_parts(file)
            _sync(self._root, file.parent)
        except OSError as error:
            raise ExportFailed(
                f"The export cannot write {file} ({error.strerror or error}). What is there already is kept; the next run goes on with this file."
            ) from error


def _remove_parts(file: Path) -> None:
    """Remove what processes left that were killed while they wrote this file."""
    for part in file.parent.glob(f".{file.name}.*.part"):
        part.unlink(missing_ok=True)


def _sync(root: Path, directory: Path) -> None:
    """Put the names on disk: of the file, and of the directories down to it."""
    for each in (directory, *directory.parents):
        handle = os.open(each, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        if each == root:
            return


class BucketDestination:
    """A prefix in an S3 bucket. S3 shows an object whole or not at all."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        """`client` is boto3's for S3."""
        self._client = client
        self._bucket = bucket
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""

    @property
    def name(self) -> str:
        """Its URL."""
        return f"{_BUCKET_URL}{self._bucket}/{self._prefix}".rstrip("/")

    def write(self, path: str, content: bytes) -> None:
        """Put the object. boto3 tries again by itself: the same object is put. Raises `ExportFailed`."""
        from boto3.exceptions import Boto3Error  # noqa: PLC0415  only an export to S3 needs it
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        try:
            self._client.put_object(Bucket=self._bucket, Key=f"{self._prefix}{path}", Body=content)
        except (Boto3Error, BotoCoreError, ClientError) as error:
            raise ExportFailed(
                f"The export cannot write {self.name}/{path} ({error}). What is there already is kept; the next run goes on with this file. "
                "It needs s3:PutObject there."
            ) from error


def destination(to: str, *, endpoint: str = "", region: str = "") -> ExportDestination:
    """The destination of a directory or an `s3://bucket/prefix`. `endpoint` is that of a simulated AWS.

    Raises `errors.SettingsInvalid` for a URL that names no bucket, or another kind of place.
    """
    if not to.startswith(_BUCKET_URL):
        if "://" in to:
            raise SettingsInvalid(f"An export goes to a directory or to s3://bucket/prefix, not to {to[:100]!r}.")
        return DirectoryDestination(Path(to))
    bucket, _, prefix = to.removeprefix(_BUCKET_URL).partition("/")
    if not bucket:
        raise SettingsInvalid(f"{to[:100]!r} names no bucket. Write s3://bucket/prefix.")
    return BucketDestination(_client(endpoint, region), bucket, prefix)


def _client(endpoint: str, region: str) -> Any:
    """boto3's client with its default chain of credentials; for a simulated AWS with a dummy pair."""
    import boto3  # noqa: PLC0415  only an export to S3 needs it
    from botocore.config import Config  # noqa: PLC0415

    given: dict[str, Any] = {"region_name": region or None, "config": Config(s3={"addressing_style": "path"})}
    if endpoint:
        given |= {"endpoint_url": endpoint, "aws_access_key_id": "simulated", "aws_secret_access_key": "simulated"}
    return boto3.client("s3", **given)
