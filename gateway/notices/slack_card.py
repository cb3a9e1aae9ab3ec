"""The card of a held change in Slack: the exact change, who asks and in whose words, why it is held, who may decide, and what was decided.

Words that others wrote stand in plain text or in a code block, so that no name, tag or motive can mention people, place links or look like ours.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from gateway.core.model.approval import ApprovalRule
from gateway.core.model.json import Json
from gateway.core.model.masking import without_digests
from gateway.core.records.approvals import BrokeGlassBody, ConsentBody, RejectedBody
from gateway.core.records.decided import DecidedBody, RecordedCall, RecordedEffect, RecordedFinding
from gateway.core.records.motive import RecordedMotive
from gateway.core.records.record import Record
from gateway.core.texts import visible
from gateway.notices.change_lines import LONGEST_BLOCK, call_lines, change_lines, code_text, without_links

_DOORS = {"api": "with the API or the command line", "console": "in the console", "chat": "in the chat"}
_WORDS: Final = 500
"""Characters of a text that others wrote."""


def decides(record: Record) -> bool:
    """Whether the record ends the waiting of held calls. The consent of the first of several people does not."""
    body = record.body
    return isinstance(body, RejectedBody) or (isinstance(body, ConsentBody) and not body.missing)


def closing_of(record: Record) -> str:
    """Who decided what, where and why, as a sentence; empty for a record of no such decision."""
    body = record.body
    if not isinstance(body, ConsentBody | RejectedBody):
        return ""
    where = _DOORS.get(body.door, "")
    by = f"by {record.actor}" + (f" {where}" if where else "")
    reason = f": {visible(body.reason)[:_WORDS]}" if body.reason else "."
    match body:
        case RejectedBody():
            return f"Rejected {by}{reason}"
        case BrokeGlassBody():
            return f"Passed in an emergency {by}{reason}"
        case ConsentBody():
            both = " and ".join([*body.others, record.actor])
            return (
                f"Approved by {both}{f' {where}' if where else ''} until {body.until}: the identical call passes once."
            )


RIGHTS: Final = (
    "aws_iam_",
    "aws_kms_",
    "aws_organizations_",
    "aws_ssoadmin_",
    "aws_identitystore_",
    "aws_secretsmanager_",
    "aws_ram_",
    "aws_lakeformation_",
    "aws_eks_access_",
    "aws_security_group",
    "aws_vpc_security_group",
)
"""Beginnings of the types that give rights or keep secrets."""
_ENDS: Final = ("_policy", "_permission", "_permissions", "_grant", "_policy_attachment")
_ATTRIBUTES: Final = ("policy", "assume_role_policy", "ingress", "egress", "access_policy", "resource_policy")
"""Attributes that let others in, whatever the resource is."""
ELSEWHERE: Final = "Decide it with `sentinel approve`, or in the console."


def no_buttons_reason(held: DecidedBody[Any], longest: timedelta) -> str:
    """Why this held call may not be approved from a chat, as a sentence; empty if it may.

    A call without a known effect, or one that is not shown whole, may not either: nobody could see its changes.
    """
    call, effects = held.call, held.effects
    if held.cut or not (call.whole and call_lines(call).whole and change_lines(effects).whole):
        return f"Not all of this call can be shown here. {ELSEWHERE}"
    if not effects:
        return f"What this call changes is not known. {ELSEWHERE}"
    if not any(_gives_rights(effect) for effect in effects):
        return ""
    wanted = held.motive.wanted_seconds if held.motive else None
    if wanted is not None and 0 < wanted <= longest.total_seconds():
        return ""
    hours = longest.total_seconds() / 3600
    return f"This changes rights for longer than {hours:g} hours, which is not decided in a chat. {ELSEWHERE}"


def _gives_rights(effect: RecordedEffect[Any]) -> bool:
    kind, first = effect.resource_type, effect.attribute.partition(".")[0].partition("[")[0]
    return kind.startswith(RIGHTS) or kind.endswith(_ENDS) or first in _ATTRIBUTES


APPROVE: Final = "approve"
REJECT: Final = "reject"
REASON: Final = "reason"
"""The ids of the buttons and of the field, which come back with a click."""
LONGEST_REASON: Final = 1_000

_MOST: Final = 10
"""Reasons, dependants and claims that a card shows."""
_VALUE: Final = 260
_SECTION: Final = 2_900
"""Characters; Slack refuses a section with more than 3,000."""
_FIELD: Final = 1_900
_HEADER: Final = 140


def card(
    record: Record, *, longest_grant: timedelta, public_url: str = "", closing: str = "", note: str = ""
) -> dict[str, Any]:
    """The message about the DECIDED record of a held change. With `closing`, how it was decided, it has no buttons any more; a `note` says
    what has happened so far.
    """
    shown: Any = without_digests(record.body.members)
    body: DecidedBody[Any] = msgspec.convert(shown, DecidedBody)
    title = f"{body.call.service} {body.call.operation}"
    blocks = [
        {"type": "header", "text": _plain(f"{'Decided' if closing else 'Held'}: {title}", _HEADER)},
        {"type": "section", "fields": _who(record, body)},
        *_requester_says(body.motive),
        *_changes(body.effects),
        _call(body.call),
        *_listed("Why it is held", [_why(each) for each in body.decision.objections]),
        *_listed("Depends on it", body.facts.dependants),
        *_listed("Ends the claims", body.decision.supersedes),
        {"type": "section", "text": _plain(_who_may(body.decision.rule), _SECTION)},
        *([{"type": "section", "text": _plain(note, _SECTION)}] if note else []),
        *_ending(record, no_buttons_reason(body, longest_grant), closing, public_url),
    ]
    return {"text": without_links(f"{title} by {record.actor} waits for a person."), "blocks": blocks}


def _who(record: Record, body: DecidedBody[Any]) -> list[Json]:
    caller, call, motive = body.caller, body.call, body.motive
    on_behalf = f" on behalf of {caller.on_behalf_of}" if caller.on_behalf_of else ""
    wanted = motive.wanted_seconds if motive else None
    facts = {
        "Asked by": f"{record.actor} ({caller.kind}){on_behalf}",
        "Stack": record.stack or "none",
        "Account, region": f"{call.account or '–'}, {call.region or '–'}",
        "Goal, why now": f"{motive.intent}, {motive.motivation}" if motive else "not stated, not stated",
        "Wanted": f"for {wanted} s, then it goes back" if wanted else "for good",
        "Since": record.at.isoformat(timespec="seconds"),
    }
    return [_plain(f"{name}: {value}", _FIELD) for name, value in facts.items()]


def _requester_says(motive: RecordedMotive | None) -> list[dict[str, Json]]:
    """The requester's own words, marked as such."""
    if motive is None or not (motive.text or motive.evidence):
        return []
    evidence = ", ".join(motive.evidence) or "none"
    text = f"The requester says: “{_cut(motive.text or '–', _WORDS)}” Evidence named: {_cut(evidence, _WORDS)}"
    return [{"type": "section", "text": _plain(text, _SECTION)}]


def _changes(effects: Sequence[RecordedEffect[Any]]) -> list[dict[str, Any]]:
    shown = change_lines(effects)
    of = "" if shown.whole else f", the first of {len(effects)}, not all of it shown"
    return [_code(f"What it changes{of}", shown.text)] if effects else []


def _call(call: RecordedCall) -> dict[str, Any]:
    shown = call_lines(call)
    return _code("What is sent" if shown.whole else "What is sent, not all of it shown", shown.text)


def _listed(title: str, lines: Sequence[str]) -> list[dict[str, Any]]:
    """A section with a title and the first lines; nothing without lines."""
    if not lines:
        return []
    of = f" ({len(lines)})" if len(lines) > _MOST else ""
    return [_code(title + of, code_text([_cut(str(line), _VALUE) for line in lines[:_MOST]])[:LONGEST_BLOCK])]


def _code(title: str, text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": f"*{title}*\n```{text}```"}}


def _why(finding: RecordedFinding) -> str:
    return f"{finding.rule}: {_cut(finding.reason, _WORDS)}"


def _who_may(rule: ApprovalRule) -> str:
    roles = " or ".join(" and ".join(wanted) for wanted in rule.roles)
    people = "A person" if rule.people == 1 else f"{rule.people} people"
    return f"{people} with the role {roles} may approve it; never the one who asks. An approval lets exactly this call pass, once."


def _ending(record: Record, no_buttons: str, closing: str, public_url: str) -> list[dict[str, Any]]:
    note = {
        "type": "context",
        "elements": [_plain(f"{record.mutation_id}: sentinel explain {record.mutation_id}", _FIELD)],
    }
    if closing or no_buttons:
        return [{"type": "section", "text": _plain(closing or no_buttons, _SECTION)}, note]
    field = {"type": "plain_text_input", "action_id": REASON, "max_length": LONGEST_REASON}
    reason = {
        "type": "input",
        "block_id": REASON,
        "optional": True,
        "label": _plain("Reason (needed to reject; recorded)", _HEADER),
        "element": field,
    }
    buttons = [_button("Approve", APPROVE, record), _button("Reject", REJECT, record)]
    if public_url:
        link = f"{public_url.rstrip('/')}/console/mutations/{record.mutation_id}"
        buttons.append({"type": "button", "action_id": "open", "text": _plain("Open", 20), "url": link})
    return [reason, {"type": "actions", "block_id": "decide", "elements": buttons}, note]


def _button(text: str, action: str, record: Record) -> dict[str, Any]:
    """A button that asks again before it acts. None is preselected by its style."""
    confirm = {
        "title": _plain(f"{text} it?", 90),
        "text": _plain(f"{text} exactly this call of {record.actor}. It is recorded under your own name.", 290),
        "confirm": _plain(text, 25),
        "deny": _plain("Cancel", 25),
    }
    shown = {"type": "button", "action_id": action, "text": _plain(text, 20), "value": record.mutation_id}
    return {**shown, "confirm": confirm}


def _plain(text: str, most: int) -> dict[str, Json]:
    """Text in which Slack interprets nothing."""
    return {"type": "plain_text", "text": _cut(visible(text), most), "emoji": False}


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
