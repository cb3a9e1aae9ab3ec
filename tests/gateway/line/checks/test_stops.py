"""A stopped change is denied, in observe mode too, with the reason and the person to ask."""

from dataclasses import replace

from gateway.core.model.stop import StopScope
from gateway.core.model.verdict import Decision, Mode, Verdict
from gateway.line.checks.stops import StopsCheck
from tests.gateway.core.model.test_facts import FACTS, MUTATION
from tests.gateway.core.model.test_stop import STOP


async def test_what_is_not_stopped_passes() -> None:
    other = replace(STOP, scope=StopScope.ACTOR, name="somebody else")
    found = (await StopsCheck().examine(MUTATION, replace(FACTS, stops=(other,)))).findings
    assert [each.verdict for each in found] == [Verdict.ALLOW]


async def test_each_stop_that_is_about_it_denies() -> None:
    stops = (STOP, replace(STOP, id="stp_2", scope=StopScope.ACTOR, name="bot", by="ana"))
    found = (await StopsCheck().examine(MUTATION, replace(FACTS, stops=stops))).findings
    assert [(each.verdict, each.rule, each.reason) for each in found] == [
        (Verdict.DENY, "never.stopped", stop.sentence) for stop in stops
    ]
    assert [each.offer and each.offer.holder for each in found] == ["chief", "ana"]
    assert not Decision(findings=found, mode=Mode.OBSERVE, approval="apr_1").carried_out
