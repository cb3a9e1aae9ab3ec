"""The texts of a pull request: its title, its description, and its comments."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gateway.core.model.ids import digest_id
from gateway.core.model.masking import in_words
from gateway.core.records.write_backs import RecordedEdit, RecordedProof, WriteBackBody
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.publish.commit_message import value_text
from reconciler.publish.inert_text import one_line
from reconciler.suggest.question import ChangedOutside, NamedIntent

LONGEST: Final = 60_000
"""Characters of a description or comment. GitHub accepts 65,536."""
_LISTED: Final = 100
_TITLE: Final = 120
_BEGIN, _END = "<!-- sentinel:begin -->", "<!-- sentinel:end -->"
_MARKER: Final = re.compile(r"<!-- sentinel:wrote ((?:[a-z]{3}_[0-9a-z]{26}(?:@[0-9]+)? )+)-->")
_ASKED: Final = re.compile(r"<!-- sentinel:asked ([A-Za-z0-9._/, -]*) -->")
_FEWEST = 2
"""Changes from outside that are a burst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBack:
    """One write-back on the stack's branch."""

    key: str
    """The mutation's id, with `@NUMBER` if it corrects a record."""
    applied: AppliedMutation | None
    """None if its record is not there; the commit says what it is."""
    body: WriteBackBody
    """What the record that names the commit says."""

    @property
    def commit(self) -> str:
        """The commit; empty if no record names it."""
        return self.body.commit

    @property
    def files(self) -> tuple[str, ...]:
        """The changed files, relative to the stack's directory."""
        return self.body.files


def title_of(stack: str, written: Sequence[WriteBack]) -> str:
    """The title: what the one change is, or how many there are."""
    if len(written) == 1 and (edits := written[0].body.edits):
        first = edits[0]
        more = f" and {len(edits) - 1} more" if len(edits) > 1 else f" → {value_text(first.value)}"
        return one_line(f"{stack}: {first.address}.{first.attribute}{more}", _TITLE)
    return one_line(f"{stack}: write back {len(written)} changes that were applied", _TITLE)


def description_of(
    stack: str,
    written: Sequence[WriteBack],
    *,
    rebased_upon: Sequence[str],
    asked: Collection[str],
    emails: Sequence[str],
) -> str:
    """Our section of the description. What people write outside of it stays."""
    lines = [
        f"Sentinel writes back what was applied to the stack {code_span(stack)}, so that the next plan is clean.",
        "Each commit was proved by a plan; the comments below say who wanted it, why, and what was proved.",
        "",
        *(_summary(each) for each in written[:_LISTED]),
    ]
    if len(written) > _LISTED:
        lines.append(f"- and {len(written) - _LISTED} more; each commit names its own.")
    if rebased_upon:
        shas = ", ".join(code_span(commit[:12]) for commit in rebased_upon)
        lines += [
            "",
            f"Others pushed to this branch ({shas}). Their commits were kept and ours put behind them; the proofs were made without theirs.",
        ]
    if emails:
        lines += ["", f"CODEOWNERS also names {', '.join(code_span(each) for each in emails)}, whom GitHub cannot ask."]
    lines += ["", f"<!-- sentinel:asked {', '.join(sorted(asked))} -->"]
    return "\n".join([_BEGIN, *lines, _END])


def with_section(body: str, section: str) -> str:
    """A description with its section of ours replaced, or added at its end."""
    before, begin, rest = body.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if begin and end:
        return f"{before}{section}{after}"
    return f"{body.rstrip()}\n\n{section}" if body.strip() else section


def asked_in(body: str) -> frozenset[str]:
    """Who was asked for a review already, according to a description."""
    found = _ASKED.search(body)
    return frozenset(name for name in found[1].split(", ") if name) if found else frozenset()


def keys_in(comments: Sequence[str]) -> frozenset[str]:
    """The write-backs that our comments tell about. Only a marker at the very beginning counts."""
    found = (_MARKER.match(comment) for comment in comments)
    return frozenset(key for match in found if match for key in match[1].split())


def comments_of(written: Sequence[WriteBack]) -> Iterator[str]:
    """Comments that tell the stories of write-backs, as few as fit."""
    keys: list[str] = []
    parts: list[str] = []
    for each in written:
        story = _story(each)
        if keys and sum(map(len, parts)) + len(story) + 40 * len(keys) > LONGEST:
            yield _comment(keys, parts)
            keys, parts = [], []
        keys.append(each.key)
        parts.append(story)
    if keys:
        yield _comment(keys, parts)


def code_span(text: str) -> str:
    """Text as a code span, in which nothing has a meaning; shortened to 300 characters.

    A squashed merge makes a commit message of the description, where a code span is no protection, so the text is inert in itself.
    """
    line = one_line(str(in_words(text)), 300).replace("<!--", "<! --").replace("-->", "-- >") or " "
    longest = max((len(run) for run in re.findall(r"`+", line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def _comment(keys: Sequence[str], parts: Sequence[str]) -> str:
    return f"<!-- sentinel:wrote {' '.join(keys)} -->\n" + "\n\n---\n\n".join(parts)


def _summary(written: WriteBack) -> str:
    who = written.applied.actor if written.applied else "unknown"
    changes = ", ".join(_change(edit) for edit in written.body.edits[:3]) or code_span(written.commit[:12])
    return f"- {changes} by {code_span(who)} ({code_span(written.key)})"


def _story(written: WriteBack) -> str:
    lines = [f"**{code_span(written.key)}** in {written.commit}", *_told(written.applied)]
    lines += [f"- changed: {_change(edit)} in {code_span(edit.path)}" for edit in written.body.edits[:50]]
    lines += [
        f"- proof {code_span(proof.name)}: {'held' if proof.held else 'did not hold'}{_detail(proof)}"
        for proof in written.body.proofs
    ]
    lines += [
        f"- left to a human: {code_span(f'{left.address}.{left.attribute}')}: {code_span(left.reason)}"
        for left in written.body.left[:20]
    ]
    lines += [f"- noted: {code_span(note)}" for note in written.body.noted[:10]]
    return "\n".join(lines)[: LONGEST - 2_000]


def _told(applied: AppliedMutation | None) -> list[str]:
    if applied is None:
        return ["- its record cannot be read; `sentinel records` may say more"]
    kind = f" ({code_span(applied.kind)})" if applied.kind else ""
    behalf = f", for {code_span(applied.on_behalf_of)}" if applied.on_behalf_of else ""
    lines = [
        f"- who: {code_span(applied.actor)}{kind}{behalf}",
        f"- call: {code_span(applied.operation)} at {applied.at.isoformat()}",
    ]
    motive = (
        ", ".join(code_span(part) for part in (applied.intent, applied.motivation) if part) or "no motive was stated"
    )
    lines.append(f"- why: {motive}{': ' + code_span(applied.text) if applied.text else ''}")
    lines += [f"- evidence: {code_span(reference)}" for reference in applied.evidence]
    lines += [f"- approved by {code_span(applied.approver)}"] if applied.approver else []
    return lines


def _change(edit: RecordedEdit) -> str:
    return code_span(f"{edit.address}.{edit.attribute} = {value_text(edit.value)}")


def _detail(proof: RecordedProof) -> str:
    return f" ({code_span(proof.detail)})" if proof.detail else ""


def outside_changes_among(written: Sequence[WriteBack]) -> tuple[ChangedOutside, ...]:
    """The changes from outside among write-backs; none if there are too few for a burst."""
    found = tuple(change for each in written for change in _outside(each))
    return found if len(found) >= _FEWEST else ()


def intent_marker(written: Sequence[WriteBack]) -> str:
    """The beginning of the comment about just these changes from outside."""
    keys = sorted(each.key for each in written if _outside(each))
    return f"<!-- sentinel:intent {digest_id('prp', *keys)} -->"


def intent_comment(marker: str, count: int, named: NamedIntent) -> str:
    """The comment. The words stand in code spans, where nothing of them has a meaning."""
    goal = f"{code_span(named.intent)}: " if named.intent else ""
    return (
        f"{marker}\n**Perhaps why** {count} of these values were changed outside of Sentinel: {goal}{code_span(named.summary)}\n\n"
        "These are a language model's words about the list of changes. They are no record, nobody stated them, and nothing was "
        "decided by them."
    )


def _outside(written: WriteBack) -> tuple[ChangedOutside, ...]:
    applied = written.applied
    if applied is None or not written.key.startswith("fgn_"):
        return ()
    return tuple(
        ChangedOutside(
            address=effect.address,
            resource_type=effect.resource_type,
            attribute=effect.attribute,
            before=applied.before.get((effect.address, effect.attribute)),
            after=effect.value,
            actor=applied.actor,
            event=applied.operation,
            at=applied.at.isoformat(),
        )
        for effect in applied.effects
        if not effect.sensitive
    )
