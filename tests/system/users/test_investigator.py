"""The investigator: she comes after the incident, and asks who changed what, when and why, and what went round the door."""

import json

import pytest

from tests.system.users.conftest import Shop

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

SERVICE = "module.api.aws_ecs_service.this"
QUEUE = 'module.jobs["orders"].aws_sqs_queue.this'
WHY = ("--intent", "availability", "--motivation", "incident", "--why", "orders pile up", "--evidence", "ALERT-7")


def test_an_investigator_asks(shop: Shop) -> None:
    scaled, refused = the_night_before(shop)
    who_set_this_and_why(shop, scaled)
    what_was_refused_and_by_which_rule(shop, refused)
    what_changed_this_resource(shop, scaled)
    nobody_has_looked_for_drift(shop)
    somebody_went_round_the_door(shop)
    the_figures_in_sql(shop)
    the_records_for_other_tools(shop, scaled)
    shop.ends_well()


def the_night_before(shop: Shop) -> tuple[str, str]:
    """An agent scaled the service for an alert, and wanted more than the contract allows."""
    to = {"cluster": "shop", "service": "shop-api"}
    scaled = shop.propose("agent", "ecs:UpdateService", {**to, "desiredCount": 5}, *WHY)
    refused = shop.propose("agent", "ecs:UpdateService", {**to, "desiredCount": 50}, *WHY, code=1)
    mutation = str(scaled["mutation"]["id"])
    shop.written(mutation)
    return mutation, str(refused["mutation"]["id"])


def who_set_this_and_why(shop: Shop, scaled: str) -> None:
    """One command: who, when, why, on which evidence, what it replaced, which commit."""
    found = shop.json("human", "blame", f"{SERVICE}.desired_count")
    assert (found["actor"], found["value"], found["previous"], found["previous_actor"]) == (
        "agent-scaler",
        5,
        2,
        "terraform",
    )
    assert (found["mutation_id"], found["text"], found["evidence"]) == (scaled, "orders pile up", ["ALERT-7"])
    assert found["commit"]


def what_was_refused_and_by_which_rule(shop: Shop, refused: str) -> None:
    """The list names it; `explain` has every check, the facts, and the nearest legal value."""
    assert refused in {
        each["mutation_id"] for each in shop.json("human", "records", "--refused", "--actor", "agent-scaler")["records"]
    }
    said = shop.sentinel("human", "explain", refused).stdout
    assert "desired_count = 50 is over max = 6 (shop.sentinel.hcl:" in said
    assert "The nearest legal value of desired_count" in said


def what_changed_this_resource(shop: Shop, scaled: str) -> None:
    """Only what did change the attribute, newest first: no refused call, no call on another attribute."""
    entries = shop.json("human", "history", SERVICE, "desired_count")["history"]
    assert [each["actor"] for each in entries] == ["agent-scaler", "terraform"]
    assert entries[0]["mutation_id"] == scaled


def nobody_has_looked_for_drift(shop: Shop) -> None:
    """`sentinel up` looks for no changes from outside, and says so instead of "nothing drifted"."""
    assert "Nobody has ever looked for changes from outside of infra" in shop.sentinel("human", "drift", "list").stdout
    assert "Nobody has ever looked" in json.dumps(shop.json("human", "drift", "list"))


def somebody_went_round_the_door(shop: Shop) -> None:
    """With looks on a schedule the change is found: this one difference, and no default of the provider beside it."""
    shop.restart(SENTINEL_RECONCILE__DRIFT_EVERY="60")
    queues = shop.past_the_gate("sqs")
    url = queues.get_queue_url(QueueName="shop-orders")["QueueUrl"]
    queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "45"})
    shop.wait_until(lambda: shop.json("human", "drift", "list")["drift"], "the change from outside is found")
    found = shop.json("human", "drift", "list")["drift"]
    assert {(each["address"], each["attribute"], each["live"]) for each in found} == {
        (QUEUE, "visibility_timeout_seconds", 45)
    }
    page = shop.console("human", "/console/drift")
    assert "visibility_timeout_seconds" in page
    assert "message_retention_seconds" not in page
    shop.sentinel("human", "drift", "decide", str(found[0]["id"]), "codify", "--reason", "agreed with the team")
    shop.wait_until(lambda: "orders = 45" in shop.on_branch("infra/main.tf"), "the change from outside is in the code")


def the_figures_in_sql(shop: Shop) -> None:
    """A plan is no denied call: its session was opened, and its calls have outcomes of their own."""
    asked = "SELECT service, operation, outcome, count(*) AS n FROM mutations GROUP BY service, operation, outcome"
    rows = json.loads(shop.operator("query", asked, "--json").stdout)["rows"]
    assert ["terraform", "apply", "opened", 1] in rows
    refusals = "SELECT rule, count(*) AS n FROM findings WHERE verdict = 'deny' GROUP BY rule"
    assert "bounds.max" in shop.operator("query", refusals).stdout


def the_records_for_other_tools(shop: Shop, scaled: str) -> None:
    """JSON and nothing else on standard output; the ledger is as Sentinel wrote it."""
    lines = shop.operator("export", "--format", "jsonl").stdout.splitlines()
    exported = [json.loads(line) for line in lines]
    assert scaled in {each["mutation_id"] for each in exported}
    assert shop.operator("verify").stdout.startswith("The ledger is intact: ")
