"""Answers about resources: every member, capped lists with a sentence, health on each, nothing to agents that others alone may see."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from gateway.context.lookup import ResourceQuery
from gateway.context.ports import HistoryQuery, KnownResource, SentChange
from gateway.context.reader import MOST_APPLIED, DriftQuery, find_applied_drift
from gateway.core.errors import NotFound
from gateway.core.model.signal import Signal, SignalState
from gateway.terraform.stacks import Stacks
from tests.kit.context_reader import ContextLedgerDouble, LiveDouble, applied, claim, reader
from tests.kit.doubles import AGENT, HUMAN, NOW
from tests.kit.stacks import GROUP, KAFKA, Source, load

SIGNAL = Signal(id="sig_1", source="am", key="k", name="Lag", state=SignalState.OPEN, at=NOW, since=NOW, heard_at=NOW)
MEMBERS = {
    "address", "resource_type", "stack", "mode", "source", "identity", "contract", "attributes", "attributes_left_off",
    "dependants", "dependants_left_off", "needs", "needs_left_off", "code", "signals", "data_health",
}  # fmt: skip


def change(seq: int) -> SentChange:
    return SentChange(
        seq=seq,
        at=NOW,
        mutation_id=f"mut_{seq}",
        actor="rival",
        kind="agent",
        on_behalf_of="",
        outcome="applied",
        operation="a:B",
        motive=None,
        changes=(),
    )


async def test_a_context_has_every_member_and_asks_for_its_dependants_claims() -> None:
    ledger = ContextLedgerDouble(KnownResource(claims=(claim(), claim("x", "aws_autoscaling_policy.scale_up_lag"))))
    answer = await reader(ledger).context(AGENT, GROUP)
    assert answer.keys() == MEMBERS
    [(addresses, others, flips_from)] = ledger.asked
    assert addresses == (GROUP,)
    assert "aws_autoscaling_policy.scale_up_lag" in others
    assert flips_from == NOW - timedelta(hours=1)
    by_name = {each["attribute"]: each for each in answer["attributes"]}
    assert by_name["desired_capacity"]["claim"]["holder"] == "rival"
    assert "x" not in by_name
    held = next(each for each in answer["dependants"] if each["address"] == "aws_autoscaling_policy.scale_up_lag")
    assert (held["direct"], held["claims"][0]["holder"]) == (True, "rival")


async def test_one_attribute_alone() -> None:
    answer = await reader(live=LiveDouble()).context(AGENT, GROUP, "max_size")
    assert [each["attribute"] for each in answer["attributes"]] == ["max_size"]
    assert answer["data_health"]["refresh_with"].endswith("attribute=max_size&max_age_seconds=0")


async def test_live_values_are_read_once_for_an_answer_and_their_age_is_told() -> None:
    live = LiveDouble({"desired_capacity": 7})
    answer = await reader(live=live).context(AGENT, GROUP, max_age=10)
    assert len(live.targets) == 1
    assert answer["attributes"][0]["live"] == {"value": 7, "read_at": "2026-11-21T00:00:00Z", "status": "ok"}
    health = answer["data_health"]
    assert (health["age_seconds"], health["within_requested_age"]) == (0, True)
    assert {each["name"]: each["status"] for each in health["sources"]}["live"] == "ok"


async def test_a_resource_that_cannot_be_read_live_has_no_request_that_would() -> None:
    answer = await reader(live=LiveDouble()).context(AGENT, "aws_dynamodb_table.offsets", max_age=10)
    health = answer["data_health"]
    assert (health["refresh_with"], health["within_requested_age"]) == ("", False)
    assert "Not this type." in str(health["sources"])


async def test_signals_are_for_people_and_agents_are_told_that_they_are_not_shown() -> None:
    given = reader(signals=[SIGNAL])
    people, agents = await given.context(HUMAN, GROUP), await given.context(AGENT, GROUP)
    assert [each["id"] for each in people["signals"]] == ["sig_1"]
    assert agents["signals"] == []
    status = {each["name"]: each["status"] for each in agents["data_health"]["sources"]}
    assert status["signals"] == "not_shown"


async def test_what_is_not_there_is_not_found() -> None:
    with pytest.raises(NotFound):
        await reader().context(AGENT, "aws_sqs_queue.none")
    with pytest.raises(NotFound):
        await reader().history(AGENT, "aws_sqs_queue.none", HistoryQuery())


async def test_resources_are_listed_page_by_page() -> None:
    first = await reader().resources(AGENT, ResourceQuery(limit=2))
    assert (len(first["resources"]), bool(first["left_off"])) == (2, True)
    second = await reader().resources(AGENT, ResourceQuery(limit=500, after=first["next_after"]))
    assert (second["next_after"], second["left_off"]) == ("", "")
    assert not {each["address"] for each in first["resources"]} & {each["address"] for each in second["resources"]}
    assert first["data_health"]["code_revision"]


async def test_the_history_says_where_it_goes_on() -> None:
    ledger = ContextLedgerDouble(changes=[change(9), change(7), change(5)])
    answer = await reader(ledger).history(AGENT, GROUP, HistoryQuery(limit=2))
    assert [each["seq"] for each in answer["history"]] == [9, 7]
    assert (answer["next_before_seq"], "before_seq" in answer["left_off"]) == (7, True)
    last = await reader(ledger).history(AGENT, GROUP, HistoryQuery(limit=3))
    assert (last["next_before_seq"], last["left_off"]) == (0, "")


async def test_drift_is_filtered_by_cause_and_stack_and_says_that_nobody_looks() -> None:
    given = reader(ContextLedgerDouble(values=[applied("max_size", 9)]))
    foreign = [{"stack": "kafka", "cause": "foreign"}, {"stack": "other", "cause": "foreign"}]

    async def causes(**query: str) -> list[str]:
        return [each["cause"] for each in (await given.drift(HUMAN, foreign, DriftQuery(**query)))["drift"]]

    assert await causes() == ["foreign", "foreign", "applied"]
    assert await causes(stack="kafka") == ["foreign", "applied"]
    assert await causes(cause="applied") == ["applied"]
    assert await causes(cause="foreign", stack="other") == ["foreign"]
    health = (await given.drift(HUMAN, foreign, DriftQuery()))["data_health"]
    assert {each["name"]: each["status"] for each in health["sources"]}["drift"] == "not_read"


@pytest.mark.parametrize(
    ("seeks", "looked", "says"),
    [
        (False, {}, "Nobody has ever looked for changes from outside of kafka, and nothing looks"),
        (True, {}, "the reconciler has not finished its first look"),
        (False, {"kafka": NOW}, "Nothing looks for changes from outside any more"),
        (True, {"kafka": NOW}, ""),
    ],
)
async def test_no_drift_is_told_from_nobody_looked(seeks: bool, looked: dict[str, datetime], says: str) -> None:
    given = replace(reader(), seeks_drift=seeks)
    answer = await given.drift(HUMAN, [], DriftQuery(), looked)
    [source] = [each for each in answer["data_health"]["sources"] if each["name"] == "drift"]
    assert says in source["error"]
    assert (source["error"] == "") is (source["status"] == "ok") is (says == "")
    assert answer["looked"] == {"kafka": "2026-11-21T00:00:00Z" if looked else None}


def test_the_health_of_the_ledger_alone() -> None:
    assert [each["name"] for each in reader().ledger_health()["sources"]] == ["ledger"]


@pytest.fixture(scope="module")
def stacks() -> Stacks:
    return load(Source(path=KAFKA))


async def test_only_what_the_code_does_not_declare_is_drift(stacks: Stacks) -> None:
    declared = stacks.declared_value(GROUP, "desired_capacity")
    values = [
        applied("*", None),
        applied("desired_capacity", declared),
        applied("max_size", 9, branch="sentinel/kafka", commit="c0ffee"),
        applied("delay", 1, "aws_sqs_queue.gone"),
    ]
    [found], more = await find_applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery())
    assert not more
    assert found.to_json(AGENT) == {
        "cause": "applied",
        "since": "2026-11-21T00:00:00Z",
        "stack": "kafka",
        "address": GROUP,
        "attribute": "max_size",
        "live": 9,
        "declared": 16,
        "sensitive": False,
        "origin": {"mutation_id": "mut_1"},
        "proposal": {"branch": "sentinel/kafka", "commit": "c0ffee"},
    }
    assert (await find_applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery(stack="other")))[0] == []


async def test_what_the_provider_adds_at_a_clean_apply_is_no_difference(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "aws_sqs_queue" "jobs" {\n  name = "jobs"\n}\n')
    resource = {
        "mode": "managed",
        "type": "aws_sqs_queue",
        "name": "jobs",
        "provider": 'provider["registry.terraform.io/hashicorp/aws"]',
        "instances": [{"attributes": {"name": "jobs", "delay_seconds": 0, "tags": None, "max_message_size": 2048}}],
    }
    state = {"version": 4, "serial": 1, "lineage": "l", "resources": [resource]}
    (tmp_path / "terraform.tfstate").write_text(json.dumps(state))
    loaded = load(Source(path=tmp_path))
    queue = "aws_sqs_queue.jobs"
    values = [
        applied("delay_seconds", 0, queue),
        applied("fifo_queue", True, queue),
        applied("max_message_size", 1024, queue),
        applied("policy", "", queue),
        applied("tags", {}, queue),
    ]
    found, _ = await find_applied_drift(loaded, ContextLedgerDouble(values=values), DriftQuery())
    assert [each.applied.attribute for each in found] == ["fifo_queue", "max_message_size"]


async def test_a_long_list_is_cut_and_says_so(stacks: Stacks) -> None:
    values = [applied(f"tag.{number:05}", number) for number in range(2_500)]
    found, more = await find_applied_drift(stacks, ContextLedgerDouble(values=values), DriftQuery())
    assert (len(found), more) == (MOST_APPLIED, True)
