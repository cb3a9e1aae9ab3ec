"""A `Signal`: something outside that is open or closed, such as an alert, which evidence refers to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gateway.core.model.ids import digest_id
from gateway.core.model.json import Json
from gateway.core.model.motive import Motivation, Motive

MOST_REFERENCES = 32
"""Names that one signal can be referred to by."""


class SignalState(StrEnum):
    """Whether what a signal is about still lasts."""

    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalScope:
    """Resources that a signal concerns."""

    stack: str
    """Name of their stack; `*` for every stack, and for resources that no stack declares."""
    addresses: tuple[str, ...] = ("*",)
    """Addresses, with `*`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalEvent:
    """What a source says about one signal."""

    source: str
    """Name of the source in the settings."""
    key: str
    """What the source calls it by; the same for as long as it exists."""
    name: str
    state: SignalState
    at: datetime
    """Since when the source says so. A later event of a signal counts, an earlier one changes nothing."""
    service: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    """Further names that evidence may refer to it by, such as its URL."""
    scopes: tuple[SignalScope, ...] = ()
    """What it concerns; empty if nothing in the settings says so."""

    @property
    def id(self) -> str:
        """`sig_…`, which follows from source and key."""
        return digest_id("sig", self.source, self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A signal as it stands."""

    id: str
    source: str
    key: str
    name: str
    state: SignalState
    at: datetime
    """Time of the latest event."""
    since: datetime
    """When it opened last; of one that was never seen open, when it closed."""
    heard_at: datetime
    """When the latest event was recorded."""
    service: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    references: tuple[str, ...] = ()
    scopes: tuple[SignalScope, ...] = ()
    filed: bool = False
    """Whether a file of this machine says so. Such a signal is recorded when a claim first needs it."""

    def event(self, state: SignalState, at: datetime) -> SignalEvent:
        """The event after which the signal is in this state."""
        return SignalEvent(
            source=self.source,
            key=self.key,
            name=self.name,
            state=state,
            at=at,
            service=self.service,
            labels=self.labels,
            references=self.references,
            scopes=self.scopes,
        )


def references_of(event: SignalEvent) -> tuple[str, ...]:
    """All names that evidence may refer to the signal by, in the form of `reference`."""
    own = (event.id, event.key, event.name, f"{event.source}:{event.key}", f"{event.source}:{event.name}")
    found = dict.fromkeys(reference(each) for each in (*own, *event.references))
    return tuple([each for each in found if each][:MOST_REFERENCES])


def reference(text: str) -> str:
    """A reference in the form in which two are compared: upper and lower case and surrounding space do not count."""
    return text.strip().casefold()


@dataclass(frozen=True, slots=True, kw_only=True)
class MotiveProof:
    """Which of the signals that the evidence of one mutation names are open and concern what it changes."""

    checked: frozenset[Motivation] = frozenset()
    """The motivations that need a signal, because a source of such signals is set. For the others the rule of the policies' data holds."""
    signals: tuple[Signal, ...] = ()
    by_address: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Address of each changed resource → ids of the signals that concern it."""

    def proves(self, motive: Motive | None, addresses: Iterable[str]) -> bool | None:
        """Whether a signal proves the motive for every one of these resources; None if the motivation is not checked."""
        if motive is None or motive.motivation not in self.checked:
            return None
        wanted = set(addresses)
        return bool(wanted) and all(self.by_address.get(address) for address in wanted)

    def of_claim(self, motive: Motive | None, proof: Sequence[str]) -> bool | None:
        """Whether a standing claim with this proof is proven; None if its motivation is not checked."""
        return None if motive is None or motive.motivation not in self.checked else bool(proof)


def scopes_to_json(scopes: Iterable[SignalScope]) -> list[Json]:
    """The JSON form in records and replies: a list of `{stack, addresses}`."""
    return [{"stack": each.stack, "addresses": list(each.addresses)} for each in scopes]
