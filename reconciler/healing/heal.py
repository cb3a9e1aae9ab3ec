"""Carries out one healing: the saved plan, the decision and the log of the apply are kept together, and the result is looked at again.

The apply runs with the reconciler's own key through the gateway, so each of its calls is an ordinary mutation: decided, recorded, sent
once. The reconciler holds no right to write to AWS.
"""

import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gateway.drift_book import DriftOutcome, ForeignDrift
from gateway.model.json import Json
from reconciler.errors import TerraformFailed
from reconciler.healing.classify import HealAction, HealChoice, choose
from reconciler.terraform.cli import SavedPlan, Terraform

_LOCK_SECONDS: Final = 120
_LAST: Final = 2_000
"""Characters of terraform's output that a record keeps."""
_STARTED = "applying"


@dataclass(frozen=True, slots=True, kw_only=True)
class Healer:
    """Heals the drift of one stack."""

    terraform: Terraform
    state: Path | None
    open_root: Callable[[], Awaitable[Path]]
    """Checks out the protected code; the directory of its root module."""
    directory: Path
    """Where plan, decision and log of each healing are kept."""
    replaceable: Sequence[str] = ()
    """Addresses, with `*`, that may be replaced."""

    async def heal(self, drift: ForeignDrift) -> dict[str, Json]:
        """Set the declared value again; the outcome as members of a DRIFT_SETTLED record.

        May be repeated after a kill: what was applied is then seen by the plan. Raises `errors.TerraformFailed`, `errors.GitFailed` and
        their like for what may be temporary; nothing was applied then.
        """
        root = await self.open_root()
        place = self.directory / f"{drift.id}.{drift.decision}"
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        saved = await self.terraform.saved_plan(root, state=self.state, targets=[drift.address])
        document = await self.terraform.plan_document(root, saved.file)
        choice = choose(document, drift, state_changes=saved.changes, replaceable=self.replaceable)
        kept = place / "plan"
        if choice.action is HealAction.NOOP and (place / _STARTED).exists():
            saved.file.unlink(missing_ok=True)  # the plan that a killed run applied is there already
        else:
            saved.file.replace(kept)
            _keep(place / "plan.json", _redacted(document))
            _keep(place / "decision.json", _decision(drift, choice))
        if choice.refused or choice.action is HealAction.NOOP:
            return self._without_apply(drift, choice, place)
        return await self._apply(root, drift, choice, SavedPlan(file=kept, changes=saved.changes), place)

    def _without_apply(self, drift: ForeignDrift, choice: HealChoice, place: Path) -> dict[str, Json]:
        if choice.refused:
            return self._body(DriftOutcome.FAILED, drift, choice, place, reason=choice.reason)
        done = (place / _STARTED).exists()
        outcome = DriftOutcome.REVERTED if done else DriftOutcome.GONE
        return self._body(outcome, drift, choice, place, reason="It was applied before." if done else choice.reason)

    async def _apply(
        self, root: Path, drift: ForeignDrift, choice: HealChoice, saved: SavedPlan, place: Path
    ) -> dict[str, Json]:
        _keep(place / _STARTED, {"action": choice.action.value})
        done = await self.terraform.apply_and_log(root, saved.file, state=self.state, lock_seconds=_LOCK_SECONDS)
        output = done.out.decode(errors="replace") + done.err
        _write(place / "apply.log", output.encode())
        if done.code:
            return self._body(
                DriftOutcome.FAILED, drift, choice, place, reason=f"terraform apply failed: {output.strip()[-_LAST:]}"
            )
        try:
            again = await self.terraform.plan(root, state=self.state, targets=[drift.address])
        except TerraformFailed as error:
            return self._body(
                DriftOutcome.FAILED, drift, choice, place, reason=f"It was applied, and could not be looked at: {error}"
            )
        if again is not None:
            again.unlink(missing_ok=True)
            return self._body(
                DriftOutcome.FAILED,
                drift,
                choice,
                place,
                reason="It was applied, and the plan is not clean all the same.",
            )
        outcome = DriftOutcome.GONE if choice.action is HealAction.REFRESH_STATE else DriftOutcome.REVERTED
        return self._body(outcome, drift, choice, place, reason=choice.reason)

    def _body(
        self, outcome: DriftOutcome, drift: ForeignDrift, choice: HealChoice, place: Path, *, reason: str
    ) -> dict[str, Json]:
        digests: dict[str, Json] = {
            name: hashlib.sha256((place / name).read_bytes()).hexdigest()
            for name in ("plan", "plan.json", "decision.json", "apply.log")
            if (place / name).exists()
        }
        return {
            "outcome": outcome.value,
            "address": drift.address,
            "attribute": drift.attribute,
            "reason": reason,
            "healing": {"action": choice.action.value, "directory": str(place), "sha256": digests},
        }


def _redacted(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the plan changes, without any value: plan files hold secrets."""
    return {
        "terraform_version": document.get("terraform_version"),
        "resource_changes": [
            {"address": entry["address"], "actions": entry["change"]["actions"], "changed": _changed(entry["change"])}
            for entry in document.get("resource_changes") or []
        ],
    }


def _changed(change: Mapping[str, Any]) -> list[str]:
    before, after = change.get("before") or {}, change.get("after") or {}
    return [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]


def _decision(drift: ForeignDrift, choice: HealChoice) -> dict[str, Any]:
    return {
        "drift": drift.id,
        "address": drift.address,
        "attribute": drift.attribute,
        "decided": drift.action.value if drift.action else "",
        "rule": drift.rule,
        "decided_by": drift.decided_by or "policy",
        "action": choice.action.value,
        "refused": choice.refused,
        "reason": choice.reason,
    }


def _keep(path: Path, document: Mapping[str, Any]) -> None:
    _write(path, json.dumps(document, indent=2, sort_keys=True).encode())


def _write(path: Path, content: bytes) -> None:
    """Write a file that only we may read; it is on disk when this returns."""
    path.touch(mode=0o600)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
