"""What a caller in doubt is told promises only what happens."""

from gateway.doors.in_doubt import in_doubt_text
from gateway.model.caller import ActorKind, Caller
from gateway.model.mutation import Call, CallClass, Mutation
from gateway.model.outcome import InDoubt

MUTATION = Mutation(
    id="mut_1",
    caller=Caller(actor="agent", kind=ActorKind.AGENT, key_id="SNTL0"),
    call=Call(service="sqs", operation="PurgeQueue"),
    call_class=CallClass.MUTATION,
    motive=None,
    effects=(),
)


def test_in_doubt_it_names_who_settles_it_and_how() -> None:
    text = in_doubt_text(MUTATION, InDoubt(reason="No answer came."))
    assert "No answer came." in text
    assert "not sent again" in text
    assert "sentinel settle mut_1" in text
    assert "if one runs" in text


def test_what_is_settled_waits_for_nothing() -> None:
    text = in_doubt_text(MUTATION, InDoubt(reason="It was applied.", settled=True))
    assert text == "sqs:PurgeQueue (mutation mut_1) is not sent again. It was applied."
