"""Maps the labels of a signal to the resources that it concerns, by the settings of its source."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gateway.core.model.signal import SignalEvent, SignalScope
from gateway.core.settings.signals import ConcernSettings, SignalSourceSettings
from gateway.terraform.address import fits, split_stack

_LABEL: Final = re.compile(r"\{([^{}]+)\}")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.-]{1,200}")
"""A label's value that may stand in a name. No other may: `*` in a label would concern every resource."""


def mapped(event: SignalEvent, settings: SignalSourceSettings) -> SignalEvent:
    """The event with the service and the resources that it concerns."""
    scopes = [_scope(event.labels, rule) for rule in settings.concerns if _applies(event.labels, rule)]
    found = tuple(dict.fromkeys(scope for scope in scopes if scope is not None))
    return replace(event, scopes=found, service=event.service or event.labels.get(settings.service_label, ""))


def concerns(scopes: Sequence[SignalScope], stack: str, address: str) -> bool:
    """Whether one of the scopes covers a resource; `stack` is empty if no stack declares it."""
    here = split_stack(address)[1]
    return any(
        scope.stack in ("*", stack or "*") and any(fits(pattern, here) for pattern in scope.addresses)
        for scope in scopes
    )


def _applies(labels: Mapping[str, str], rule: ConcernSettings) -> bool:
    return all(name in labels and fits(pattern, labels[name]) for name, pattern in rule.labels.items())


def _scope(labels: Mapping[str, str], rule: ConcernSettings) -> SignalScope | None:
    """The scope, with labels in the place of their names; None if one is missing or is no plain name."""
    texts = [_filled(text, labels) for text in (rule.stack, *rule.addresses)]
    known = [text for text in texts if text is not None]
    return SignalScope(stack=known[0], addresses=tuple(known[1:])) if len(known) == len(texts) else None


def _filled(text: str, labels: Mapping[str, str]) -> str | None:
    wanted = _LABEL.findall(text)
    if not all(_PLAIN.fullmatch(labels.get(name, "")) for name in wanted):
        return None
    return _LABEL.sub(lambda found: labels[found[1]], text)
