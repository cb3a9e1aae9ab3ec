"""Reads signals from files on this machine: known vulnerabilities, change tickets, windows of time. Their owners keep the files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias

import structlog

from gateway.core.errors import Malformed, SettingsInvalid
from gateway.core.json_reader import read_json
from gateway.core.model.signal import Signal, SignalEvent, SignalState, references_of
from gateway.core.settings.signals import FILES, SignalForm, SignalSourceSettings
from gateway.signals.forms import osv, tickets
from gateway.signals.forms.fields import FiledSignal
from gateway.signals.scopes import mapped

log = structlog.get_logger()

MOST_BYTES: Final = 64 * 1024 * 1024
"""Of all files of one source together."""
_Told: TypeAlias = tuple[Signal, datetime | None]
"""A signal, and its end."""
_AGAIN: Final = timedelta(hours=12)
"""How soon a calendar is read again, because its occurrences are worked out for some days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The content of the files of one source when they were last read."""

    seen: tuple[tuple[str, int, int], ...]
    read_at: datetime
    by_id: Mapping[str, _Told]
    by_reference: Mapping[str, Sequence[_Told]]


@dataclass(slots=True)
class SignalFiles:
    """The sources that are files. If a file cannot be read any more, its last content stays in force."""

    sources: Mapping[str, SignalSourceSettings]
    problems: tuple[str, ...] = ()
    """The files that cannot be read, each in a sentence."""
    _known: dict[str, _Content] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.sources = {name: source for name, source in self.sources.items() if source.form in FILES}

    def open_at_start(self, now: datetime) -> None:
        """Read every file. Raises `errors.SettingsInvalid` if one cannot be read: without it no evidence would be proof."""
        self.refresh(now)
        if self.problems:
            raise SettingsInvalid(" ".join(self.problems))

    def refresh(self, now: datetime) -> None:
        """Read the files that changed."""
        problems: list[str] = []
        for source in self.sources.values():
            try:
                self._refresh(source, now)
            except (OSError, ValueError, RecursionError, Malformed) as error:
                problems.append(f"The file {source.path} of the source {source.name} cannot be read: {error}")
        if tuple(problems) != self.problems:
            self.problems = tuple(problems)
            for problem in problems:
                log.error("signal_file_broken_last_good_version_in_force", problem=problem)

    def named(self, text: str, now: datetime) -> Sequence[Signal]:
        """The signals that evidence of this form (`model.signal.reference`) names and that are open now."""
        found = [each for content in self._known.values() for each in content.by_reference.get(text, ())]
        return [signal for signal, until in found if _lasts(signal, until, now)]

    def is_open(self, signal: str, now: datetime) -> bool:
        """Whether a file says that the signal with this id is open now."""
        found = [content.by_id[signal] for content in self._known.values() if signal in content.by_id]
        return any(_lasts(told, until, now) for told, until in found)

    def _refresh(self, source: SignalSourceSettings, now: datetime) -> None:
        paths = _paths(source)
        seen = tuple((str(path), (found := path.stat()).st_mtime_ns, found.st_size) for path in paths)
        known = self._known.get(source.name)
        stale = source.form is SignalForm.CALENDAR and known is not None and now - known.read_at >= _AGAIN
        if known is not None and known.seen == seen and not stale:
            return
        if sum(size for _, _, size in seen) > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES} bytes")
        told = [_signal(source, each, now) for path in paths for each in _read(source, path, now)]
        by_reference: dict[str, list[_Told]] = {}
        for each in told:
            for text in each[0].references:
                by_reference.setdefault(text, []).append(each)
        by_id = {each[0].id: each for each in told}
        self._known[source.name] = _Content(seen=seen, read_at=now, by_id=by_id, by_reference=by_reference)


def _lasts(signal: Signal, until: datetime | None, now: datetime) -> bool:
    return signal.since <= now and (until is None or now < until)


def _paths(source: SignalSourceSettings) -> list[Path]:
    """The files of a source: its path, or those in it if it is a directory."""
    path = source.path or Path()
    return sorted(path.glob("*.json")) if source.form is SignalForm.OSV and path.is_dir() else [path]


def _read(source: SignalSourceSettings, path: Path, now: datetime) -> Iterable[FiledSignal]:
    content = path.read_bytes()
    if source.form is SignalForm.CALENDAR:
        # Its library takes a tenth of a second to import, which no other gateway waits for.
        from gateway.signals.forms import calendar  # noqa: PLC0415

        return list(calendar.read(content, now))
    document = read_json(content)
    return list(osv.read(document) if source.form is SignalForm.OSV else tickets.read(document))


def _signal(source: SignalSourceSettings, told: FiledSignal, now: datetime) -> _Told:
    event = mapped(
        SignalEvent(
            source=source.name,
            key=told.key,
            name=told.name,
            state=SignalState.OPEN,
            at=told.since,
            labels=told.labels,
            references=told.references,
        ),
        source,
    )
    signal = Signal(
        id=event.id,
        source=event.source,
        key=event.key,
        name=event.name,
        state=SignalState.OPEN,
        at=event.at,
        since=event.at,
        heard_at=now,
        service=event.service,
        labels=event.labels,
        references=references_of(event),
        scopes=event.scopes,
        filed=True,
    )
    return signal, told.until
