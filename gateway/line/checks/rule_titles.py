"""Gives each finding the title of its rule, and where the rule is written."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from gateway.core.model.verdict import Finding, RuleText

_BUILT_IN: Mapping[str, str] = {
    "alarms.set_off": "What sets off an alarm that acts",
    "approval.outdated": "An approval that no longer fits",
    "approval.rejected": "A call that a human has rejected",
    "bounds.cidr_within": "An address outside the permitted ranges",
    "bounds.condition": "A condition of the code",
    "bounds.delete_not_allowed": "A deletion that the contract does not grant agents",
    "bounds.forbid_world": "Open to the world",
    "bounds.immutable": "An attribute that only code may set",
    "bounds.immutable_skeleton": "A resource that agents may not touch",
    "bounds.invoke_not_allowed": "An operation that the contract does not grant agents",
    "bounds.matches": "A text that does not match the pattern",
    "bounds.max": "A value above its maximum",
    "bounds.max_items": "Too many items",
    "bounds.max_step": "A step that is too large",
    "bounds.min": "A value below its minimum",
    "bounds.not_mutable": "An attribute that the contract does not grant agents",
    "bounds.not_understood": "A call whose effects are not known",
    "bounds.one_of": "A value that is not among the permitted ones",
    "bounds.ports": "A port that is not permitted",
    "bounds.prevent_delete": "A resource that may not be deleted",
    "bounds.undeclared": "A resource that no code declares",
    "bounds.undeclared_create": "A new resource that no code declares",
    "bounds.unforeseeable": "A value that only AWS knows",
    "dependencies.critical": "Critical resources depend on it",
    "dependencies.in_use": "Other resources depend on what is deleted",
    "derived_rows.class": "A call of a class that needs a hand-made row",
    "derived_rows.identity": "A change of identity that needs a hand-made row",
    "derived_rows.resource": "Only the resource is known",
    "fairness.claims": "Too many claims for one motivation",
    "fairness.size": "More than a whole budget",
    "never.by_proxy": "A call that its caller may not make itself",
    "never.credential": "Credentials are not handed out",
    "never.ground_truth": "What Sentinel decides by is its own",
    "never.stopped": "A person stopped such changes",
    "never.survey": "The facts could not be gathered",
    "never.unsendable": "A call that cannot be sent",
    "plan.claimed_since": "Claimed after the plan was judged",
    "plan.no_changes": "A plan that changes nothing",
    "plan.not_planned": "A call that the plan does not explain",
    "quarantine.foreign": "A resource that was changed past Sentinel",
    "session.scope": "What the session of the call was limited to",
    "time_box.no_way_back": "A change for a time that could not be put back",
    "time_box.other_effects": "A way back that changes something else",
    "upload.unknown_content": "An upload whose content is not known",
}
"""Titles of the rules that are built into Sentinel. The rules of policies have theirs in METADATA."""


def built_in_rules() -> Mapping[str, RuleText]:
    """The rules that are built into Sentinel, by id."""
    return {rule: RuleText(title) for rule, title in _BUILT_IN.items()}


def titled(findings: Sequence[Finding], rules: Mapping[str, RuleText]) -> tuple[Finding, ...]:
    """The findings with title and place, as far as they are known. A place that a finding has already stays."""
    found = list(findings)
    for place, finding in enumerate(findings):  # most say that a check has nothing against it, which has no title
        if text := rules.get(finding.rule):
            found[place] = replace(finding, title=text.title, source=finding.source or text.source)
        elif title := _BUILT_IN.get(finding.rule, ""):
            found[place] = replace(finding, title=title)
    return tuple(found)
