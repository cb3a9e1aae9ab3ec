"""A motive in headers counts only if the signature covers them."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.aws.door.decoder import motive_of_head
from gateway.aws.door.request_head import head_of
from gateway.core.errors import Malformed
from gateway.core.model.motive import Intent

BOTH = {"x-sentinel-intent": "cost", "x-sentinel-motivation": "budget"}


def test_signed_headers_state_a_motive(wire: Any) -> None:
    motive = motive_of_head(head_of(wire.inbound("sqs", headers=BOTH)))
    assert motive is not None
    assert motive.intent is Intent.COST


def test_no_headers_state_none(wire: Any) -> None:
    assert motive_of_head(head_of(wire.inbound("sqs"))) is None


BAD: dict[str, dict[str, Any]] = {
    "no motivation": {"headers": {"x-sentinel-intent": "cost"}},
    "no intent": {"headers": {"x-sentinel-motivation": "budget"}},
    "a slip of the pen": {"headers": {**BOTH, "x-sentinel-motive": "x"}},
    "a bad word": {"headers": {**BOTH, "x-sentinel-intent": "speed"}},
}


@pytest.mark.parametrize("given", BAD.values(), ids=BAD.keys())
def test_a_motive_that_is_not_whole_and_signed_is_refused(wire: Any, given: dict[str, Any]) -> None:
    with pytest.raises(Malformed) as refused:
        motive_of_head(head_of(wire.inbound("sqs", **given)))
    assert refused.value.code == "motive"


@pytest.mark.parametrize("name", BOTH)
def test_a_header_that_the_signature_does_not_cover_states_nothing(wire: Any, name: str) -> None:
    head = head_of(wire.inbound("sqs", headers=BOTH))
    with pytest.raises(Malformed, match=name):
        motive_of_head(replace(head, signed=head.signed - {name}))
