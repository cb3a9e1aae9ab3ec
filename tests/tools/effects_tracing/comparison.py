"""How the value of a parameter follows from the value of an attribute."""

import base64
import json
import re
from enum import IntEnum
from functools import lru_cache
from typing import Any, Final

from gateway.core.derived_rows import ValueForm
from tests.tools.effects_tracing.forms import MARKER

_LONGEST_COMPARED: Final = 200_000
_UNIQUE_PART: Final = re.compile(r"[0-9a-f]{6}|\d{4}")
_DATE: Final = re.compile(r"20\d\d-")


class Way(IntEnum):
    """The ways, the most certain first. Those after `ARN` say only that the parameter was made of the attribute, not how.

    Rows have a form for `PART` all the same: of the id, whose whole form tells how.
    """

    SAME = 0
    TEXT = 1
    CASE = 2
    JSON = 3
    DATE = 4
    BASE64 = 5
    NEGATED = 6
    ARN = 7
    TRIMMED = 8
    WITHIN = 9
    PART = 10

    @property
    def form(self) -> ValueForm | None:
        """The form that rows have for it; None if they have none."""
        return ValueForm[self.name] if self <= Way.ARN else None


@lru_cache(maxsize=1 << 17, typed=True)
def way(attribute: Any, parameter: Any) -> Way | None:
    """How `parameter` follows from `attribute`; None if it does not."""
    if isinstance(attribute, bool) and isinstance(parameter, bool):
        return Way.SAME if attribute == parameter else Way.NEGATED
    if isinstance(attribute, bool) or isinstance(parameter, bool):
        return Way.TEXT if str(attribute).lower() == str(parameter).lower() else None
    if isinstance(attribute, (int, float)) and isinstance(parameter, (int, float)):
        return Way.SAME if attribute == parameter else None
    if type(attribute) is type(parameter) and attribute == parameter:
        return Way.SAME
    made, given = str(attribute), str(parameter)
    if made == given:
        return Way.TEXT
    if len(made) < 4 or len(given) < 2 or len(given) > _LONGEST_COMPARED:
        return None
    return _made_of(made, given)


def _made_of(attribute: str, parameter: str) -> Way | None:
    if attribute.casefold() == parameter.casefold():
        return Way.CASE
    if (document := _document(attribute)) is not None and (other := _document(parameter)) is not None:
        return Way.JSON if document == other else None
    if _DATE.match(attribute) and re.sub(r"\D", "", parameter)[:8] == re.sub(r"\D", "", attribute)[:8]:
        return Way.DATE
    if parameter in (base64.b64encode(attribute.encode()).decode(), repr(attribute.encode())):
        return Way.BASE64
    if attribute.rstrip(".") == parameter.rstrip(".") or attribute.strip("/") == parameter.strip("/"):
        return Way.TRIMMED
    if is_unique(attribute) and attribute in parameter:
        named = parameter.startswith(("arn:", "https://", "http://"))
        return Way.ARN if named and re.search(rf"[/:]{re.escape(attribute)}$", parameter) else Way.WITHIN
    return Way.PART if MARKER.search(parameter) and len(parameter) > 6 and parameter in attribute else None


def is_unique(value: Any) -> bool:
    """Whether a value is a marker by itself, or one in base 64, so that no other attribute has it by chance."""
    if not isinstance(value, str) or len(value) < 7:
        return False
    return bool(_UNIQUE_PART.search(value)) or value.startswith(("{", "[")) or bool(MARKER.search(_plain(value)))


def _plain(value: str) -> str:
    """The text that a value is in base 64; empty if it is none."""
    try:
        return base64.b64decode(value, validate=True).decode()
    except ValueError:
        return ""


@lru_cache(maxsize=1 << 12)
def _document(text: str) -> Any:
    """The JSON object or list in a text; None if it is none."""
    if not text.startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None
