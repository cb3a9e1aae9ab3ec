"""The part of the composition root that is about the chat and about deliveries."""

from contextlib import AsyncExitStack

from gateway.cloud.slack_host import SlackAnswers
from gateway.doors.chat.links import ChatLinks
from gateway.doors.chat.slack_chat import SlackChat
from gateway.doors.deliveries import DeliveryBook
from gateway.settings_notices import receiver_names
from gateway.wiring import Ports


def slack_chat(ports: Ports, stack: AsyncExitStack) -> SlackChat:
    """The chat, which is closed with the stack before its connections and the ledger are."""
    settings = ports.settings.chat.slack
    host = SlackAnswers(settings.host)
    stack.push_async_callback(host.close)
    chat = SlackChat(
        settings=settings,
        public_url=ports.settings.server.public_url,
        links=ChatLinks(team=settings.team, ledger=ports.ledger, keys=ports.keys, clock=ports.clock),
        queries=ports.ledger,
        commands=ports.ledger,
        wakeups=ports.wakeups,
        host=host,
        clock=ports.clock,
    )
    stack.push_async_callback(chat.close)
    return chat


def delivery_book(ports: Ports) -> DeliveryBook:
    """What became of notices."""
    names = receiver_names(ports.settings.webhooks, ports.settings.chat)
    return DeliveryBook(receivers=names, ledger=ports.ledger, clock=ports.clock)
