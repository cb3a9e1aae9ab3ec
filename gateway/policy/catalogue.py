"""What the policies in force are: rules by pack with their stage, the text and tests of a rule, and the numbers with who changed them."""

import asyncio
import json
import pwd
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from gateway.core.errors import NotFound, PolicyInvalid
from gateway.core.model.json import Json
from gateway.core.model.verdict import RuleText
from gateway.line.checks.rule_titles import built_in_rules
from gateway.policy.bundle import RunningEngine
from gateway.policy.sources import read_sources
from gateway.policy.stages import git_output, stage_entries

ENFORCE: Final = "enforce"
_ABSOLUTE: Final = "never."
_LONGEST_RULE: Final = 120
"""Lines of a rule's text."""
_MOST_TESTS: Final = 60
_MOST_NUMBERS: Final = 200
"""Values of one file of data that are listed; the file itself has all."""
_MOST_COMMITS: Final = 500
_KEPT_SECONDS: Final = 60.0
_TEST = re.compile(r"^(test_\w+)\b", re.MULTILINE)
_COMMIT, _PART = "\x1e", "\x1f"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleEntry:
    """A rule in force."""

    id: str
    title: str
    source: str
    """`file:line`; empty for a rule built into Sentinel."""
    pack: str
    """The pack that it is in; for a policy of none its directory, and `built in` for Sentinel's own."""
    stage: str
    """`off`, `warn` or `enforce`, where no entry for a kind of caller or a stack says otherwise."""
    exceptions: tuple[str, ...]
    """The entries of `data/stages.json` that hold for some callers or stacks only, in words; of two that fit the last holds."""
    controls: tuple[str, ...]
    """What it implements of the published benchmarks."""

    def to_json(self) -> dict[str, Any]:
        """The entry in answers."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """Rules that belong together."""

    name: str
    about: str
    stage: str

    def to_json(self) -> dict[str, str]:
        """The pack in answers."""
        return {"name": self.name, "about": self.about, "stage": self.stage}


@dataclass(slots=True, kw_only=True)
class Catalogue:
    """Tells of the policies. What it read of the directory is kept for a minute."""

    engine: RunningEngine
    policies: Path
    """The directory of the policies."""
    _rules: tuple[str, tuple[RuleEntry, ...], tuple[Pack, ...]] = ("", (), ())
    _numbers: tuple[str, float, list[dict[str, Any]]] | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def rules(self) -> tuple[tuple[RuleEntry, ...], tuple[Pack, ...]]:
        """Every rule and every pack in force."""
        bundle = self.engine.bundle
        if self._rules[0] != bundle.revision:
            data = json.loads(bundle.data)["data"]
            packs = data.get("packs", {}).get("by_name", {})
            entries = stage_entries(bundle)
            texts = {**built_in_rules(), **self.engine.rules()}
            rules = tuple(_entry(rule, text, packs, entries) for rule, text in sorted(texts.items()))
            named = tuple(
                Pack(name=name, about=str(pack.get("about", "")), stage=str(pack.get("stage", ENFORCE)))
                for name, pack in packs.items()
            )
            self._rules = bundle.revision, rules, named
        return self._rules[1], self._rules[2]

    async def rule(self, rule: str) -> dict[str, Any]:
        """The rule with its text, its tests, and whether the file is what is in force. Raises `errors.NotFound`."""
        entry = next((each for each in self.rules()[0] if each.id == rule), None)
        if entry is None:
            raise NotFound(f"No rule {rule[:100]!r} is in force.")
        return {**entry.to_json(), **await asyncio.to_thread(self._written, entry)}

    def _written(self, entry: RuleEntry) -> dict[str, Any]:
        file, _, line = entry.source.rpartition(":")
        nothing: dict[str, Any] = {"file": file, "line": 0, "text": "", "tests": [], "more_tests": 0, "in_force": None}
        if not file.endswith(".rego") or not line.isdecimal():
            return nothing
        try:
            sources = read_sources(self.policies)
        except PolicyInvalid:
            return nothing
        content = sources.files.get(file)
        if content is None:
            return nothing
        tests = [*_tests(self.policies / f"{file.removesuffix('.rego')}_test.rego", entry.id)]
        return {
            "file": file,
            "line": int(line),
            "text": _excerpt(content.decode(errors="replace"), int(line)),
            "tests": tests[:_MOST_TESTS],
            "more_tests": max(len(tests) - _MOST_TESTS, 0),
            "in_force": self.engine.bundle.manifest.sources.get(file) == sources.digests[file],
        }

    async def numbers(self, now: datetime) -> list[dict[str, Any]]:
        """Each file of data with its values, who changed it last and when, and whether the file is what is in force."""
        async with self._lock:
            kept, revision = self._numbers, self.engine.revision
            if kept is None or kept[0] != revision or not 0 <= now.timestamp() - kept[1] < _KEPT_SECONDS:
                found = await asyncio.to_thread(self._read_numbers)
                kept = self._numbers = revision, now.timestamp(), found
        return kept[2]

    def _read_numbers(self) -> list[dict[str, Any]]:
        bundle = self.engine.bundle
        data: Mapping[str, Any] = json.loads(bundle.data)["data"]
        try:
            digests: Mapping[str, str] = read_sources(self.policies).digests
        except PolicyInvalid:
            digests = {}
        changed = _last_changes(self.policies)
        return [
            {
                "file": file,
                "values": values[:_MOST_NUMBERS],
                "more_values": max(len(values) - _MOST_NUMBERS, 0),
                "changed": changed.get(file) or _owner(self.policies / file),
                "in_force": digests.get(file) == digest,
            }
            for file, digest in sorted(bundle.manifest.sources.items())
            if file.startswith("data/") and file.endswith(".json")
            for values in [[{"name": name, "value": value} for name, value in _flat(_of_file(data, file), "")]]
        ]


# Rules ----------------------------------------------------------------------------------------------------------------


def _entry(rule: str, text: RuleText, packs: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> RuleEntry:
    pack = next((name for name, each in packs.items() if rule in each.get("controls", {})), "")
    staged = str(packs[pack].get("stage", ENFORCE)) if pack else ENFORCE
    exceptions: list[str] = []
    for entry in entries if not rule.startswith(_ABSOLUTE) else ():
        if entry.get("rule", rule) != rule or entry.get("pack", pack) != pack:
            continue
        for_some = [
            f"{'callers of kind' if name == 'kind' else name} {entry[name]}"
            for name in ("kind", "stack")
            if name in entry and entry[name] != "*"
        ]
        if for_some:
            exceptions.append(f"{entry['stage']} for {' and '.join(for_some)}")
        else:
            staged, exceptions = str(entry["stage"]), []
    return RuleEntry(
        id=rule,
        title=text.title,
        source=text.source,
        pack=pack or text.source.partition("/")[0] or "built in",
        stage=staged,
        exceptions=tuple(exceptions),
        controls=tuple(packs[pack]["controls"][rule]) if pack else (),
    )


def _excerpt(text: str, line: int) -> str:
    """The rule that begins at this line, with its description above it: to the next one that has a description."""
    lines = text.split("\n")
    end = start = max(min(line, len(lines)) - 1, 0)
    while start and lines[start - 1].startswith("#"):
        start -= 1
    while end < len(lines) and lines[end].startswith("#"):
        end += 1
    while end < len(lines) and not lines[end].startswith("# METADATA"):
        end += 1
    left_out = end - start - _LONGEST_RULE
    found = "\n".join(lines[start : min(end, start + _LONGEST_RULE)]).rstrip()
    return found + (f"\n# … and {left_out} more lines" if left_out > 0 else "")


def _tests(path: Path, rule: str) -> Iterator[dict[str, Any]]:
    """The tests beside the rule's file, those that name the rule first."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    starts = [*_TEST.finditer(text)]
    ends = [*(each.start() for each in starts[1:]), len(text)]
    found = [
        {
            "name": start[1],
            "line": text.count("\n", 0, start.start()) + 1,
            "names_it": f'"{rule}"' in text[start.start() : end],
        }
        for start, end in zip(starts, ends, strict=True)
    ]
    yield from sorted(found, key=lambda each: not each["names_it"])


# Numbers --------------------------------------------------------------------------------------------------------------


def _of_file(data: Mapping[str, Any], file: str) -> Mapping[str, Any]:
    """The members of a file of data: each names its own, and most are called as the file is."""
    name = file.removeprefix("data/").removesuffix(".json")
    return {name: data[name]} if name in data else {}


def _flat(value: Json, name: str) -> Iterator[tuple[str, Json]]:
    if isinstance(value, Mapping) and value:
        for key, member in value.items():
            yield from _flat(member, f"{name}.{key}" if name else str(key))
    else:
        yield name, value


def _last_changes(policies: Path) -> Mapping[str, Mapping[str, str]]:
    """Of each file of data the last commit that changed it, as git tells; of one that is not committed as it is none."""
    told = git_output(
        policies,
        *("log", "-n", str(_MOST_COMMITS), "--relative", "--name-only"),
        f"--format={_COMMIT}%h{_PART}%an{_PART}%aI{_PART}%s",
        *("--", "data"),
    )
    found: dict[str, Mapping[str, str]] = {}
    for commit in (told or "").split(_COMMIT)[1:]:
        head, *files = commit.split("\n")
        members = dict(zip(("commit", "by", "at", "why"), head.split(_PART), strict=False))
        for file in files:
            if file and len(members) == 4:  # noqa: PLR2004  the four of the format
                found.setdefault(file, members)
    if found:
        for line in (git_output(policies, "status", "--porcelain", "--", "data") or "").splitlines():
            changed = line[2:].strip().rpartition("data/")[2]
            found.pop(f"data/{changed}", None)
    return found


def _owner(path: Path) -> Mapping[str, str] | None:
    """Who owns the file on this machine, and when it was written; None if it is not there."""
    try:
        status = path.stat()
        name = pwd.getpwuid(status.st_uid).pw_name
    except OSError:
        return None
    except KeyError:
        name = str(status.st_uid)
    at = datetime.fromtimestamp(int(status.st_mtime), tz=UTC)
    return {"commit": "", "by": name, "at": at.isoformat(), "why": ""}
