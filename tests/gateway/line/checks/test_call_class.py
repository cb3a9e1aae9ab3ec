"""Calls that hand out credentials are refused for every key; all others pass this check."""

from datetime import UTC, datetime

import pytest

from gateway.core.model.caller import ActorKind
from gateway.core.model.facts import Facts
from gateway.core.model.mutation import Call, CallClass
from gateway.core.model.verdict import Mode, Verdict
from gateway.line.checks.call_class import CallClassCheck
from tests.kit import nouns


@pytest.mark.parametrize("kind", ActorKind)
@pytest.mark.parametrize("call_class", CallClass)
async def test_only_credentials_are_refused(kind: ActorKind, call_class: CallClass) -> None:
    mutation = nouns.mutation(
        caller=nouns.caller("a", kind), call=Call(service="sts", operation="AssumeRole"), call_class=call_class
    )
    facts = Facts(now=datetime.now(UTC), stack="", mode=Mode.OBSERVE, subjects=())
    (finding,) = (await CallClassCheck().examine(mutation, facts)).findings
    if call_class is CallClass.CREDENTIAL:
        assert (finding.verdict, finding.rule, finding.absolute) == (Verdict.DENY, "never.credential", True)
        assert "sts:AssumeRole" in finding.reason
    else:
        assert finding.verdict is Verdict.ALLOW
