"""An agent tags with a dot in the key (`app.team`), and the call counts as a change of all tags: earlier tags are no longer written back.

The whole map was one attribute, because a dot ends a step of an attribute's path. It held agents that may set this one tag, too, and took the claims of
all others. What must hold: a tag is one attribute whatever its key, from the call to the code.
"""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from botocore.exceptions import ClientError

from gateway.core.records.record import Stage
from reconciler.changes.backlog import Backlog
from reconciler.changes.classification import classify_mutation
from reconciler.rewrite.edits import edit_code
from tests.kit.applying import ask, planned
from tests.kit.gate import Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
URL = "https://sqs.us-east-1.amazonaws.com/123456789012/tagged"
QUEUE = """
resource "aws_sqs_queue" "tagged" {
  name = "tagged"

  tags = {
    owner      = "me"
    "app.team" = "old" # of the catalogue
  }
}
"""
BOUND = """
    attribute "tags.app.team" {
      one_of = ["data", "web"]
    }
"""
FROZEN = """
    immutable        = ["tags.kubernetes.io/cluster"]
"""


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gate]:
    """A gateway of a stack whose contract names tags with dots in their keys."""
    gate = Gate(directory=tmp_path_factory.mktemp("tagged"))
    with (gate.stack / "main.tf").open("a") as code:
        code.write(QUEUE)
    contract = gate.stack / "kafka.sentinel.hcl"
    before = '    mutable          = ["tags.owner"]\n'
    after = f"""    mutable          = ["tags.owner", "tags[\\"a.b%2E\\"]"]\n{FROZEN}{BOUND}"""
    text = contract.read_text()
    assert before in text
    contract.write_text(text.replace(before, after))
    with gate:
        yield gate


def _tag(gate: Gate, key: str, value: str, actor: str = "agent") -> str:
    """Tag the queue. What a refusal says; empty if it was done."""
    try:
        gate.client("sqs", actor).tag_queue(QueueUrl=URL, Tags={key: value})
    except ClientError as error:
        return str(error)
    return ""


def test_each_tag_is_one_attribute_from_the_call_to_the_code(tagged: Gate) -> None:
    for key, value in (("owner", "you"), ("app.team", "data"), ("a.b%2E", "1")):
        assert not _tag(tagged, key, value)
    records = tagged.records(stage=Stage.DECIDED)[-3:]
    bodies: list[Any] = [record.body for record in records]
    effects = [body.effects for body in bodies]
    assert [[(each.attribute, each.value) for each in several] for several in effects] == [
        [("tags.owner", "you")],
        [("tags.app%2Eteam", "data")],
        [("tags.a%2Eb%252E", "1")],
    ]
    assert {claim.attribute for claim in tagged.run(tagged.ledger.claims())} == {
        effect.attribute for (effect,) in effects
    }

    backlog = Backlog(stack="kafka")
    tagged.run(backlog.read(tagged.ledger))
    parts = [classify_mutation(each, superseded=backlog.superseded(each)) for each in backlog.pending()]
    assert [len(part.wanted) for part in parts] == [1, 1, 1], "no tag ends the write-back of another"
    edited = edit_code(tagged.stack, [want for part in parts for want in part.wanted])
    assert not edited.left
    (source,) = edited.files.values()
    assert (
        b"""
  tags = {
    owner      = "you"
    "app.team" = "data" # of the catalogue
    "a.b%2E"   = "1"
  }
"""
        in source
    )
    tagged.release_all()


def test_a_contract_holds_for_the_tag_that_it_names(tagged: Gate) -> None:
    assert "bounds.one_of" in _tag(tagged, "app.team", "finance")
    assert "neither bounds it nor lists it" in _tag(tagged, "app.other", "x")
    assert "is immutable" in _tag(tagged, "kubernetes.io/cluster", "x", "human")
    assert not _tag(tagged, "kubernetes.io/other", "x", "human")
    tagged.release_all()


def test_who_asks_for_a_tag_with_dots_may_write_it_as_it_is(tagged: Gate) -> None:
    assert not _tag(tagged, "app.team", "web")
    for written in ("tags.app.team", "tags.app%2Eteam", 'tags["app.team"]'):
        asked = {"address": "aws_sqs_queue.tagged", "attribute": written}
        found = httpx.get(f"{tagged.url}/v1/blame", params=asked, headers=tagged.bearer("human"), timeout=300).json()
        assert (found["actor"], found["value"]) == ("agent", "web"), found
    tagged.release_all()


def test_two_agents_hold_two_tags_of_one_map(tagged: Gate) -> None:
    assert not _tag(tagged, "app.team", "web")
    assert not _tag(tagged, "owner", "rival", "rival")
    assert "SEN-A" in _tag(tagged, "app.team", "data", "rival")
    tagged.release_all()


def test_a_plan_changes_the_one_tag(tagged: Gate) -> None:
    change = planned("aws_sqs_queue.tagged", "update", values={"tags.app%2Eteam": "finance"})
    status, report = ask(tagged, "pipeline", change)
    assert status == 200, report
    denied = [each for each in report["decision"]["findings"] if each["verdict"] == "deny"]
    assert [(each["attribute"], each["rule"]) for each in denied] == [("tags.app%2Eteam", "bounds.one_of")]
