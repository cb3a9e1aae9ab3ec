"""A body of which only a part is decoded."""

import msgspec
import pytest

from gateway.core.records.codec import encode
from gateway.core.records.record import Stage
from gateway.core.records.settled import SettledBody
from gateway.ledger.chain.derive.narrowed import FOLLOWED, narrowed
from tests.kit.bodies import sample_body


def test_a_part_has_only_the_members_that_were_named() -> None:
    kind = narrowed(SettledBody, "outcome", "made")
    assert kind.__struct_fields__ == ("outcome", "made")
    with pytest.raises(KeyError):
        narrowed(SettledBody, "result")
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode("{}", type=kind)


def test_a_body_is_followed_with_the_values_as_they_stand() -> None:
    body = sample_body(Stage.DECIDED, {"effects": [{"address": "a", "value": {"n": 1.50}}]})
    found = msgspec.json.decode(encode(body), type=FOLLOWED[Stage.DECIDED])
    assert bytes(found.effects[0].value) == b'{"n":1.5}'
    assert not hasattr(found.decision, "findings")
