"""Reads the review of what AWS's answers hand out, by operation, and judges botocore's models by it.

`reviewed_answers.toml` says which members hand out a secret, and why an answer that could be doubted passes. `passed_answers.json` lists every
read that was reviewed and passes, with the reasons and a fingerprint of the answer that was reviewed. Only the generators use this: what they
derive is in `classes.json` and in `gateway/effects/sensitive_members.json`.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

REVIEW: Final = Path(__file__).with_name("reviewed_answers.toml")
PASSED: Final = Path(__file__).with_name("passed_answers.json")
_TEXT: Final = ("string", "blob")
_NAMING: Final = re.compile(r".*(?:[Nn]ames?|[Ii][Dd]s?|[Aa]rns?|[Ee]mails?|[Dd]escriptions?|[Mm]essages?)")
"""Names of members that name or describe something. AWS marks many of these, since they may be about people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passed:
    """A read whose answer was reviewed and hands out no secret."""

    fingerprint: str
    """Of the answer as it was reviewed (`Answer.fingerprint`)."""
    reasons: tuple[str, ...]
    """Keys of `Review.reasons`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What people decided about AWS's answers."""

    reasons: Mapping[str, str]
    """Key → why an answer passes, a sentence."""
    hands_out: Mapping[str, frozenset[str]]
    """Service → the members (`Structure.member`) with which an answer hands out a secret, at any depth."""
    spared: Mapping[tuple[str, str], str]
    """(Service, operation) → why it passes though its answer has such a member, a sentence."""
    doubts: Mapping[tuple[str, str], str]
    """(Service, operation) → why an answer passes that could be doubted, a sentence of its own."""
    passed: Mapping[tuple[str, str], Passed]


@dataclass(frozen=True)  # without slots, so that the members are collected once
class Answer:
    """The answer of one operation, as botocore's model of its service describes it."""

    service: str
    operation: str
    shapes: Mapping[str, Any]
    definition: Mapping[str, Any]
    """The operation."""

    @property
    def name(self) -> str:
        """`service:operation`."""
        return f"{self.service}:{self.operation}"

    @cached_property
    def members(self) -> Mapping[str, "Member"]:
        """`Structure.member` → the member, at every depth."""
        output = self.definition.get("output", {}).get("shape")
        return dict(_members(self.shapes, output)) if output else {}

    @property
    def fingerprint(self) -> str:
        """8 hex digits that change with the texts in the answer: a new one, or one that AWS now marks as sensitive, needs a review."""
        texts = sorted(
            f"{name}{' sensitive' if member.sensitive else ''}" for name, member in self.members.items() if member.text
        )
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]

    def handed_out(self, review: Review) -> frozenset[str]:
        """The members with which the answer hands out a secret."""
        return review.hands_out.get(self.service, frozenset()) & self.members.keys()

    @property
    def marked(self) -> frozenset[str]:
        """The members with text that AWS marks as sensitive, but for those that only name or describe something."""
        return frozenset(
            name
            for name, member in self.members.items()
            if member.sensitive and member.text and not _NAMING.fullmatch(name.partition(".")[2])
        )

    def passes(self, review: Review) -> bool:
        """Whether the answer was reviewed as it is and hands out no secret."""
        key = (self.service, self.operation)
        passed = review.passed.get(key)
        if passed is None or passed.fingerprint != self.fingerprint:
            return False
        return key in review.spared or not self.handed_out(review)


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of a structure in an answer."""

    reference: Mapping[str, Any]
    """The member itself: its documentation, and where in the answer it is."""
    text: bool
    """Whether it holds text of any form, by itself or in lists and maps, and not only one of a few given words."""
    sensitive: bool
    """Whether AWS marks it as sensitive, or what it is in."""


@lru_cache(maxsize=1)
def review() -> Review:
    """The review that ships. Raises KeyError or ValueError if a file has another form."""
    written = tomllib.loads(REVIEW.read_text(encoding="utf-8"))
    passed = json.loads(PASSED.read_bytes())
    return Review(
        reasons=written["reasons"],
        hands_out={service: frozenset(names) for service, names in written["hands_out"].items()},
        spared=_by_operation(written["spared"]),
        doubts=_by_operation(written["doubts"]),
        passed={
            (service, operation): _passed(text) for service, rows in passed.items() for operation, text in rows.items()
        },
    )


def passed_text(passed: Mapping[tuple[str, str], Passed]) -> str:
    """The text of `passed_answers.json`, one operation per line, so that reviews show each change."""
    rows: dict[str, dict[str, str]] = {}
    for (service, operation), each in passed.items():
        rows.setdefault(service, {})[operation] = " ".join((each.fingerprint, *each.reasons))
    return json.dumps(rows, indent=0, sort_keys=True) + "\n"


def _passed(text: str) -> Passed:
    fingerprint, *reasons = text.split()
    return Passed(fingerprint=fingerprint, reasons=tuple(reasons))


def _by_operation(sentences: Mapping[str, str]) -> dict[tuple[str, str], str]:
    found = {}
    for name, sentence in sentences.items():
        service, _, operation = name.partition(":")
        found[service, operation] = sentence
    return found


def _members(shapes: Mapping[str, Any], output: str) -> Iterator[tuple[str, Member]]:
    """(`Structure.member`, the member) of every structure that the output reaches, each structure once.

    A structure counts as sensitive if one of the ways to it does, which are followed first.
    """
    waiting: list[tuple[str, bool]] = [(output, False)]
    seen: dict[str, bool] = {}
    found: dict[str, Member] = {}
    while waiting:
        shape, sensitive = waiting.pop()
        definition = shapes[shape]
        sensitive = sensitive or bool(definition.get("sensitive"))
        if seen.get(shape) in (True, sensitive):
            continue
        seen[shape] = sensitive
        for name, reference in definition.get("members", {}).items():
            inside = sensitive or bool(reference.get("sensitive"))
            text, marked = _holds_text(shapes, reference["shape"])
            found[f"{shape}.{name}"] = Member(reference=reference, text=text, sensitive=inside or marked)
            waiting.append((reference["shape"], inside))
        waiting += [(definition[part]["shape"], sensitive) for part in ("member", "key", "value") if part in definition]
    return iter(found.items())


def _holds_text(shapes: Mapping[str, Any], shape: str) -> tuple[bool, bool]:
    """Whether a member of that type holds free text, directly or in lists and maps; and whether that is marked as sensitive."""
    text = marked = False
    waiting, seen = [shape], set()
    while waiting:
        current = waiting.pop()
        if current in seen:
            continue
        seen.add(current)
        definition = shapes[current]
        marked = marked or bool(definition.get("sensitive"))
        text = text or (definition["type"] in _TEXT and "enum" not in definition) or bool(definition.get("document"))
        waiting += [definition[part]["shape"] for part in ("member", "key", "value") if part in definition]
    return text, marked
