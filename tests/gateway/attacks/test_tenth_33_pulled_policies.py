"""Tenth audit, 33: who serves policies ends the gateway, or has it forget which ones were the newest.

The attack: an archive of a megabyte, which nobody signed, unpacks to gigabytes of headers; with room for 32 MB it took all the memory. Or the disk
is full when a new bundle comes into force: it was in force and not on disk, the failure passed by what keeps the gateway going, and after a
restart an older one counted as the newest. Or a key of the gateway writes the object that the policies are pulled from. What must hold: what an archive
unpacks to is bounded, headers too; a bundle comes into force when it is on disk; and the object is Sentinel's own.
"""

import io
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest

from gateway.core.errors import PolicyInvalid
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.mutation import Call, CallClass
from gateway.core.settings import PolicySettings, Settings
from gateway.core.settings.policy import ControlPlaneSettings
from gateway.line.ground_truth import GroundTruth, places_of
from gateway.policy import signed_bundle
from gateway.policy.pulled import SAVED, Fetched, PulledEngine
from gateway.policy.signed_bundle import opened

KEY = b"k" * 32
_MEGABYTE = b"\0" * (1 << 20)
_FULL = 5
"""Megabytes; more than a bundle may unpack to here."""


def _packed(pieces: Iterator[bytes]) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return b"".join(map(packer.compress, pieces)) + packer.flush()


def _header(kind: bytes, size: int = 0) -> bytes:
    entry = tarfile.TarInfo("x")
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.GNU_FORMAT)


def _one_header(kind: bytes) -> Iterator[bytes]:
    yield _header(kind, _FULL << 20)
    for _ in range(_FULL):
        yield _MEGABYTE
    yield _header(tarfile.REGTYPE)


def _many_headers(kind: bytes) -> Iterator[bytes]:
    for _ in range(10):
        yield _header(kind) * 1_000


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.REGTYPE])
def test_what_a_small_archive_unpacks_to_is_bounded(kind: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed_bundle, "_LARGEST_CONTENT", (_FULL - 1) << 20)
    archive = _packed(_one_header(kind))
    assert len(archive) < 1 << 16
    with pytest.raises(PolicyInvalid, match="unpacks to more"):
        opened(archive, key=KEY, algorithm="HS256", scope="")


@pytest.mark.parametrize("kind", [tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.FIFOTYPE])
def test_what_is_no_file_counts_too(kind: bytes) -> None:
    with pytest.raises(PolicyInvalid, match="unpacks to more"):
        opened(_packed(_many_headers(kind)), key=KEY, algorithm="HS256", scope="")


def _archive(files: Mapping[str, bytes], issued: int) -> bytes:
    listed = [{"name": n, "hash": sha256(t).hexdigest(), "algorithm": "SHA-256"} for n, t in files.items()]
    token = jwt.encode({"files": listed, "iat": issued}, KEY, algorithm="HS256")
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as content:
        for name, text in {**files, ".signatures.json": json.dumps({"signatures": [token]}).encode()}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            content.addfile(entry, io.BytesIO(text))
    return made.getvalue()


def test_an_own_archive_is_opened_as_ever() -> None:
    found = opened(_archive({"a.rego": b"package a"}, 7), key=KEY, algorithm="HS256", scope="")
    assert (found.files["a.rego"], found.issued) == (b"package a", 7)


async def test_a_bundle_that_cannot_be_kept_does_not_come_into_force(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY)
    settings = ControlPlaneSettings(bundle="s3://policies/b.tar.gz", key_file=tmp_path / "key", algorithm="HS256")
    served = [_archive({"a.rego": b"package a"}, 7)]

    async def fetch(_: str) -> Fetched | None:
        return Fetched(archive=served[-1], etag="")

    engine = PulledEngine(settings, fetch=fetch, directory=tmp_path, deadline_ms=1_000, memory_mb=64)
    taken: list[bytes] = []

    def made(archive: bytes) -> Any:
        taken.append(archive)
        return SimpleNamespace(revision="r"), opened(archive, key=KEY, algorithm="HS256", scope="")

    engine._engine_of = made  # type: ignore[method-assign]  # what is signed need not be policies here
    (tmp_path / SAVED).mkdir()
    await engine.pull()
    assert taken == served
    assert "could not be written" in engine.state.problem
    assert engine._engine is None
    (tmp_path / SAVED).rmdir()
    await engine.pull()
    assert (engine.state.problem, (tmp_path / SAVED).read_bytes()) == ("", served[0])


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("operation", ["PutObject", "DeleteObject"])
def test_nobody_writes_what_the_policies_are_pulled_from(tmp_path: Path, kind: ActorKind, operation: str) -> None:
    plane = ControlPlaneSettings(bundle="s3://policies/b.tar.gz", key_file=tmp_path / "key")
    ground = GroundTruth(places_of(Settings(policy=PolicySettings(control_plane=plane))))
    caller = Caller(actor="x", kind=kind, key_id="SNTLX")

    def objection(key: str) -> str:
        call = Call(
            service="s3", operation=operation, parameters={"Bucket": "policies", "Key": key}, account="", region=""
        )
        return ground.objection(caller, call, CallClass.DATA, direct=True)

    assert "the policies that this gateway pulls" in objection("b.tar.gz")
    assert objection("other") == ""
