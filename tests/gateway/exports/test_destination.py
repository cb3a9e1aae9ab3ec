"""Files are whole or not there, in a directory and in S3; what fails is a sentence."""

import os
from pathlib import Path

import pytest

from gateway.core.errors import SettingsInvalid
from gateway.exports.destination import BucketDestination, DirectoryDestination, ExportFailed, destination
from tests.kit.moto import MotoUpstream


def test_a_file_is_written_whole_and_again(tmp_path: Path) -> None:
    place = DirectoryDestination(tmp_path / "out")
    for content in (b"one", b"two"):
        place.write("a/b/file.json", content)
        assert (tmp_path / "out/a/b/file.json").read_bytes() == content
    assert [file.name for file in (tmp_path / "out").rglob("*") if file.is_file()] == ["file.json"]
    assert place.name == str(tmp_path / "out")


def test_what_a_killed_process_left_is_removed_with_the_next_write(tmp_path: Path) -> None:
    left = tmp_path / ".file.json.x1.part"
    left.write_bytes(b"half")
    DirectoryDestination(tmp_path).write("file.json", b"whole")
    assert not left.exists()


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = DirectoryDestination(tmp_path)
    place.write("file.json", b"before")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ExportFailed, match=r"No space left on device\)\. What is there already is kept"):
        place.write("file.json", b"after")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"before"]


@pytest.mark.enable_socket
async def test_an_object_is_put_under_its_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    aws = MotoUpstream()
    runner = await aws.start()
    try:
        aws.client("s3").create_bucket(Bucket="audit")
        place = destination("s3://audit/sentinel/", endpoint=aws.url, region="us-east-1")
        assert place.name == "s3://audit/sentinel"
        for content in (b"one", b"two"):
            place.write("a=1/file.json", content)
        found = aws.client("s3").get_object(Bucket="audit", Key="sentinel/a=1/file.json")
        assert found["Body"].read() == b"two"
        missing = destination("s3://nowhere", endpoint=aws.url, region="us-east-1")
        assert isinstance(missing, BucketDestination)
        with pytest.raises(ExportFailed, match="s3:PutObject"):
            missing.write("file.json", b"")
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("to", ["s3://", "gs://bucket/x", "https://bucket"])
def test_another_place_is_refused(to: str) -> None:
    with pytest.raises(SettingsInvalid):
        destination(to)
