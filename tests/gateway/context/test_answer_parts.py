"""The parts of answers: contracts as their owners wrote them, holders of dependants, history without another's words."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.context.answer_parts import (
    code_sources,
    dependant_entry,
    header,
    history_entry,
    holder_of,
    left_off,
    live_target,
    motive_words,
    signal_entry,
    written_names,
)
from gateway.context.health import ReadStatus
from gateway.context.lookup import resource_at
from gateway.context.ports import KnownResource, SentChange
from gateway.core.model.caller import ActorKind, Caller
from gateway.core.model.facts import Dependant
from gateway.core.model.motive import Intent, Motivation, Motive
from gateway.core.model.signal import Signal, SignalState
from tests.kit import nouns
from tests.kit.context_reader import claim
from tests.kit.doubles import AGENT, HUMAN, NOW
from tests.kit.stacks import GROUP, KAFKA, Source, load

STACKS = load(Source(path=KAFKA))
CHANGE = SentChange(
    seq=4,
    at=NOW,
    mutation_id="mut_1",
    actor="rival",
    kind="agent",
    on_behalf_of="",
    outcome="applied",
    operation="autoscaling:SetDesiredCapacity",
    motive={"intent": "cost", "motivation": "budget", "text": "private", "evidence": ["T-1"]},
    changes=({"attribute": "desired_capacity", "action": "set", "value": 4, "before": 6},),
)


def test_the_head_says_what_the_owner_allows() -> None:
    head = header(resource_at(STACKS, GROUP))
    assert (head["resource_type"], head["stack"], head["mode"]) == ("aws_autoscaling_group", "kafka", "enforce")
    assert (head["contract"]["owner"], head["contract"]["managed_by_agent"]) == ("team-streaming", True)
    assert (head["contract"]["allow_delete"], head["contract"]["allow_invoke"]) == (False, [])
    table = header(resource_at(STACKS, "aws_dynamodb_table.offsets"))["contract"]
    assert (table["critical"], table["prevent_delete"], table["managed_by_agent"]) == (True, True, False)
    bare = header(resource_at(STACKS, "aws_iam_role.rebalancer"))["contract"]
    assert (bare["source"], bare["allow_delete"]) == ("", False)


def test_a_dependant_names_its_holders() -> None:
    dependant = Dependant(address="aws_lb.a", direct=True, critical=True)
    entry = dependant_entry(dependant, KnownResource(claims=(claim("x", "aws_lb.a"), claim())), AGENT)
    assert [(each["attribute"], each["holder"]) for each in entry["claims"]] == [("x", "rival")]
    assert (entry["direct"], entry["critical"]) == (True, True)


def test_anothers_words_are_for_people_and_for_itself() -> None:
    assert history_entry(CHANGE, AGENT)["motive"] == {"intent": "cost", "motivation": "budget"}
    assert history_entry(CHANGE, HUMAN)["motive"]["text"] == "private"
    assert history_entry(replace(CHANGE, actor="agent"), AGENT)["motive"]["text"] == "private"
    assert history_entry(replace(CHANGE, motive=None), AGENT)["motive"] is None
    assert history_entry(CHANGE, AGENT)["changes"][0]["before"] == 6


def test_a_signal_is_named_as_evidence_names_it() -> None:
    signal = Signal(
        id="sig_1", source="am", key="k", name="Lag", state=SignalState.OPEN, at=NOW, since=NOW, heard_at=NOW
    )
    assert signal_entry(signal) == {"id": "sig_1", "source": "am", "name": "Lag", "since": "2026-11-21T00:00:00Z"}


def test_the_target_of_a_live_read_is_what_the_state_records() -> None:
    target = live_target(resource_at(STACKS, GROUP))
    assert (target.address, target.recorded["name"]) == (GROUP, "kafka-consumer-processor-asg")


def test_the_names_in_the_code_include_blocks() -> None:
    names = written_names(STACKS.all[0], GROUP)
    assert {"launch_template", "desired_capacity"} <= names
    assert "lifecycle" not in names
    assert written_names(STACKS.all[0], "aws_sqs_queue.none") == frozenset()


def test_a_stack_whose_newer_version_is_broken_is_said_to_be(tmp_path: Path) -> None:
    for file in KAFKA.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "modules").symlink_to(KAFKA / "modules")
    stacks = load(Source(path=tmp_path))
    assert [each.status for each in code_sources(stacks, "kafka", HUMAN)] == [ReadStatus.OK, ReadStatus.OK]
    (tmp_path / "main.tf").write_text("resource {")
    stacks.refresh()
    broken, _ = code_sources(stacks, "kafka", HUMAN)
    assert broken.status is ReadStatus.FAILED
    assert "main.tf" in broken.error
    hidden, _ = code_sources(stacks, "kafka", AGENT)
    assert (hidden.status, hidden.error) == (
        ReadStatus.FAILED,
        "The last valid version is shown. Only people and pipelines see why a newer one cannot be loaded.",
    ), "it would quote code and paths"
    assert code_sources(stacks, "other", HUMAN)[0].status is ReadStatus.OK


def test_what_is_left_out_is_a_sentence() -> None:
    assert left_off(3, "claims", "Ask.") == "3 more claims are not shown. Ask."
    assert left_off(0, "claims", "Ask.") == left_off(-4, "claims", "Ask.") == ""


MOTIVE = Motive(intent=Intent.COST, motivation=Motivation.BUDGET, text="private words", evidence=("T-1",))
CLAIM = nouns.claim(
    "aws_lb.a", "idle_timeout", 5, actor="rival", motive=MOTIVE, since=NOW, until=NOW + timedelta(hours=1)
)


def test_everybody_is_told_who_why_and_until_when() -> None:
    shown = holder_of(CLAIM, AGENT)
    assert shown == {
        "holder": "rival",
        "kind": "agent",
        "intent": "cost",
        "motivation": "budget",
        "since": "2026-11-21T00:00:00Z",
        "until": "2026-11-21T01:00:00Z",
        "unsettled": False,
        "mutation_id": "mut_1",
    }


@pytest.mark.parametrize("caller", [HUMAN, Caller(actor="rival", kind=ActorKind.AGENT, key_id="k")])
def test_people_and_the_holder_see_the_text(caller: Caller) -> None:
    assert (holder_of(CLAIM, caller)["text"], holder_of(CLAIM, caller)["evidence"]) == ("private words", ["T-1"])


def test_no_motive_has_no_words() -> None:
    assert motive_words(None) == {"intent": "", "motivation": ""}
