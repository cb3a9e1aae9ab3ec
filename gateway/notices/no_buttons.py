"""Why a held call has no buttons in a chat: what gives rights for long is decided where the person signs in."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from gateway.notices.change_lines import change_lines

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


def no_buttons_reason(summary: Mapping[str, Any], longest: timedelta) -> str:
    """Why this held call may not be approved from a chat, as a sentence; empty if it may.

    What has no effect that we know, or is not shown whole, may not either: nobody could see what it is.
    """
    effects: Sequence[Mapping[str, Any]] = summary.get("effects") or ()
    if "cut" in summary or not (summary.get("call") or {}).get("whole") or not change_lines(effects).whole:
        return f"Not all of this call can be shown here. {ELSEWHERE}"
    if not effects:
        return f"What this call changes is not known. {ELSEWHERE}"
    if not any(_gives_rights(effect) for effect in effects):
        return ""
    wanted = (summary.get("motive") or {}).get("wanted_seconds")
    if isinstance(wanted, int | float) and 0 < wanted <= longest.total_seconds():
        return ""
    hours = longest.total_seconds() / 3600
    return f"This changes rights for longer than {hours:g} hours, which is not decided in a chat. {ELSEWHERE}"


def _gives_rights(effect: Mapping[str, Any]) -> bool:
    kind, attribute = str(effect.get("resource_type", "")), str(effect.get("attribute", ""))
    first = attribute.partition(".")[0].partition("[")[0]
    return kind.startswith(RIGHTS) or kind.endswith(_ENDS) or first in _ATTRIBUTES
