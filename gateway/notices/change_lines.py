"""Makes the lines that show the changes of a held call, and says whether they show all of them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.core.model.consequence import consequence
from gateway.core.model.mutation import EffectAction
from gateway.core.records.decided import RecordedCall, RecordedEffect
from gateway.core.texts import visible

MOST_LINES: Final = 10
LONGEST_BLOCK: Final = 2_700
"""Characters of the lines together, as Slack counts them; it refuses a section with more than 3,000."""
_VALUE: Final = 300
"""Characters of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeLines:
    """One line for each effect."""

    text: str
    whole: bool
    """Whether nothing was left out."""


def change_lines(effects: Sequence[RecordedEffect[Any]]) -> ChangeLines:
    """The first effects, as `address.attribute: before → value`."""
    lines = [_change(effect) for effect in effects]
    text = code_text(lines[:MOST_LINES])
    long = any(len(_json(value)) > _VALUE for effect in effects for value in (effect.before, effect.value))
    return ChangeLines(
        text=text[:LONGEST_BLOCK], whole=len(lines) <= MOST_LINES and len(text) <= LONGEST_BLOCK and not long
    )


def call_lines(call: RecordedCall) -> ChangeLines:
    """The parameters of the call as they are sent, with secrets masked: effects alone do not say what an action does."""
    text = code_text(json.dumps(call.parameters, ensure_ascii=False, indent=1).split("\n"))
    return ChangeLines(text=text[:LONGEST_BLOCK], whole=len(text) <= LONGEST_BLOCK)


def code_text(lines: Sequence[str]) -> str:
    """The lines as text in a block of code: control characters as escapes, nothing that ends the block or that Slack interprets."""
    plain = (visible(line).replace("`", "'").replace("\n", " ") for line in lines)
    return without_links("\n".join(plain))


def without_links(text: str) -> str:
    """The text for where Slack interprets it: what others wrote mentions nobody and places no link under other words."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _change(effect: RecordedEffect[Any]) -> str:
    where = f"{effect.address}.{effect.attribute}"
    if effect.action is not EffectAction.SET:
        return f"{effect.action} {where}: {consequence(effect.action, effect.attribute)}"
    return f"{where}: {_value(effect, effect.before)} → {_value(effect, effect.value)}"


def _value(effect: RecordedEffect[Any], value: Any) -> str:
    text = "(secret)" if effect.sensitive else _json(value)
    return text if len(text) <= _VALUE else f"{text[:_VALUE]}…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
