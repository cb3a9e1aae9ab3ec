"""The card of a held change in Slack: the exact change, who asks and in whose words, why it is held, and who may decide.

What others wrote stands in plain text or in a code block, so that no name, tag or motive can mention people, place links or look like ours.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from gateway.model.json import Json
from gateway.model.masking import without_digests
from gateway.model.record import Record
from gateway.notices.change_lines import LONGEST_BLOCK, call_lines, change_lines, code_text, visible, without_links
from gateway.notices.no_buttons import no_buttons_reason

APPROVE: Final = "approve"
REJECT: Final = "reject"
REASON: Final = "reason"
"""The ids of the buttons and of the field, which come back with a click."""
LONGEST_REASON: Final = 1_000

_MOST: Final = 10
"""Reasons, dependants and claims that a card shows."""
_VALUE: Final = 260
_WORDS: Final = 500
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
    body: Any = without_digests(record.body)
    title = f"{body['call']['service']} {body['call']['operation']}"
    blocks = [
        {"type": "header", "text": _plain(f"{'Decided' if closing else 'Held'}: {title}", _HEADER)},
        {"type": "section", "fields": _who(record, body)},
        *_requester_says(body.get("motive")),
        *_changes(body["effects"]),
        _call(body["call"]),
        *_listed("Why it is held", [_why(each) for each in _objections(body["decision"])]),
        *_listed("Depends on it", list((body.get("facts") or {}).get("dependants") or ())),
        *_listed("Ends the claims", list(body["decision"].get("supersedes") or ())),
        {"type": "section", "text": _plain(_who_may(body["decision"].get("needs")), _SECTION)},
        *([{"type": "section", "text": _plain(note, _SECTION)}] if note else []),
        *_ending(record, no_buttons_reason(record.body, longest_grant), closing, public_url),
    ]
    return {"text": without_links(f"{title} by {record.actor} waits for a person."), "blocks": blocks}


def _who(record: Record, body: Mapping[str, Any]) -> list[Json]:
    caller, call, motive = body["caller"], body["call"], body.get("motive") or {}
    on_behalf = f" on behalf of {caller['on_behalf_of']}" if caller.get("on_behalf_of") else ""
    wanted = motive.get("wanted_seconds")
    facts = {
        "Asked by": f"{record.actor} ({caller['kind']}){on_behalf}",
        "Stack": record.stack or "none",
        "Account, region": f"{call['account'] or '–'}, {call['region'] or '–'}",
        "Goal, why now": f"{motive.get('intent', 'not stated')}, {motive.get('motivation', 'not stated')}",
        "Wanted": f"for {int(wanted)} s, then it goes back" if wanted else "for good",
        "Since": record.at.isoformat(timespec="seconds"),
    }
    return [_plain(f"{name}: {value}", _FIELD) for name, value in facts.items()]


def _requester_says(motive: Mapping[str, Any] | None) -> list[dict[str, Json]]:
    """The requester's own words, marked as such."""
    if not motive or not (motive.get("text") or motive.get("evidence")):
        return []
    evidence = ", ".join(str(each) for each in motive.get("evidence") or ()) or "none"
    text = (
        f"The requester says: “{_cut(str(motive.get('text') or '–'), _WORDS)}” Evidence named: {_cut(evidence, _WORDS)}"
    )
    return [{"type": "section", "text": _plain(text, _SECTION)}]


def _changes(effects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    made = change_lines(effects)
    of = "" if made.whole else f", the first of {len(effects)}, not all of it shown"
    return [_code(f"What it changes{of}", made.text)] if effects else []


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    made = call_lines(call)
    return _code("What is sent" if made.whole else "What is sent, not all of it shown", made.text)


def _listed(title: str, lines: Sequence[str]) -> list[dict[str, Any]]:
    """A section with a title and the first lines; nothing without lines."""
    if not lines:
        return []
    of = f" ({len(lines)})" if len(lines) > _MOST else ""
    return [_code(title + of, code_text([_cut(str(line), _VALUE) for line in lines[:_MOST]])[:LONGEST_BLOCK])]


def _code(title: str, text: str) -> dict[str, Any]:
    return {"type": "section", "text": {"type": "mrkdwn", "text": f"*{title}*\n```{text}```"}}


def _objections(decision: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in decision["findings"] if each["verdict"] != "allow"]


def _why(finding: Mapping[str, Any]) -> str:
    return f"{finding['rule']}: {_cut(str(finding['reason']), _WORDS)}"


def _who_may(needs: Mapping[str, Any] | None) -> str:
    rule = needs or {"roles": [["approver"]], "people": 1}
    roles = " or ".join(" and ".join(wanted) for wanted in rule["roles"])
    people = "A person" if rule["people"] == 1 else f"{rule['people']} people"
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
