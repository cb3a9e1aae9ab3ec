"""Answers to the chat."""

import pytest

from gateway.doors.chat.slack_chat import ChatUnusable, SlackAnswers
from tests.kit.hook import HookStub, receiving

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


async def test_an_answer_goes_to_the_host_of_the_settings() -> None:
    with receiving(HookStub()) as stub:
        answers = SlackAnswers(f"http://127.0.0.1:{stub.port}/")
        await answers.answer("/actions/1?x=y", {"text": "Done"})
        [received] = stub.received
        assert (received.path, received.document) == ("/actions/1?x=y", {"text": "Done"})


@pytest.mark.parametrize("behaviour", ["500", "307 Location: http://127.0.0.1:9/", "garbage", "drop"])
async def test_what_was_not_taken_is_a_sentence_without_the_path(behaviour: str) -> None:
    with receiving(HookStub(behaviour=behaviour)) as stub:
        answers = SlackAnswers(f"http://127.0.0.1:{stub.port}")
        with pytest.raises(ChatUnusable) as refused:
            await answers.answer("/secret-path", {})
        assert "secret-path" not in str(refused.value)
        assert len(stub.received) == 1


async def test_an_answer_without_an_end_is_not_waited_for() -> None:
    with receiving(HookStub(behaviour="endless")) as stub:
        answers = SlackAnswers(f"http://127.0.0.1:{stub.port}")
        await answers.answer("/x", {})
        assert stub.ended.wait(300)
