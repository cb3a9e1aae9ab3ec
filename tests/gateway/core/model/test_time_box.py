"""The recorded call is the call."""

from gateway.core.model.mutation import Call
from gateway.core.model.time_box import OPEN, TO_HUMAN, TimeBoxState
from gateway.core.records.time_boxes import RecordedPutBack


def test_a_call_comes_back_from_its_record() -> None:
    call = Call(service="sqs", operation="TagQueue", parameters={"Tags": {"a": "b"}}, account="1", region="r")
    assert RecordedPutBack.of(call).to_call() == call


def test_a_state_is_open_or_left_to_a_human_or_over() -> None:
    assert not OPEN & TO_HUMAN
    over = set(TimeBoxState) - OPEN - TO_HUMAN
    assert over == {
        TimeBoxState.PUT_BACK,
        TimeBoxState.FAILED,
        TimeBoxState.SUPERSEDED,
        TimeBoxState.STILL_WANTED,
    }
