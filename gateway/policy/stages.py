"""Records changes of the stages of rules (`policies/data/stages.json`): who takes a rule back to a trial, or out, must be found later."""

import asyncio
import json
import os
import pwd
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import structlog

from gateway.core.model.ids import new_id
from gateway.core.ports import Clock, EventLedger, LedgerQueries, RecordQuery
from gateway.core.records.codec import bodies_of
from gateway.core.records.policies import PolicyStagedBody
from gateway.core.records.record import Record, Stage
from gateway.policy.bundle import Bundle, RunningEngine

FILE: Final = "data/stages.json"
UNKNOWN: Final = "unknown"
_SECONDS: Final = 10
_LONGEST: Final = 200

log = structlog.get_logger()


def stage_entries(bundle: Bundle) -> tuple[Mapping[str, Any], ...]:
    """The entries in the bundle's data; none where policies have no stages, so that every rule is enforced."""
    return tuple(json.loads(bundle.data)["data"].get("stages", {}).get("entries", ()))


@dataclass(slots=True, kw_only=True)
class StageBook:
    """Compares the stages in force with those that were recorded last."""

    engine: RunningEngine
    events: EventLedger
    queries: LedgerQueries
    clock: Clock
    policies: Path
    """The sources, whose history names the author."""
    _looked_at: str = ""

    async def look(self) -> None:
        """Append POLICY_STAGED if the stages in force are others than the recorded ones. Raises `errors.LedgerUnavailable`."""
        bundle = self.engine.bundle
        if bundle.revision == self._looked_at:
            return
        found = await self.queries.records(RecordQuery(stage=Stage.POLICY_STAGED, limit=1))
        before: Sequence[Mapping[str, Any]] = next((body.entries for body in bodies_of(found, PolicyStagedBody)), ())
        entries = stage_entries(bundle)
        if [*entries] != [*before]:
            actor = await asyncio.to_thread(author_of, self.policies)
            body = PolicyStagedBody(revision=bundle.revision, entries=entries, before=tuple(before))
            record = Record(at=self.clock.now(), mutation_id=new_id("pol"), actor=actor, body=body)
            await self.events.record_event(record)
            log.warning("policy_staged", by=actor, revision=bundle.revision, entries=len(entries))
        self._looked_at = bundle.revision


def author_of(policies: Path) -> str:
    """Who changed the stages last: the author of the commit, or of a file that is not committed as it is, its owner on this machine."""
    if git_output(policies, "status", "--porcelain", "--", FILE) == "" and (
        named := git_output(policies, "log", "-1", "--format=%an <%ae>", "--", FILE)
    ):
        return "".join(each if each.isprintable() else "?" for each in named[:_LONGEST])
    try:
        return pwd.getpwuid((policies / FILE).stat().st_uid).pw_name
    except (OSError, KeyError):
        return UNKNOWN


def git_output(directory: Path, *arguments: str) -> str | None:
    """What git prints; None if there is no git, or no repository."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    try:
        done = subprocess.run(
            ["git", "-C", str(directory), *arguments],  # noqa: S607  found on PATH, as opa is
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
