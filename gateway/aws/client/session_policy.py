"""The policy of a session that is for one call: its action and its resources, and nothing else.

What a session may do is the intersection of its policy with that of the assumed role, so a policy only ever narrows. Where the resources are not
known, the action alone is allowed, and the record of the mutation says so.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gateway.aws.models.session_actions import SessionAction, SessionActions
from gateway.core.errors import NotSendable
from gateway.core.model.mutation import Call
from gateway.core.texts import names_in, texts_in
from gateway.identity.roles import matches

LONGEST: Final = 2048
"""Characters of a session policy that AWS takes. Together with the tags it is packed, and that may be too much for AWS, too."""
_VARIABLE: Final = re.compile(r"\$\{\w+\}")
_ROLE: Final = re.compile(r"arn:aws(?:-[a-z]+)*:iam::\d{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}")
_PASSES: Final = "iam:PassRole"
_KMS: Final = (
    "kms:CreateGrant",
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey*",
    "kms:ReEncrypt*",
)
"""What AWS's services do with a key in the name of who calls them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPolicy:
    """A policy, and what it says in words."""

    document: str
    scope: str
    """For the record of the mutation."""


def session_policy(call: Call, arns: Sequence[str], actions: SessionActions) -> SessionPolicy:
    """The policy for this call, whose resources have these ARNs; none if one of them is not known.

    Raises `errors.NotSendable` if IAM's action for the operation is not known: a session for it could not be narrowed.
    """
    needed = actions.of(call.service, call.operation)
    if needed is None:
        raise NotSendable(
            f"Sentinel does not know IAM's action for {call.service}:{call.operation}, so no session can be limited to it; nothing was sent. "
            "Its sessions are switched off by `upstream.session_per_mutation`."
        )
    resources, why = _resources(needed, arns)
    besides = list(_besides(call, needed, actions))
    document = _document(needed.action, resources, besides)
    if len(document) > LONGEST and resources:
        why = f"its {len(resources)} resources make the policy longer than the {LONGEST} characters that AWS takes"
        resources, document = (), _document(needed.action, (), besides)
    if len(document) > LONGEST:
        raise NotSendable(
            f"The policy of a session for {call.service}:{call.operation} would have {len(document)} characters, and AWS takes {LONGEST}; "
            "nothing was sent. Split the call."
        )
    named = f"on {', '.join(resources)[:400]}" if resources else f"on any resource, since {why}"
    more = f", with {', '.join(action for action, _ in besides)[:400]} for it" if besides else ""
    return SessionPolicy(document=document, scope=f"The session was for {needed.action} {named}{more}.")


def _resources(needed: SessionAction, arns: Sequence[str]) -> tuple[Sequence[str], str]:
    """The resources that the policy names, or none and why."""
    if not needed.arn:
        return (), "its action is about none, or about several types"
    template = _VARIABLE.sub("*", needed.arn)
    if not arns:
        return (), "no state records the ARNs of all of them"
    if not all(matches(arn, (template,)) for arn in arns):
        return (), "their ARNs are not of the type that the action is about"
    found = sorted(set(arns))
    # A function is called with its version or alias behind its name.
    return ([*found, *(f"{arn}:*" for arn in found)] if needed.action.startswith("lambda:") else found), ""


def _besides(call: Call, needed: SessionAction, actions: SessionActions) -> Iterator[tuple[str, Sequence[str]]]:
    """The other actions that AWS asks for with this call, each with its resources; none stands for any."""
    more = {action for action in needed.more if action != _PASSES}
    names = {name.lower() for name in names_in(call.parameters)}
    if any(name.startswith("tag") for name in names):
        more.update(actions.tagging_of(needed.action))
    if any("kms" in name or name == "ssekeyid" for name in names):
        more.update(_KMS)
    yield from ((action, ()) for action in sorted(more - {needed.action}))
    roles = sorted({role for text in texts_in(call.parameters) for role in _ROLE.findall(text)})
    if roles or _PASSES in needed.more or any("instanceprofile" in name for name in names):
        yield _PASSES, roles


def _document(action: str, resources: Sequence[str], besides: Sequence[tuple[str, Sequence[str]]]) -> str:
    open_actions = [name for name, named in besides if not named]
    statements = [_statement([action], resources)]
    if open_actions:
        statements.append(_statement(open_actions, ()))
    statements += [_statement([name], named) for name, named in besides if named]
    return json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))


def _statement(actions: Sequence[str], resources: Sequence[str]) -> dict[str, Any]:
    return {
        "Effect": "Allow",
        "Action": actions[0] if len(actions) == 1 else list(actions),
        "Resource": "*" if not resources else resources[0] if len(resources) == 1 else list(resources),
    }
