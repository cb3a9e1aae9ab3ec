"""Keeps the open signals in memory by the texts that evidence names them with, so that a decision asks no database."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from gateway.core.model.motive import Motivation, Motive
from gateway.core.model.signal import MotiveProof, Signal, SignalScope, SignalState, reference
from gateway.core.ports import Clock, SignalLedger, SignalQuery
from gateway.core.settings.signals import FILES, SignalSourceSettings
from gateway.signals.files import SignalFiles
from gateway.signals.scopes import concerns

_MOST: Final = 10_000
_MOST_PROOFS: Final = 10
"""Signals that a claim keeps as its proof."""
_MOST_COMPARED: Final = 20_000
"""How often an address is held against the scopes of a signal in one decision."""
_NONE: Final = MotiveProof()


@dataclass(slots=True, kw_only=True)
class OpenSignals:
    """The signals that are open now, as the ledger was last read. The ledger checks a decision that relies on one again when it records it."""

    sources: Mapping[str, SignalSourceSettings]
    ledger: SignalLedger
    clock: Clock
    files: SignalFiles = field(default_factory=lambda: SignalFiles({}))
    checked: frozenset[Motivation] = frozenset()
    _open: Mapping[str, tuple[Signal, ...]] = field(default_factory=dict)
    """By reference."""
    _signals: Sequence[Signal] = ()
    _version: int = 0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.checked = frozenset(each for source in self.sources.values() for each in source.motivations)

    async def refresh(self) -> None:
        """Look for signals and files that changed, and close what has been open for too long. Raises `errors.LedgerUnavailable`."""
        if not self.sources:
            return
        async with self._turn:  # a slow read must not replace the result of a later one
            if self.files.sources:
                await asyncio.to_thread(self.files.refresh, self.clock.now())
            await self._read()
            now = self.clock.now()
            ended = [each.event(SignalState.CLOSED, now) for each in self._signals if self._has_ended(each, now)]
            if ended and await self.ledger.record_signals(ended, now):
                await self._read()

    async def _read(self) -> None:
        """Read the open signals, if any changed since the last time."""
        version = await self.ledger.signals_version()
        if version != self._version:
            self._signals = await self.ledger.signals(SignalQuery(state=SignalState.OPEN, limit=_MOST))
            self._open = _by_reference(self._signals)
            self._version = version

    def proof(self, motive: Motive | None, stacks: Mapping[str, str]) -> MotiveProof:
        """The proof that the evidence of a motive gives for these resources; `stacks` names the stack of each address, empty if none declares it."""
        if not self.checked:
            return _NONE
        if motive is None or motive.motivation not in self.checked or not motive.evidence:
            return MotiveProof(checked=self.checked)
        named = {each.id: each for each in self._named(motive.evidence) if self._supports(each, motive.motivation)}
        by_address = _proofs(named.values(), stacks)
        useful = {signal for proof in by_address.values() for signal in proof}
        signals = tuple(each for key, each in sorted(named.items()) if key in useful)
        return MotiveProof(checked=self.checked, signals=signals, by_address=by_address)

    def about(self, stack: str, address: str) -> Sequence[Signal]:
        """Open signals that concern a resource, the latest first, a few of them; those that only files tell of are not among them."""
        found = [each for each in self._signals[:_MOST_COMPARED] if concerns(each.scopes, stack, address)]
        return sorted(found, key=lambda each: each.since, reverse=True)[:_MOST_PROOFS]

    def _named(self, evidence: Iterable[str]) -> Iterable[Signal]:
        now = self.clock.now()
        for text in map(reference, evidence):
            yield from self.files.named(text, now)
            yield from self._open.get(text, ())

    def _supports(self, signal: Signal, motivation: Motivation) -> bool:
        source = self.sources.get(signal.source)
        return source is not None and motivation in source.motivations

    def _has_ended(self, signal: Signal, now: datetime) -> bool:
        """Whether a file does not tell of it any more, or its source has not closed it in all the time that it may last."""
        source = self.sources.get(signal.source)
        if source is None:
            return False
        if source.form in FILES:
            return not self.files.is_open(signal.id, now)
        return now - signal.since >= timedelta(hours=source.longest_hours)


def _proofs(named: Iterable[Signal], stacks: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """The signals that concern each address, a few of them. Signals of the same scopes, such as one alert of many hosts, are looked at once."""
    groups: dict[tuple[SignalScope, ...], list[str]] = {}
    for signal in named:
        groups.setdefault(signal.scopes, []).append(signal.id)
    # What exceeds the limit proves nothing: a call of many resources whose evidence names many signals must not take seconds.
    looked_at = list(groups.items())[: _MOST_COMPARED // max(1, len(stacks))]
    return {
        address: tuple(
            sorted(id_ for scopes, ids in looked_at if concerns(scopes, stack, address) for id_ in ids)[:_MOST_PROOFS]
        )
        for address, stack in stacks.items()
    }


def _by_reference(signals: Sequence[Signal]) -> Mapping[str, tuple[Signal, ...]]:
    found: dict[str, list[Signal]] = {}
    for signal in signals:
        for each in signal.references:
            found.setdefault(each, []).append(signal)
    return {each: tuple(named) for each, named in found.items()}
