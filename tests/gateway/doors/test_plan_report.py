"""The report of a plan: whole for people, without others' motives for agents."""

from gateway.doors.plan_report import plan_report
from tests.gateway.test_plan_record import verdict


def test_people_see_the_claim_and_agents_only_who_holds_it() -> None:
    people, agents = plan_report(verdict(1), sees_all=True), plan_report(verdict(1), sees_all=False)
    assert (people["claims"][0]["value"], people["passes"], people["plan"]["effects"]) == ("claimed-value", False, 1)
    assert (agents["claims"][0]["value"], agents["claims"][0]["motive"], agents["claims"][0]["holder"]) == (
        None,
        None,
        "other",
    )
    assert [each["rule"] for each in agents["decision"]["findings"]] == ["bounds.max"]
