"""The playground and the replays of the console: what an edit would decide, for those who may read policies and records."""

import json
import re
from html import unescape

import pytest

from gateway.core.records.record import Stage
from gateway.policy.playground import LARGEST_FILE
from tests.kit.console import text_of, visitor
from tests.kit.gate import ASG, Gate

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])
FILE = "kafka.sentinel.hcl"
DATA = "data/disruption.json"
HOSTILE = "</textarea><script>alert(1)</script>"


@pytest.fixture(scope="module")
def mutation(gate: Gate) -> str:
    """A capacity that was set."""
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=6)
    [newest, *_] = reversed(gate.records(stage=Stage.DECIDED))
    return newest.mutation_id


def area(page: str, name: str) -> str:
    """The text in a text area, as a browser reads it."""
    found = re.search(rf'<textarea name="{name}"[^>]*>\n(.*?)</textarea>', page, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def test_an_edit_of_a_contract_shows_its_decision_the_week_and_a_patch(gate: Gate, mutation: str) -> None:
    ana, before = visitor(gate, "human"), len(gate.records())
    opened = ana.get(f"/console/playground?mutation={mutation}&of=kafka/{FILE}")
    contract = area(opened.text, "contract_text")
    assert contract == (gate.stack / FILE).read_text()
    edited = contract.replace("max_step = 4", "max_step = 1").replace("\n", "\r\n")
    form = {"mutation": mutation, "stack": "kafka", "contract": FILE, "contract_text": edited, "week": "1"}
    page = ana.post("/console/playground", data=form)
    text = text_of(page)
    assert "Was allow , would be deny because of bounds.max_step ." in text
    assert "What would be decided otherwise" in text
    assert "+ max_step = 1" in " ".join(text.split())
    assert "\r" not in area(page.text, "contract_text")
    assert len(gate.records()) == before


def test_edited_data_are_tried_on_a_pasted_call(gate: Gate) -> None:
    ana = visitor(gate, "human")
    data = json.loads(area(ana.get(f"/console/playground?policy={DATA}").text, "policy_text"))
    data["disruption"]["disrupting"]["autoscaling:SetDesiredCapacity"] = "starts and stops what runs"
    call = {
        "service": "autoscaling",
        "operation": "SetDesiredCapacity",
        "parameters": {"AutoScalingGroupName": ASG, "DesiredCapacity": 7},
        "motive": {"intent": "availability", "motivation": "incident", "evidence": ["A-1"]},
    }
    form = {"call": json.dumps(call), "kind": "agent", "actor": "new", "policy": DATA, "policy_text": json.dumps(data)}
    text = text_of(ana.post("/console/playground", data=form))
    assert "would be hold" in text
    assert "by new" in text


def test_what_was_typed_stays_where_it_is_refused_and_does_nothing(gate: Gate, mutation: str) -> None:
    ana = visitor(gate, "human")
    for form, words in (
        ({"contract": FILE, "stack": "kafka", "contract_text": HOSTILE, "mutation": mutation}, "This is not HCL"),
        ({"policy": DATA, "policy_text": HOSTILE, "mutation": mutation}, DATA),
        ({"policy": "../../x.rego", "policy_text": HOSTILE, "mutation": mutation}, "is not the name of a rule"),
        ({"call": HOSTILE}, "The call is not JSON"),
        ({"call": "[]"}, "The call is a JSON object"),
        ({"mutation": HOSTILE}, "There is no decision about"),
        ({}, "Nothing was tried"),
    ):
        page = ana.post("/console/playground", data=form)
        assert (400 <= page.status_code < 500, words in text_of(page)) == (True, True), (form, page.text)
        assert "<script>alert" not in page.text
        for name in form.keys() & {"call", "contract_text", "policy_text"}:
            assert area(page.text, name) == form[name]
    large = {"policy": DATA, "policy_text": "x" * (5 * LARGEST_FILE), "mutation": mutation}
    assert ana.post("/console/playground", data=large).status_code == 413


def test_who_may_not_read_policies_does_not_see_it(gate: Gate, mutation: str) -> None:
    for actor in ("agent", "service"):
        one = visitor(gate, actor)
        for path in ("/console/playground", "/console/replay"):
            page = one.post(path, data={"mutation": mutation, "age": "week"})
            assert (page.status_code, "agents and services" in text_of(page).lower()) == (403, True), (actor, path)
        assert one.get("/console/playground").status_code == 403
        assert "/console/playground?mutation" not in one.get(f"/console/mutations/{mutation}").text
    assert "/console/playground?mutation" in visitor(gate, "human").get(f"/console/mutations/{mutation}").text


def test_the_newest_decisions_are_replayed_and_then_what_is_older(
    gate: Gate, mutation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana = visitor(gate, "human")
    text = text_of(ana.post("/console/replay", data={"age": "week"}))
    assert "every verdict would be the same" in text
    assert "Claims, budgets and changes of holders are those that there were" in text
    for form, words in (
        ({"age": "century"}, "Nothing was replayed"),
        ({"age": "week", "before": "x"}, "Nothing was replayed"),
        ({"age": "week", "ref": "no-such-branch"}, "no-such-branch"),
    ):
        page = ana.post("/console/replay", data=form)
        assert (page.status_code, words in text_of(page)) == (400, True), form
    gate.client("autoscaling").set_desired_capacity(AutoScalingGroupName=ASG, DesiredCapacity=7)
    monkeypatch.setattr("gateway.doors.console.replay.LARGEST_PAGE", 1)
    monkeypatch.setattr("gateway.doors.console.replay._PAGES", 1)
    page = ana.post("/console/replay", data={"age": ""})
    found = re.search(r'name="before" value="(\d+)"', page.text)
    assert found is not None
    assert "1 decision replayed" in text_of(page)
    assert "1 decision replayed" in text_of(ana.post("/console/replay", data={"age": "", "before": found[1]}))
