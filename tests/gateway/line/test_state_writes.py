"""A state is written only if it goes on from the one that is there."""

import json
from typing import Any

import pytest

from gateway.core.errors import NotAllowed, UpstreamUnavailable
from gateway.core.model.mutation import Call
from gateway.line.ground_truth import GroundTruth
from gateway.line.state_writes import StateWrites
from gateway.terraform.config.backend import StateObject, StatePlace

PLACE = StatePlace(stack="shop", bucket="states", key="shop.tfstate", region="us-east-1")
PUT = Call(service="s3", operation="PutObject", parameters={"Bucket": "states", "Key": "shop.tfstate"})


def document(**changed: Any) -> bytes:
    return json.dumps({"version": 4, "serial": 3, "lineage": "a", "resources": []} | changed).encode()


def writes(there: bytes | Exception, ground: GroundTruth | None = None) -> StateWrites:
    async def current(wanted: StateObject) -> bytes:
        assert wanted == PLACE.object
        if isinstance(there, Exception):
            raise there
        return there

    return StateWrites(ground or GroundTruth(), current)


@pytest.mark.parametrize(
    ("there", "written"),
    [
        (b"", document(serial=1)),
        (document(), document(serial=4)),
        (document(), document(serial=9, resources=[{}])),
        (document(), document()),
    ],
)
async def test_the_next_state_is_taken(there: bytes, written: bytes) -> None:
    found = await writes(there).check(PLACE, PUT, written)
    assert str(found) == f"serial={json.loads(written)['serial']} lineage=a"


@pytest.mark.parametrize(
    ("there", "written", "why"),
    [
        (document(), document(serial=2), "serial 2, and the one that is there 3"),
        (document(), document(outputs={"a": 1}), "somebody else wrote meanwhile"),
        (document(), document(serial=4, lineage="b"), "state of something else"),
        (document(), document(serial=4, lineage=""), "no Terraform state"),
        (document(), document(serial=True), "no Terraform state"),
        (document(), document(serial="4"), "no Terraform state"),
        (document(), document(version=3), "no Terraform state"),
        (document(), b"[]", "no Terraform state"),
        (document(), b"", "no Terraform state"),
        (b"", b"nothing", "no Terraform state"),
        (b"not a state", document(), "nothing goes on from it"),
    ],
)
async def test_any_other_is_refused_with_the_reason(there: bytes, written: bytes, why: str) -> None:
    with pytest.raises(NotAllowed, match=why):
        await writes(there).check(PLACE, PUT, written)


async def test_nothing_is_written_over_what_cannot_be_read() -> None:
    with pytest.raises(UpstreamUnavailable):
        await writes(UpstreamUnavailable("S3 does not answer.")).check(PLACE, PUT, document())
