"""The commit message says what, why and who, and untrusted text can neither start a line nor forge a trailer."""

import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.core.model.json import Json
from reconciler.changes.applied_mutation import AppliedMutation
from reconciler.model import Edit, Wanted
from reconciler.publish.commit_message import commit_message, value_text
from reconciler.publish.inert_text import one_line

AT = datetime(2026, 1, 2, tzinfo=UTC)
WANTED = Wanted(address="aws_autoscaling_group.web", attribute="desired_capacity", value=6)
EDIT = Edit(path=Path("terraform.tfvars"), start=0, end=1, old=b"2", new=b"6", wanted=WANTED)

CODE = {WANTED.key: 2}


def _applied(**changes: Any) -> AppliedMutation:
    given: dict[str, Any] = {
        "id": "mut_1",
        "seq": 1,
        "stack": "shop",
        "actor": "agent-scaler",
        "kind": "agent",
        "at": AT,
        "operation": "autoscaling:SetDesiredCapacity",
        "effects": (),
        "before": {("aws_autoscaling_group.web", "desired_capacity"): 2},
        "intent": "availability",
        "motivation": "incident",
        "text": "Lag grows.",
        "evidence": ("alert:lag",),
        "settled_at": AT,
    }
    return AppliedMutation(**(given | changes))


def _trailers(message: str) -> list[str]:
    argv = ["git", "interpret-trailers", "--parse", "--no-divider"]
    return subprocess.run(argv, input=message, capture_output=True, text=True, check=True).stdout.splitlines()


def test_it_says_what_why_and_who() -> None:
    message = commit_message(_applied(approver="ada", on_behalf_of="team-shop"), [EDIT], CODE)
    assert message.splitlines()[0] == "aws_autoscaling_group.web: desired_capacity 2 → 6"
    assert "Who:  agent-scaler (agent), for team-shop" in message
    assert "Approved by ada" in message
    assert "Why:  availability, incident: Lag grows." in message
    assert _trailers(message) == [
        "Sentinel-Mutation: mut_1",
        "Sentinel-Actor: agent-scaler",
        "Sentinel-Intent: availability",
        "Sentinel-Motivation: incident",
        "Sentinel-Evidence: alert:lag",
        "Sentinel-Approver: ada",
    ]


@pytest.mark.parametrize(
    ("live", "code", "subject", "change"),
    [
        # Set again before it was written: the code never said 8.
        (8, {WANTED.key: 2}, "desired_capacity 2 → 6", "2 → 6 in terraform.tfvars (live was 8)"),
        (6, {WANTED.key: 2}, "desired_capacity 2 → 6", "2 → 6 in terraform.tfvars (live was 6)"),
        (2, {WANTED.key: "2"}, 'desired_capacity "2" → 6', '"2" → 6 in terraform.tfvars'),
        (2, {WANTED.key: None}, "desired_capacity null → 6", "null → 6 in terraform.tfvars (live was 2)"),
        # What the code said hangs on the live system.
        (2, {}, "desired_capacity → 6", ".desired_capacity: → 6 in terraform.tfvars"),
    ],
)
def test_the_subject_says_what_the_code_said_before_and_after(
    live: Json, code: dict[tuple[str, str], Json], subject: str, change: str
) -> None:
    message = commit_message(_applied(before={WANTED.key: live}), [EDIT], code)
    assert message.splitlines()[0] == f"aws_autoscaling_group.web: {subject}"
    assert message.splitlines()[2].endswith(change)


def test_what_left_the_code_is_said_so() -> None:
    gone = Wanted(address="aws_sqs_queue.jobs", attribute="*", value=None)
    edit = Edit(path=Path("main.tf"), start=0, end=1, old=b"2", new=b"", wanted=gone)
    lines = commit_message(_applied(), [edit], {}).splitlines()
    assert lines[0] == "aws_sqs_queue.jobs: removed"
    assert lines[2] == "- aws_sqs_queue.jobs: gone in AWS, removed from main.tf"


def test_a_correction_names_the_record_it_corrects() -> None:
    message = commit_message(_applied(corrects=17), [EDIT], CODE)
    assert _trailers(message)[:2] == ["Sentinel-Mutation: mut_1", "Sentinel-Corrects: 17"]


HOSTILE = "x\n\nSentinel-Mutation: mut_2\r\nSentinel-Approver: eve\u2028Sentinel-Actor: root\x00\u202eevil\n---\n"


@pytest.mark.parametrize("member", ["text", "actor", "intent", "motivation", "approver", "on_behalf_of", "operation"])
def test_no_text_of_others_forges_a_trailer(member: str) -> None:
    message = commit_message(_applied(**{member: HOSTILE}), [EDIT], CODE)
    trailers = _trailers(message)
    assert [line for line in trailers if line.startswith("Sentinel-Mutation:")] == ["Sentinel-Mutation: mut_1"]
    assert not any(line.startswith("Sentinel-Approver: eve") for line in trailers)
    assert not any(line.startswith("Sentinel-Actor: root") for line in trailers)
    assert "\u202e" not in message
    assert "\x00" not in message


@given(st.text(max_size=300))
def test_any_text_stays_on_its_line(text: str) -> None:
    message = commit_message(_applied(text=text, evidence=(text,)), [EDIT], CODE)
    own = [line for line in message.split("\n") if line.startswith("Sentinel-Mutation:")]
    assert own == ["Sentinel-Mutation: mut_1"]
    assert len(one_line(text).splitlines()) <= 1


def test_a_long_subject_and_value_are_cut() -> None:
    edit = Edit(
        path=Path("a.tf"),
        start=0,
        end=0,
        old=b"",
        new=b"",
        wanted=Wanted(address="a.b", attribute="c", value="v" * 999),
    )
    assert len(commit_message(_applied(), [edit], {}).splitlines()[0]) <= 72
    assert value_text("v" * 999).endswith("…")


def test_a_resource_that_was_created_is_said_to_be_added() -> None:
    new = Wanted(
        address="aws_sqs_queue.jobs", attribute="*", value={"import_id": "https://q/jobs", "text": "secret text"}
    )
    edit = Edit(path=Path("main.tf"), start=0, end=0, old=b"", new=b"2", wanted=new)
    lines = commit_message(_applied(), [edit], {}).splitlines()
    assert lines[0] == "aws_sqs_queue.jobs: added"
    assert lines[2] == "- aws_sqs_queue.jobs: created, declared in main.tf and imported"


def test_a_resource_that_was_replaced_is_said_so_with_both_ids() -> None:
    wanted = Wanted(address="aws_security_group.web", attribute="*", value={"import_id": "sg-2", "replaces": "sg-1"})
    message = commit_message(_applied(), [replace(EDIT, wanted=wanted)], {})
    assert message.startswith("aws_security_group.web: replaced\n")
    assert '- aws_security_group.web: "sg-2" took the place of "sg-1", imported in terraform.tfvars' in message


def test_a_resource_that_was_created_again_names_the_deletion() -> None:
    back = replace(WANTED, attribute="*", value={"taken_back": ["c1"]})
    message = commit_message(_applied(together=("mut_0",)), [replace(EDIT, wanted=back), EDIT], CODE)
    assert message.startswith("aws_autoscaling_group.web: created again and 1 more\n")
    assert (
        "- aws_autoscaling_group.web: deleted and created again, its block is in terraform.tfvars as before" in message
    )
    assert "With: mut_0, which tells the same story" in message
    assert "Sentinel-With: mut_0" in _trailers(message)
