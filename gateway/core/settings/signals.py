"""Settings of the sources of signals: how a source proves itself, and which resources its signals concern."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import Field, SecretStr, model_validator

from gateway.core.model.motive import Motivation
from gateway.core.settings.table import SettingsTable

SHORTEST_SECRET: Final = 16
"""Characters. A shorter secret could be guessed."""
_TOPIC: Final = re.compile(r"arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+)+-\d):(\d{12}):[A-Za-z0-9_.-]{1,256}")


class SignalForm(StrEnum):
    """What a source sends, and how it proves that it is the source."""

    ALERTMANAGER = "alertmanager"
    STANDARD = "standard-webhooks"
    SNS = "sns"
    """Alarms of CloudWatch on a topic of SNS."""
    EVENTBRIDGE = "eventbridge"
    PAGERDUTY = "pagerduty"
    DATADOG = "datadog"
    OSV = "osv"
    """Known vulnerabilities, in a file."""
    TICKETS = "tickets"
    """Change tickets, in a file."""
    CALENDAR = "calendar"
    """Windows of time, in a file of the form iCalendar."""


FILES: Final = frozenset({SignalForm.OSV, SignalForm.TICKETS, SignalForm.CALENDAR})
"""The forms that are read from a file of this machine."""
_PROVES: Final[Mapping[SignalForm, tuple[Motivation, ...]]] = {
    SignalForm.OSV: (Motivation.VULNERABILITY,),
    SignalForm.TICKETS: (Motivation.LAUNCH, Motivation.SCHEDULE),
    SignalForm.CALENDAR: (Motivation.LAUNCH, Motivation.SCHEDULE),
}
"""The motivations that the signals of a form prove, where it is not an incident."""


class ConcernSettings(SettingsTable):
    """Which resources the signals with certain labels concern."""

    labels: Mapping[str, str] = {}
    """Labels that the signal must have, each with its value, which may hold `*`. Without any, every signal of the source."""
    stack: Annotated[str, Field(min_length=1, max_length=200)]
    """Name of the stack; `*` for every stack. `{label}` stands for the value of that label."""
    addresses: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=500)], ...], Field(min_length=1)] = ("*",)
    """Addresses of resources in the stack, with `*` and `{label}`."""


class SignalSourceSettings(SettingsTable):
    """One source of signals. It sends them to `/v1/signals/NAME`, or its owner keeps them in a file."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """The name of the source, which is part of the URL that it posts to."""
    form: SignalForm
    """The form of what the source says."""
    secret: SecretStr = SecretStr("")
    """What the source proves itself with: the password or bearer token that it sends, or the key that it signs with."""
    secret_file: Path | None = None
    """File that holds the secret instead, read at each use; each line is one, so that it can be rotated."""
    secret_env: Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_]*)?$")] = ""
    """Name of the environment variable that holds it instead."""
    topics: tuple[str, ...] = ()
    """With `sns`: ARNs of the topics whose messages are taken."""
    certificate: Path | None = None
    """With `sns`: file of the certificate that SNS signs with, if the gateway cannot fetch it."""
    path: Path | None = None
    """With `osv`, `tickets` and `calendar`: the file, or with `osv` a directory of files. It is read again when it changes."""
    concerns: tuple[ConcernSettings, ...] = ()
    """Which resources its signals concern. A signal that none fits is kept, and proves nothing."""
    proves: tuple[Motivation, ...] = ()
    """Motivations that its signals prove. Default: `vulnerability` with `osv`, `launch` and `schedule` with `tickets` and `calendar`, else `incident`."""
    service_label: str = "service"
    """Label that says which service a signal is about."""
    longest_hours: Annotated[float, Field(gt=0, le=24 * 366)] = 168.0
    """A signal that stayed open for this long is closed: what lasts for weeks is no incident any more, or its end was lost."""

    @property
    def motivations(self) -> tuple[Motivation, ...]:
        """The motivations that its signals prove."""
        return self.proves or _PROVES.get(self.form, (Motivation.INCIDENT,))

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.form in FILES:
            if self.path is None:
                raise ValueError(f"A source of the form `{self.form.value}` needs `path`.")
            return self
        if self.form is SignalForm.SNS:
            if not self.topics or not all(_TOPIC.fullmatch(topic) for topic in self.topics):
                raise ValueError("A source of the form `sns` needs `topics`, the ARNs of topics of SNS.")
            return self
        ways = [bool(self.secret.get_secret_value()), self.secret_file is not None, bool(self.secret_env)]
        if sum(ways) != 1:
            raise ValueError("Set one of `secret`, `secret_file` and `secret_env`: what the source proves itself with.")
        if ways[0] and len(self.secret.get_secret_value()) < SHORTEST_SECRET:
            raise ValueError(f"`secret` needs at least {SHORTEST_SECRET} characters.")
        return self


def topic_region(topic: str) -> str:
    """The region of a topic's ARN; empty if it is no ARN of a topic."""
    found = _TOPIC.fullmatch(topic)
    return found[2] if found else ""


def distinct(sources: Sequence[SignalSourceSettings]) -> Sequence[SignalSourceSettings]:
    """The sources. Raises ValueError if two have the same name."""
    names = [source.name for source in sources]
    if len(set(names)) != len(names):
        raise ValueError("Two sources of signals have the same name.")
    return sources


def check_stacks(sources: Sequence[SignalSourceSettings], stacks: Sequence[str]) -> None:
    """Raise ValueError if a signal is to concern a stack that is not in the settings: it would prove nothing, and nobody would notice."""
    for source in sources:
        for rule in source.concerns:
            if rule.stack != "*" and "{" not in rule.stack and rule.stack not in stacks:
                raise ValueError(
                    f"signals: {source.name}: There is no stack {rule.stack!r}. Those of the settings are: {', '.join(stacks) or 'none'}."
                )


def evidence_rule(sources: Sequence[SignalSourceSettings]) -> str:
    """How the evidence of motives is checked, as a sentence for `sentinel config`."""
    checked = sorted({motivation.value for source in sources for motivation in source.motivations})
    if not checked:
        return (
            "Evidence is not checked: no source of signals is set ([[signals]]), so the texts that `proof` in policies/data/priorities.json "
            "accepts count as proof, whether or not there is such an alert."
        )
    names = ", ".join(source.name for source in sources)
    return (
        f"Evidence is checked for {', '.join(checked)}: it proves the motive only if it names an open signal of {names} that concerns the "
        "resource. For the other motivations the texts that `proof` in policies/data/priorities.json accepts count as proof."
    )
