"""Looks at a Terraform state before it is stored: whose it is, and that it goes on from the one that is there.

Source: Terraform's own rule for a push (`internal/states/statemgr/migrate.go`): the lineage stays, and the serial does not go back.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.errors import NotAllowed
from gateway.core.json_reader import JsonRefused, read_json
from gateway.core.model.mutation import Call
from gateway.core.off_loop import off_loop
from gateway.line.ground_truth import GroundTruth
from gateway.terraform.config.backend import StateObject, StatePlace

LARGEST: Final = 16 * 1024 * 1024
"""Bytes of a state, or of a part of one, in one request. Terraform sends more than 5 MiB in parts."""
LARGEST_IN_PARTS: Final = 32 * 1024 * 1024
"""Bytes of all parts that are kept until their states are complete. The oldest are forgotten first."""
_VERSION: Final = 4
_HEAD: Final = re.compile(
    rb'\s*\{\s*"version":\s*4,\s*"terraform_version":\s*"[^"\\]{0,40}",\s*"serial":\s*(\d{1,18}),\s*"lineage":\s*"([^"\\]{1,200})",'
)
"""How Terraform begins a state, by which a state is known whose rest comes in other parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What a state says of itself."""

    serial: int
    lineage: str
    digest: str = ""
    """SHA-256 of the whole; empty if only its beginning is known."""

    def __str__(self) -> str:
        return f"serial={self.serial} lineage={self.lineage}"


class StateWrites:
    """Checks what is written to the states of stacks."""

    def __init__(self, ground: GroundTruth, current: Callable[[StateObject], Awaitable[bytes]]) -> None:
        """`current` reads a state as it is now, no bytes if there is none. Raises `errors.UpstreamUnavailable`."""
        self._ground = ground
        self._current = current
        self._parts: dict[tuple[str, ...], bytes] = {}
        """Parts that S3 took, by bucket, key, upload, number and ETag; oldest first."""
        self._kept = 0

    def of(self, call: Call) -> StatePlace | None:
        """The state whose content the call writes, whole, in part or by completing its parts; None for a lock, and for every other call."""
        if call.service != "s3" or call.operation not in ("PutObject", "UploadPart", "CompleteMultipartUpload"):
            return None
        place = self._ground.state_of(call)
        return place if place is not None and call.parameters.get("Key") == place.key else None

    def read_by(self, call: Call) -> StatePlace | None:
        """The state whose content the call returns; None for every other call."""
        return self._ground.state_read(call)

    def keep(self, call: Call, content: bytes, etag: str) -> None:
        """Keep a part that S3 took, so that its state can be judged as a whole when it is completed."""
        name = _part_name(call, call.parameters.get("PartNumber"), etag)
        self._forget(name)
        self._parts[name] = content
        self._kept += len(content)
        while self._kept > LARGEST_IN_PARTS:
            self._forget(next(iter(self._parts)))

    def completed(self, call: Call) -> bytes:
        """The whole state that a call completes from its parts. Raises `errors.NotAllowed` if a part did not come through this gateway."""
        upload = call.parameters.get("MultipartUpload")
        listed = upload.get("Parts") if isinstance(upload, Mapping) else None
        names = [
            _part_name(call, each.get("PartNumber"), str(each.get("ETag")))
            for each in listed or ()
            if isinstance(each, Mapping)
        ]
        if not names or any(name not in self._parts for name in names):
            raise NotAllowed(
                f"The parts of s3://{call.parameters.get('Bucket')}/{call.parameters.get('Key')} did not all come through this gateway since it "
                f"started, or they are more than {LARGEST_IN_PARTS // 2**20} MiB with those of others, so nobody can say what state they make. "
                "The state is as it was; nothing was sent. Send it again, through one gateway."
            )
        return b"".join(self._parts[name] for name in names)

    def ended(self, call: Call) -> None:
        """Forget the parts of an upload that S3 has completed."""
        for name in [each for each in self._parts if each[:3] == _part_name(call, "", "")[:3]]:
            self._forget(name)

    def _forget(self, name: tuple[str, ...]) -> None:
        self._kept -= len(self._parts.pop(name, b""))

    async def check(self, place: StatePlace, call: Call, content: bytes) -> Written:
        """What the state that is about to be written says of itself.

        Raises `errors.NotAllowed` if it does not go on from the state that is there, `errors.UpstreamUnavailable` if that cannot be read.
        """
        before = await self._current(place.object)
        whole = call.operation != "UploadPart"
        return await off_loop(len(content) + len(before), lambda: _checked(place, content, before, whole=whole))


def _part_name(call: Call, number: object, etag: str) -> tuple[str, ...]:
    upload = (str(call.parameters.get(name)) for name in ("Bucket", "Key", "UploadId"))
    return (*upload, str(number), etag.strip('"'))


def _checked(place: StatePlace, content: bytes, before: bytes, *, whole: bool) -> Written:
    written = _written(content) if whole else _begun(content)
    where = place.object.url
    if written is None:
        raise NotAllowed(
            f"What was to be written to {where} is no Terraform state of version {_VERSION} that says its serial and lineage. "
            "The state is as it was; nothing was sent."
        )
    there = _written(before) if before else None
    if before and there is None:
        raise NotAllowed(
            f"What is in {where} is no Terraform state of version {_VERSION}, so nothing goes on from it. Nothing was sent; a person looks "
            "at the object, past Sentinel."
        )
    if there is not None:
        _require_next(where, there, written)
    return written


def _require_next(where: str, there: Written, written: Written) -> None:
    """Raise `errors.NotAllowed` unless the written state goes on from the one that is there."""
    if written.lineage != there.lineage:
        raise NotAllowed(
            f"The state for {where} has the lineage {written.lineage[:60]!r}, and the one that is there {there.lineage[:60]!r}: it is the "
            "state of something else. The state is as it was; nothing was sent. Run `terraform init` and plan again."
        )
    if written.serial < there.serial or (written.serial == there.serial and written.digest != there.digest):
        raise NotAllowed(
            f"The state for {where} has the serial {written.serial}, and the one that is there {there.serial}: it is older, or somebody "
            "else wrote meanwhile. The state is as it was; nothing was sent. Plan again; a forced push is made past Sentinel."
        )


def _written(content: bytes) -> Written | None:
    """What a whole state says of itself; None if it is none."""
    try:
        document: Any = read_json(content)
    except JsonRefused:
        return None
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        return None
    serial, lineage = document.get("serial"), document.get("lineage")
    if type(serial) is not int or not isinstance(lineage, str) or not lineage:
        return None
    return Written(serial=serial, lineage=lineage, digest=hashlib.sha256(content).hexdigest())


def _begun(content: bytes) -> Written | None:
    """What the beginning of a state says of itself; None if it does not begin as Terraform writes it."""
    found = _HEAD.match(content)
    return Written(serial=int(found[1]), lineage=found[2].decode()) if found else None
