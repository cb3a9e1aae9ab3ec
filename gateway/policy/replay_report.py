"""The report of a replay, from its pages: as text, as JSON, as Markdown for a pull request, and as SARIF 2.1.0 on the rules' lines.

It keeps a few calls of each rule and actor and counts the others, so its size does not grow with the ledger.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.core.model.verdict import Verdict
from gateway.policy.not_replayed import SENTENCES, NotReplayed
from gateway.policy.replay import HISTORY
from gateway.presentation.markdown import markdown_table, markdown_text

_CALLS: Final = 10
"""Calls of each group that are kept."""
_GROUPS: Final = 500
"""Groups that are kept."""
_WORDS: Final = {Verdict.ALLOW.value: "allowed", Verdict.HOLD.value: "held", Verdict.DENY.value: "denied"}
_LEVELS: Final = {Verdict.ALLOW.value: "note", Verdict.HOLD.value: "warning", Verdict.DENY.value: "error"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(slots=True)
class ReplayReport:
    """What the pages so far say."""

    revision: str = ""
    contracts: str = ""
    """Digest of the code and contracts that were judged by; empty if what contracts said then was kept."""
    replayed: int = 0
    flips: int = 0
    not_replayed: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each verdict became each other one."""
    groups: dict[tuple[str, str, str, str], dict[str, Any]] = field(default_factory=dict)
    """By rule, actor, verdict of then and verdict of now."""
    more: int = 0
    """Flips of rules and actors that are only counted."""

    def add(self, page: Mapping[str, Any]) -> None:
        """Take the flips and the counts of a page."""
        self.revision, self.contracts = page["revision"], page["contracts"]
        self.replayed += page["replayed"]
        self.not_replayed.update(page["not_replayed"])
        for flip in page["flips"]:
            self._add_flip(flip)

    def _add_flip(self, flip: Mapping[str, Any]) -> None:
        self.flips += 1
        self.changes[flip["from"], flip["to"]] += 1
        key = flip["rule"], flip["actor"], flip["from"], flip["to"]
        if key not in self.groups and len(self.groups) >= _GROUPS:
            self.more += 1
            return
        group = self.groups.setdefault(key, {"count": 0, "source": "", "calls": []})
        group["count"] += 1
        group["source"] = group["source"] or _source(flip)
        if len(group["calls"]) < _CALLS:
            group["calls"].append(flip)

    def to_json(self) -> dict[str, Any]:
        """The whole report."""
        return {
            "revision": self.revision,
            "contracts": self.contracts,
            "replayed": self.replayed,
            "flips": self.flips,
            "changes": [{"from": was, "to": now, "count": count} for (was, now), count in self.changes.most_common()],
            "not_replayed": dict(sorted(self.not_replayed.items())),
            "groups": [
                {"rule": rule, "actor": actor, "from": was, "to": now, **group}
                for (rule, actor, was, now), group in self.sorted_groups()
            ],
            "flips_only_counted": self.more,
            "history": HISTORY,
        }

    def sorted_groups(self) -> list[tuple[tuple[str, str, str, str], dict[str, Any]]]:
        """The groups, the largest first."""
        return sorted(self.groups.items(), key=lambda each: (-each[1]["count"], each[0]))

    def headline(self) -> str:
        """How many verdicts would be others."""
        by = f" and contracts {self.contracts[:12]}" if self.contracts else ""
        of = f"{_count(self.replayed, 'decision')} replayed under policies {self.revision[:12]}{by}"
        if not self.flips:
            return f"{of}: every verdict would be the same."
        changes = ", ".join(f"{count} {_change(was, now)}" for (was, now), count in self.changes.most_common())
        return (
            f"{of}: {_count(self.flips, 'verdict')} would be {'another' if self.flips == 1 else 'others'} ({changes})."
        )

    def notes(self) -> Iterator[str]:
        """What was not replayed, and what a replay does not do: a sentence each."""
        for reason, count in sorted(self.not_replayed.items()):
            yield f"Not replayed: {_count(count, 'decision')} {SENTENCES[NotReplayed(reason)]}."
        if self.more:
            yield f"{_count(self.more, 'further verdict')} of further rules and actors would be others too."
        if not self.contracts:
            yield "What contracts said then was kept."
        yield HISTORY

    def lines(self) -> Iterator[str]:
        """The report as text."""
        yield self.headline()
        for (rule, actor, was, now), group in self.sorted_groups():
            where = f" ({group['source']})" if group["source"] else ""
            yield f"{rule or 'no rule'}{where}, {actor}: {group['count']} {_change(was, now)}"
            for flip in group["calls"]:
                yield f"  {flip['mutation']} {flip['at'][:19]} {flip['call']}{_about(flip)}"
                yield from (f"    {line}" for line in _then_and_now(flip))
            if group["count"] > len(group["calls"]):
                yield f"  … and {group['count'] - len(group['calls'])} more."
        yield from self.notes()

    def markdown(self) -> str:
        """The report for a pull request. Nothing in it is interpreted as markup, whatever a caller wrote."""
        parts = [f"### Sentinel: {markdown_text(self.headline())}"]
        rows = [
            (
                markdown_text(rule or "no rule"),
                markdown_text(actor),
                f"{group['count']} {_change(was, now)}",
                markdown_text(group["calls"][0]["call"] + _about(group["calls"][0])),
                markdown_text(" ".join(_then_and_now(group["calls"][0]))),
            )
            for (rule, actor, was, now), group in self.sorted_groups()
        ]
        if rows:
            parts.append(markdown_table(("Rule", "Actor", "Verdicts", "For example", "Findings"), rows))
        parts += [markdown_text(note) for note in self.notes()]
        return "\n\n".join((*parts, "Nothing was changed.")) + "\n"

    def sarif(self, *, root: str = "", stack_root: str = "") -> dict[str, Any]:
        """A result for each rule and actor, on the line of the rule.

        `root` is the path of the policies in their repository, `stack_root` that of the stack, whose contracts and code bounds are written in.
        """
        results = [
            _result(key, group, stack_root if _is_of_stack(group["source"]) else root)
            for key, group in self.sorted_groups()
        ]
        rules = list(dict.fromkeys(each["ruleId"] for each in results))
        driver = {
            "name": "Sentinel",
            "rules": [{"id": rule, "shortDescription": {"text": "A verdict that the edit changes."}} for rule in rules],
        }
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "results": [{**each, "ruleIndex": rules.index(each["ruleId"])} for each in results],
            "automationDetails": {"id": "sentinel-policy-replay/"},
            "properties": {"revision": self.revision, "replayed": self.replayed, "flips": self.flips},
        }
        return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(key: tuple[str, str, str, str], group: Mapping[str, Any], root: str) -> dict[str, Any]:
    rule, actor, was, now = key
    change = _change(was, now)
    path, _, line = group["source"].rpartition(":")
    uri = "/".join(part for part in (root.strip("/"), path) if part) if path else (root.strip("/") or ".")
    first = group["calls"][0]
    return {
        "ruleId": rule or "policy",
        "level": _LEVELS[now],
        "message": {
            "text": f"{_count(group['count'], 'recorded change')} of {actor} {change}, e.g. {first['mutation']} ({first['call']})."
        },
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": int(line) if path else 1}}}
        ],
        "partialFingerprints": {"sentinelReplay/v1": hashlib.sha256(f"{rule}\n{actor}\n{change}".encode()).hexdigest()},
    }


def _is_of_stack(source: str) -> bool:
    """Whether a rule is written in a contract or in code; a rule without a place is one of the policies."""
    return bool(source) and ".rego:" not in source


def _source(flip: Mapping[str, Any]) -> str:
    """The place of the rule, as it is now or as it was."""
    found = (each["source"] for each in (*flip["new"], *flip["old"]) if each["rule"] == flip["rule"])
    return next((str(source) for source in found if source), "")


def _change(was: str, now: str) -> str:
    return f"{_WORDS[was]} → {_WORDS[now]}"


def _about(flip: Mapping[str, Any]) -> str:
    """The resource that a finding names, after a space."""
    named = (each for each in (*flip["new"], *flip["old"]) if each["address"])
    found = next(named, None)
    return f" {'.'.join(part for part in (found['address'], found['attribute']) if part)}" if found else ""


def _then_and_now(flip: Mapping[str, Any]) -> Iterator[str]:
    for when, findings in (("then", flip["old"]), ("now", flip["new"])):
        if not findings:
            yield f"{when}: no objection."
        for each in findings[:1]:
            more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
            yield f"{when}: {_WORDS[each['verdict']]} by {each['rule']}: {each['reason']}{more}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
