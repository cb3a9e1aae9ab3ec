"""Writes the commit message of a mutation: what changed, who did it and why, with trailers that refer to the ledger."""

import json
import textwrap
from collections.abc import Mapping, Sequence

from gateway.core.model.json import Json
from gateway.core.model.masking import in_words
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.model import REPLACES, TAKEN_BACK, Edit, Wanted, is_gone, is_new, is_replacement
from reconciler.publish.inert_text import one_line
from reconciler.terraform.compare import same

CodeBefore = Mapping[tuple[str, str], Json]
"""What the code declared before the edits, by (address, attribute); a value that hangs on the live system is not in it."""

_SUBJECT = 72
_LINE = 100
_VALUE = 60


def commit_message(
    applied: AppliedMutation, edits: Sequence[Edit], before: CodeBefore, *, beside: Sequence[AppliedMutation] = ()
) -> str:
    """The message of the commit that writes this mutation back, and with it those `beside` it, which are one change with it.

    Its changes are those of the code; what was live is said where it differs.

    Untrusted text is on one line, without commands to hosts (`inert_text`), and always follows a fixed label, so it can neither start a
    line nor forge a trailer.
    """
    live = {key: value for each in (*reversed(beside), applied) for key, value in each.before.items()}
    changes = dict.fromkeys(_change(live, edit, before) for edit in edits)
    paragraphs = [
        _subject(edits, before),
        "\n".join(changes),
        "\n".join(_who_and_why(applied, beside)),
        "\n".join(_trailers(applied, beside)),
    ]
    return "\n\n".join(paragraphs) + "\n"


def value_text(value: Json) -> str:
    """A value as JSON on one line, shortened to 60 characters; a few words for a secret."""
    return one_line(json.dumps(in_words(value), ensure_ascii=False, sort_keys=True, default=str), _VALUE)


def _subject(edits: Sequence[Edit], code: CodeBefore) -> str:
    changed = list(dict.fromkeys(edit.wanted.key for edit in edits))
    address, attribute = changed[0]
    if is_gone(edits[0].wanted) or is_new(edits[0].wanted):
        done = _done(edits[0].wanted)
        return one_line(f"{address}: {done}{f' and {len(changed) - 1} more' if len(changed) > 1 else ''}", _SUBJECT)
    if len(changed) > 1:
        return one_line(f"{address}: {attribute} and {len(changed) - 1} more", _SUBJECT)
    return one_line(f"{address}: {attribute} {_from(changed[0], code)}→ {value_text(edits[0].wanted.value)}", _SUBJECT)


def _done(wanted: Wanted) -> str:
    if is_gone(wanted):
        return "removed"
    if isinstance(wanted.value, Mapping) and TAKEN_BACK in wanted.value:
        return "created again"
    return "replaced" if is_replacement(wanted) else "added"


def _change(before: CodeBefore, edit: Edit, code: CodeBefore) -> str:
    """One line for an edit; `before` has what was live."""
    wanted = edit.wanted
    where = one_line(str(edit.path), _LINE)
    if is_gone(wanted):
        return f"- {one_line(wanted.address)}: gone in AWS, removed from {where}"
    if isinstance(wanted.value, Mapping) and TAKEN_BACK in wanted.value:
        return f"- {one_line(wanted.address)}: deleted and created again, its block is in {where} as before"
    if is_replacement(wanted):
        return f"- {one_line(wanted.address)}: {_replaced(wanted)}, imported in {where}"
    if is_new(wanted):
        return f"- {one_line(wanted.address)}: created, declared in {where} and imported"
    change = f"{_from(wanted.key, code)}→ {value_text(wanted.value)}"
    live = before.get(wanted.key)
    was = f" (live was {value_text(live)})" if live is not None and not same(live, code.get(wanted.key, live)) else ""
    return f"- {one_line(wanted.address)}.{one_line(wanted.attribute)}: {change} in {where}{was}"


def _replaced(wanted: Wanted) -> str:
    value = wanted.value if isinstance(wanted.value, Mapping) else {}
    return f"{value_text(value.get('import_id'))} took the place of {value_text(value.get(REPLACES))}"


def _from(key: tuple[str, str], code: CodeBefore) -> str:
    return f"{value_text(code[key])} " if key in code else ""


def _who_and_why(applied: AppliedMutation, beside: Sequence[AppliedMutation]) -> list[str]:
    kind = f" ({applied.kind})" if applied.kind else ""
    acting = f", for {one_line(applied.on_behalf_of)}" if applied.on_behalf_of else ""
    lines = [
        f"Who:  {one_line(applied.actor)}{kind}{acting}",
        f"What: {one_line(applied.operation)} at {applied.at.isoformat()}",
    ]
    lines += [
        f"And:  {one_line(each.operation)} at {each.at.isoformat()}, which is one change with it" for each in beside
    ]
    if applied.together:
        lines.append(f"With: {one_line(', '.join(applied.together))}, which tells the same story")
    if applied.approver:
        lines.append(f"Approved by {one_line(applied.approver)}")
    why = ", ".join(one_line(part) for part in (applied.intent, applied.motivation) if part) or "no motive was stated"
    lines += textwrap.wrap(
        f"Why:  {why}{': ' if applied.text else ''}{one_line(applied.text)}", _LINE, subsequent_indent="    | "
    )
    return lines


def _trailers(applied: AppliedMutation, beside: Sequence[AppliedMutation]) -> list[str]:
    all_of_it = (applied, *beside)
    corrected = [(each.id, each.corrects) for each in all_of_it if each.corrects]
    approvers = dict.fromkeys(each.approver for each in all_of_it if each.approver)
    evidence = dict.fromkeys(reference for each in all_of_it for reference in each.evidence)
    named = [
        *(("Mutation", each.id) for each in all_of_it),
        *(("Corrects", f"{mutation}@{number}" if beside else str(number)) for mutation, number in corrected),
        ("Actor", applied.actor),
        ("Intent", applied.intent or "unstated"),
        ("Motivation", applied.motivation or "unstated"),
        *(("With", each) for each in applied.together),
        *(("Evidence", reference) for reference in evidence),
        *(("Approver", approver) for approver in approvers),
    ]
    return [f"Sentinel-{name}: {one_line(value, 200)}" for name, value in named]
