"""Tries edited rules, data and contracts on one change and on those of last week. Nothing of it comes into force, and nothing is recorded."""

import asyncio
import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from gateway.core.errors import CodeInvalid, Malformed, NotAllowed, NotFound, PolicyInvalid
from gateway.core.model.caller import Caller
from gateway.core.model.verdict import Verdict
from gateway.core.pace import Pace
from gateway.core.records.decided import DecidedBody
from gateway.core.records.record import Record
from gateway.policy.bundle import GET_OPA, Bundle, build, has_rules_of, with_data_of
from gateway.policy.not_replayed import SENTENCES, NotReplayed
from gateway.policy.opa_command import find_opa, opa_within
from gateway.policy.replay import HISTORY, Objection, Replayed, ReplayRange, objection_to_json
from gateway.policy.replay_report import ReplayReport
from gateway.policy.replays import Replays
from gateway.policy.sources import Sources, read_sources
from gateway.terraform.origins import CodeEdit
from gateway.terraform.repository import find_checkout

LARGEST_FILE: Final = 256 * 1024
"""Characters of an edited file."""
MOST_FILES: Final = 20
"""Edited files of the policies."""
MOST_REPLAYED: Final = 2_000
"""Decisions that one trial replays, the newest: two or three seconds' work."""
TRIALS: Final = 20
"""So many trials has each caller in a minute: one may compile policies, which takes seconds."""
_OPA_SECONDS: Final = 60.0
_KEPT: Final = 2
_NAME = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9_-]*/)*[A-Za-z0-9][A-Za-z0-9_.-]*\.(?:rego|json)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Edits:
    """What is edited."""

    policies: Mapping[str, str] = field(default_factory=dict)
    """Texts of rules and data by their path in the policies' directory."""
    contracts: CodeEdit | None = None
    """None to keep what contracts said then."""

    def __bool__(self) -> bool:
        return bool(self.policies) or self.contracts is not None


@dataclass(slots=True, kw_only=True)
class Playground:
    """Tries edits, one at a time in the whole gateway, in the threads and engines of replays."""

    replays: Replays
    policies: Path
    """The directory of the policies."""
    pace: Pace
    _built: dict[str, Bundle] = field(default_factory=dict)
    """The latest edited bundles, by the digests of their sources."""

    async def files(self, caller: Caller) -> dict[str, Any]:
        """The files that can be edited: rules and data, and the contracts of each stack. Raises `errors.NotAllowed`, `errors.PolicyInvalid`."""
        _require_reader(caller)
        return await asyncio.to_thread(self._files)

    def _files(self) -> dict[str, Any]:
        sources = read_sources(self.policies)
        stacks = self.replays.stacks.snapshot()
        return {
            "policies": sorted(sources.files),
            "contracts": {each.name: sorted(stacks.contracts_of(each.name)) for each in stacks.all},
            "compiles": find_opa() is not None,
            "in_force": self.replays.running.bundle.built_from(sources),
        }

    async def text(self, caller: Caller, *, path: str, stack: str = "") -> str:
        """The text of a file of the policies, or of a contract of a stack. Raises `errors.NotAllowed`, `errors.NotFound`."""
        _require_reader(caller)
        return await asyncio.to_thread(self._text, path, stack)

    def _text(self, path: str, stack: str) -> str:
        if stack:
            found = self.replays.stacks.snapshot().contracts_of(stack).get(path)
        else:
            content = read_sources(self.policies).files.get(path)
            found = None if content is None else content.decode(errors="replace")
        if found is None:
            raise NotFound(
                f"There is no {path[:200]!r} {f'in the stack {stack[:100]}' if stack else 'in the policies'}."
            )
        return found

    async def trial(
        self, caller: Caller, edits: Edits, *, record: Record | None, since: datetime | None
    ) -> dict[str, Any]:
        """What the edits make of the decision in `record`, and of those since a time if one is given, as JSON.

        Raises `errors.NotAllowed` for agents and services, `errors.TryLater` while another trial or replay runs or after too many of the
        caller, and `errors.Malformed` for edits that cannot be compiled, read or asked.
        """
        _require_reader(caller)
        self.pace.charge(caller.actor)
        try:
            async with self.replays.alone():
                engine = await asyncio.to_thread(self.replays.engine_of, await asyncio.to_thread(self._bundle, edits))
                judge = await asyncio.to_thread(self.replays.judge_of, edits.contracts)
                tried = None if record is None else await self.replays.one(record, engine, judge)
                report = None
                if since is not None:
                    report, left = ReplayReport(), MOST_REPLAYED
                    async for page in self.replays.pages(engine, ReplayRange(since=since, limit=left), judge):
                        report.add(page)
                return {
                    "revision": engine.revision,
                    "contracts": judge.revision if judge else "",
                    "decision": None if record is None or tried is None else _decision(record, tried),
                    "replay": None
                    if report is None
                    else {
                        **report.to_json(),
                        "headline": report.headline(),
                        "notes": [*report.notes()],
                        "most": MOST_REPLAYED,
                    },
                    "patch": await asyncio.to_thread(self._patch, edits),
                    "history": HISTORY,
                }
        except PolicyInvalid as error:
            raise Malformed(str(error), code="policy_invalid") from error
        except CodeInvalid as error:
            raise Malformed(str(error), code="code_invalid") from error

    # Policies --------------------------------------------------------------------------------------------------------

    def _bundle(self, edits: Edits) -> Bundle:
        """The bundle with the edits; that in force without any. Raises `errors.PolicyInvalid`."""
        running = self.replays.running.bundle
        if not edits.policies:
            return running
        sources = read_sources(self.policies)
        changed = {path: text.encode() for path, text in edits.policies.items()}
        for path in changed:
            if path not in sources.files and not _is_new_source(path):
                raise PolicyInvalid(
                    f"{path[:200]!r} is not the name of a rule or of data: that is a path such as guardrails/x.rego or data/x.json, and no test."
                )
        edited = replace(sources, files={**sources.files, **changed})
        if has_rules_of(running, edited):
            return with_data_of(edited, running)
        return self._compiled(edited)

    def _compiled(self, sources: Sources) -> Bundle:
        key = repr(sorted(sources.digests.items()))
        if key not in self._built:
            tool = find_opa()
            if tool is None:
                raise PolicyInvalid(
                    f"Rules are compiled by `opa`, and this gateway has none; data and contracts can be tried without. {GET_OPA}"
                )
            with opa_within(_OPA_SECONDS):
                built = build(sources, tool)
            for oldest in list(self._built)[: len(self._built) + 1 - _KEPT]:
                del self._built[oldest]
            self._built[key] = built
        return self._built[key]

    # A patch ---------------------------------------------------------------------------------------------------------

    def _patch(self, edits: Edits) -> str:
        """The edits as a patch for `git apply`, from the root of the repository of each file. Raises `errors.PolicyInvalid`, `errors.CodeInvalid`."""
        sources = read_sources(self.policies) if edits.policies else None
        parts: list[str] = []
        for path, text in sorted(edits.policies.items()):
            before = sources.files.get(path) if sources else None
            parts += _difference(
                _in_repository(self.policies, path), None if before is None else before.decode(errors="replace"), text
            )
        if edits.contracts is not None and edits.contracts.contracts:
            stacks = self.replays.stacks.snapshot()
            stack = next(each for each in stacks.all if edits.contracts.stack in ("", each.name))
            known = stacks.contracts_of(stack.name)
            for path, content in sorted(edits.contracts.contracts.items()):
                parts += _difference(_in_repository(stack.root, path), known.get(path), content.decode())
        return "".join(parts)


def _require_reader(caller: Caller) -> None:
    if not caller.sees_all:
        raise NotAllowed(
            "The playground shows the records of every actor and the policies, so agents and services do not use it. Ask a person, or use a pipeline's key."
        )


def _is_new_source(path: str) -> bool:
    return (
        bool(_NAME.fullmatch(path))
        and not path.endswith("_test.rego")
        and (path.endswith(".rego") or path.startswith("data/"))
    )


def _in_repository(directory: Path, path: str) -> str:
    """The path from the top of the git checkout that has the directory; from the directory where there is none."""
    checkout = find_checkout(directory)
    prefix = "" if checkout is None or checkout.prefix == "." else f"{checkout.prefix}/"
    return f"{prefix}{path}"


def _difference(path: str, before: str | None, after: str) -> Iterator[str]:
    """The lines of a unified difference, as git writes it; none for what stayed."""
    if before == after:
        return
    names = (f"a/{path}" if before is not None else "/dev/null", f"b/{path}")
    if before is None:
        yield f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
    for line in difflib.unified_diff((before or "").splitlines(keepends=True), after.splitlines(keepends=True), *names):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


# The decision ---------------------------------------------------------------------------------------------------------


def _decision(record: Record, tried: Replayed | NotReplayed) -> dict[str, Any]:
    """What was decided, and what would be."""
    body: Any = record.body
    named = {
        "mutation": record.mutation_id,
        "actor": record.actor,
        "kind": body.caller.kind.value,
        "call": body.call.name,
        "stack": record.stack,
    }
    before = body.decision.verdict.value
    if isinstance(tried, NotReplayed):
        reason = f"The decision is {SENTENCES[tried]}, so it cannot be tried again."
        return {**named, "before": before, "after": None, "reason": reason, "old": [], "new": [], "kept": []}
    return {
        **named,
        "before": before,
        "after": tried.after.value,
        "reason": "",
        "rule": tried.rule,
        "old": [objection_to_json(each) for each in tried.old],
        "new": [objection_to_json(each) for each in tried.new],
        "kept": [objection_to_json(each) for each in _kept(body, tried)],
    }


def _kept(body: DecidedBody[Any], tried: Replayed) -> Iterator[Objection]:
    """The objections of checks that an edit cannot change: stops, budgets, classes of calls."""
    old = {(each.rule, each.address, each.attribute) for each in tried.old}
    for each in body.decision.findings:
        if each.verdict is not Verdict.ALLOW and (each.rule, each.address, each.attribute) not in old:
            yield Objection(
                rule=each.rule,
                verdict=each.verdict,
                reason=each.reason,
                address=each.address,
                attribute=each.attribute,
                source=each.source,
            )
