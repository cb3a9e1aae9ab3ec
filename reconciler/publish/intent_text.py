"""The comment that shows a model's words for a burst of changes from outside, marked as such."""

from collections.abc import Sequence

from gateway.model.ids import digest_id
from reconciler.publish.pull_request_text import Written, code
from reconciler.suggest.burst import ChangedOutside, NamedIntent

_FEWEST = 2
"""Changes from outside that are a burst."""


def burst_of(written: Sequence[Written]) -> tuple[ChangedOutside, ...]:
    """The changes from outside among write-backs; none if there are too few for a burst."""
    found = tuple(change for each in written for change in _outside(each))
    return found if len(found) >= _FEWEST else ()


def intent_marker(written: Sequence[Written]) -> str:
    """The beginning of the comment about just these changes from outside."""
    keys = sorted(each.key for each in written if _outside(each))
    return f"<!-- sentinel:intent {digest_id('prp', *keys)} -->"


def intent_comment(marker: str, count: int, named: NamedIntent) -> str:
    """The comment. The words stand in code spans, where nothing of them has a meaning."""
    goal = f"{code(named.intent)}: " if named.intent else ""
    return (
        f"{marker}\n**Perhaps why** {count} of these values were changed outside of Sentinel: {goal}{code(named.summary)}\n\n"
        "These are a language model's words about the list of changes. They are no record, nobody stated them, and nothing was "
        "decided by them."
    )


def _outside(written: Written) -> tuple[ChangedOutside, ...]:
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
