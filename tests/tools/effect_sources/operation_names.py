"""Splits the name of an AWS operation into its verb, with the direction that the verb says, and the noun that it is about."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from gateway.effects.schema import folded, snake


class Direction(StrEnum):
    """What a verb does to the resource that its noun names."""

    CREATE = "create"
    PUT = "put"
    """Creates the resource, or replaces what is there."""
    SET = "set"
    DELETE = "delete"
    JOIN = "join"
    """Relates two resources: a resource of its own in some services, a change of one of the two in others."""
    PART = "part"
    """Ends such a relation."""
    INVOKE = "invoke"
    BEGIN = "begin"
    """Makes a new execution or job, or starts a resource that exists."""
    COPY = "copy"
    """Makes a resource from something else."""
    OTHER = "other"
    """A verb that is not in the table: it acts on something, in a way that its name does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationName:
    """The parts of an operation's name."""

    verb: str
    direction: Direction
    noun: str
    """Folded as `fold` does it."""


VERBS = {
    Direction.CREATE: "Create Allocate Provision BatchCreate",
    Direction.PUT: "Put BatchPut Upsert",
    Direction.SET: (
        "Update Modify Set Change Edit Configure Rename Move Upgrade BatchUpdate Tag Untag Replace Reset "
        "Increase Decrease Assign Unassign Apply"
    ),
    Direction.DELETE: "Delete BatchDelete Deregister Terminate Release Deallocate Deprovision",
    Direction.JOIN: "Associate Attach Add Enable Register Authorize Subscribe Grant BatchAssociate Link Join",
    Direction.PART: (
        "Disassociate Dissociate Deauthorize Detach Remove Disable Revoke Unsubscribe BatchDisassociate Unlink Leave Unregister"
    ),
    Direction.INVOKE: (
        "Stop Reboot Invoke Cancel Restart Resume Suspend Pause Retry Failover Accept Reject Send Abort Complete Activate "
        "Deactivate BatchStop BatchCancel Reload Rebuild Reinstall Rollback Abandon Skip Resend Redrive Unlock Lock Notify "
        "Promote Demote Switchover Test Respond Continue Approve Decline Acknowledge Purge Flush Signal Terminate Exit "
        "Confirm Verify Validate Finalize Close Open Archive Unarchive Ack Refresh Sync Withdraw Advertise Swap Undeploy"
    ),
    Direction.BEGIN: "Start Run Submit Publish Execute Export Generate Launch BatchStart Deploy Initiate",
    Direction.COPY: "Import Copy Restore Clone Request",
}
"""The verbs of each direction. `Terminate` ends instances, which is a deletion: the first direction that names a verb counts."""

_DIRECTIONS: dict[str, Direction] = {}
for _direction, _verbs in VERBS.items():
    for _verb in _verbs.split():
        _DIRECTIONS.setdefault(_verb, _direction)

_VERB = re.compile(rf"({'|'.join(sorted(_DIRECTIONS, key=len, reverse=True))})(?=[A-Z0-9]|$)")


_WORD = re.compile(r"[A-Z]+[a-z0-9]*")


def split(name: str) -> OperationName:
    """The parts of the name: `UpdateStateMachine` is a SET of a `statemachine`. What administrators do has the same verbs."""
    name = name.removeprefix("Admin")
    found = _VERB.match(name)
    if found is not None:
        return OperationName(verb=found[1], direction=_DIRECTIONS[found[1]], noun=fold(name[found.end() :]))
    word = _WORD.match(name)
    end = word.end() if word else len(name)
    return OperationName(verb=name[:end], direction=Direction.OTHER, noun=fold(name[end:]))


@cache
def fold(name: str) -> str:
    """A name without case, separators and plurals, so that names of AWS, CloudFormation, IAM and Terraform compare."""
    words = re.sub(r"[^A-Za-z0-9]+", "_", name)
    return "".join(folded(_singular(word)) for word in snake(words).split("_"))


def _singular(word: str) -> str:
    return f"{word[:-3]}y" if word.endswith("ies") else word
