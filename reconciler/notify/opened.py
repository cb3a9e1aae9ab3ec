"""The receivers of the settings, each with its own worker."""

from collections.abc import Mapping

from gateway.core.ports import Clock
from gateway.core.settings import Settings
from reconciler.notify.delivering import Delivering, NoticeLedger
from reconciler.notify.receivers import Receiver, WebhookReceiver
from reconciler.notify.slack_receiver import SlackReceiver

_CARD_RETRIES = (5.0, 60.0, 600.0, 3600.0)
"""A card is of little use much later."""


def open_receivers(settings: Settings, ledger: NoticeLedger, clock: Clock) -> Mapping[str, Delivering]:
    """The workers by name; none if no webhook and no chat is set."""
    receivers: list[Receiver] = [WebhookReceiver(settings=each) for each in settings.webhooks]
    slack = settings.chat.slack
    if slack.posts:
        receivers.append(SlackReceiver(settings=slack, public_url=settings.server.public_url, schedule=_CARD_RETRIES))
    return {each.name: Delivering(receiver=each, ledger=ledger, clock=clock) for each in receivers}
