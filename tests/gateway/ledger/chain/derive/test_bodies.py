"""Bodies of every age can be read: what is missing has a default, and what is unknown is skipped."""

import msgspec
import pytest

from gateway.core.records.record import Stage
from gateway.ledger.chain.derive.bodies import BODIES, KeyIssuedBody, raw_text, text_or_none


@pytest.mark.parametrize("stage", BODIES)
@pytest.mark.parametrize("text", ["{}", '{"strange":[1,{"x":null}]}'])
def test_members_can_be_missing_or_unknown(stage: str, text: str) -> None:
    assert msgspec.json.decode(text, type=BODIES[stage]) == BODIES[stage]()


def test_only_what_was_not_decided_changes_no_table() -> None:
    from_outside = {Stage.DRIFTED, Stage.DRIFT_DECIDED, Stage.DRIFT_SETTLED}
    assert set(Stage) - set(BODIES) == {
        Stage.TURNED_AWAY,
        Stage.PASSED,
        Stage.PROPOSED,
        Stage.PLAN_CHECKED,
        Stage.NOTIFIED,
        Stage.RESEND_ASKED,
        Stage.CHAT_LINKED,
        Stage.CHAT_LINK_ASKED,
        *from_outside,
    }


@pytest.mark.parametrize("text", ["null", '{"a":"ü","b":1.0}', '""', "[]"])
def test_a_member_keeps_its_text(text: str) -> None:
    body = msgspec.json.decode(f'{{"motive":{text}}}', type=KeyIssuedBody)
    assert raw_text(body.motive) == text
    assert text_or_none(body.motive) == (None if text == "null" else text)
