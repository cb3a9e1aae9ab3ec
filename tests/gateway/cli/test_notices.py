"""`sentinel chat`, against a running gateway with a chat."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.kit.chat import USERS, Chat, chatting

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chat]:
    """One for the module."""
    with chatting(tmp_path_factory.mktemp("chat")) as made:
        yield made


def test_link_list_and_unlink(
    chat: Chat, speak_as: Callable[..., None], sentinel: Callable[..., Any], document: Callable[..., Any]
) -> None:
    speak_as(chat.gate, "human")
    said = sentinel("chat", "link", "UHUMAN")
    assert said.stdout.startswith("Type this in the chat, as the user UHUMAN, within ten minutes; then it is human.")
    USERS["human"] = "UHUMAN"
    command = said.stdout.splitlines()[-1]
    assert chat.say("human", command.removeprefix("/sentinel "))["text"].startswith("You are human now")
    listed = sentinel("chat", "links").stdout
    assert all(part in listed for part in ("UHUMAN", "alice", USERS["bob"]))
    code, reply = document("chat", "links")
    assert (code, len(reply["links"])) == (0, 3)
    assert document("chat", "link", "UHUMAN")[1]["actor"] == "human"
    assert sentinel("chat", "unlink", "UHUMAN").stdout == "UHUMAN is linked to nobody now; it was human.\n"
    code, refused = document("chat", "unlink", "UHUMAN")
    assert (code, refused["code"]) == (1, "not_found")


def test_another_persons_user_is_refused_in_a_sentence(
    chat: Chat, speak_as: Callable[..., None], sentinel: Callable[..., Any]
) -> None:
    speak_as(chat.gate, "human")
    done = sentinel("chat", "link", USERS["alice"])
    assert done.exit_code == 1
    assert "is linked to another person" in done.stderr
    speak_as(chat.gate, "chief")
    code = sentinel("chat", "unlink", USERS["alice"], "--json").exit_code
    assert code == 0


@pytest.mark.parametrize("wrong", ["me", "../keys", "U/1"])
def test_what_is_no_user_is_refused(
    chat: Chat, speak_as: Callable[..., None], document: Callable[..., Any], wrong: str
) -> None:
    speak_as(chat.gate, "human")
    assert document("chat", "link", wrong)[0] == 1
    assert document("chat", "unlink", wrong)[0] == 1
