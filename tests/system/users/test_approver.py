"""The approver: he decides about calls that wait for a person, from cards that say what is asked and what goes, and no call passes by accident."""

import pytest

from tests.system.users.conftest import Shop

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

WHY = ("--intent", "availability", "--motivation", "incident", "--why", "the report breaks the database")
DISABLE = {"Name": "shop-nightly"}
GROUP = {"logGroupName": "/aws/lambda/shop-report"}


def test_an_approver_decides(shop: Shop) -> None:
    held = a_call_that_nobody_understands_waits_for_him(shop)
    nothing_is_approved_without_a_yes(shop, held)
    a_token_that_the_client_invents_is_no_part_of_it(shop)
    done = his_approval_lets_the_call_pass_once(shop, held)
    a_rejection_needs_a_reason_and_tells_it(shop)
    deleted = data_goes_only_with_two_people(shop)
    by_glass = he_breaks_the_glass_and_it_is_explained(shop)
    shop.written(done, deleted, by_glass)
    what_nobody_understood_is_left_to_a_person(shop, done, by_glass)
    shop.ends_well()
    assert '"aws_cloudwatch_log_group" "report"' not in (shop.code / "report.tf").read_text()


def a_call_that_nobody_understands_waits_for_him(shop: Shop) -> str:
    """The list says who asks, for what, why it waits, and who is missing."""
    held = str(shop.propose("agent", "events:DisableRule", DISABLE, *WHY, code=3)["mutation"]["id"])
    listed = shop.sentinel("human", "holds").stdout
    for words in (held, "agent-scaler", "events:DisableRule", "does not understand", "1 person: approver"):
        assert words in listed
    return held


def nothing_is_approved_without_a_yes(shop: Shop, held: str) -> None:
    """Without a terminal nobody can be asked, so `--yes` is needed. The card is shown all the same."""
    for command in (("approve", held), ("break-glass", held, "--reason", "now")):
        refused = shop.sentinel("human", *command, code=1)
        assert "Nobody was asked" in refused.stderr
        assert "the report breaks the database" in refused.stdout
    assert [each["mutation_id"] for each in shop.json("human", "holds")["holds"]] == [held]


def a_token_that_the_client_invents_is_no_part_of_it(shop: Shop) -> None:
    """SDKs and Terraform send another token with each attempt: what he approved is the task, so it is not held again."""
    task = {"cluster": "shop", "taskDefinition": "shop-api", "launchType": "FARGATE"}
    held = shop.propose("agent", "ecs:RunTask", {**task, "clientToken": "first"}, *WHY, code=3)
    shop.sentinel("human", "approve", str(held["mutation"]["id"]), "--yes")
    again = shop.propose("agent", "ecs:RunTask", {**task, "clientToken": "second"}, *WHY, code=None)
    assert again["decision"]["verdict"] == "allow", again


def his_approval_lets_the_call_pass_once(shop: Shop, held: str) -> str:
    """The identical call is applied once; the next one waits again."""
    shop.sentinel("human", "approve", held, "--yes", "--reason", "until it is mended")
    done = shop.propose("agent", "events:DisableRule", DISABLE, *WHY)
    assert done["outcome"]["outcome"] == "applied"
    again = shop.propose("agent", "events:DisableRule", DISABLE, *WHY, code=3)
    shop.sentinel("human", "reject", str(again["mutation"]["id"]), "--reason", "once is enough")
    return str(done["mutation"]["id"])


def a_rejection_needs_a_reason_and_tells_it(shop: Shop) -> None:
    """The agent is told why, so that it does not ask again."""
    held = str(shop.propose("agent", "events:EnableRule", DISABLE, *WHY, code=3)["mutation"]["id"])
    assert "--reason" in shop.sentinel("human", "reject", held, code=2).stderr
    shop.sentinel("human", "reject", held, "--reason", "not before Monday")
    told = shop.propose("agent", "events:EnableRule", DISABLE, *WHY, code=1)
    assert "not before Monday" in str(told)


def data_goes_only_with_two_people(shop: Shop) -> str:
    """The card of a deletion says what goes with it. Nobody approves a call of their own, and one person is not enough."""
    held = str(shop.propose("human", "logs:DeleteLogGroup", GROUP, code=3)["mutation"]["id"])
    card = shop.sentinel("human", "holds", held).stdout
    assert "delete aws_cloudwatch_log_group.report" in card
    assert "everything that is stored in it" in card
    assert "The value stays" not in card
    shop.sentinel("human", "approve", held, "--yes", code=1)
    first, second = (shop.new_key(name, "human", "--role", "approver") for name in ("ada", "ben"))
    assert "1 more" in shop.sentinel(first, "approve", held, "--yes").stdout
    shop.propose("human", "logs:DeleteLogGroup", GROUP, code=3)
    shop.sentinel(second, "approve", held, "--yes")
    done = shop.propose("human", "logs:DeleteLogGroup", GROUP)
    assert done["outcome"]["outcome"] == "applied"
    return str(done["mutation"]["id"])


def he_breaks_the_glass_and_it_is_explained(shop: Shop) -> str:
    """In an emergency one person may do it, even for a call of their own; `explain` says so afterwards."""
    firefighter = shop.new_key("cy", "human", "--role", "break-glass")
    held = str(shop.propose(firefighter, "events:EnableRule", DISABLE, code=3)["mutation"]["id"])
    shop.sentinel(firefighter, "break-glass", held, "--yes", "--reason", "the reports are due")
    done = shop.propose(firefighter, "events:EnableRule", DISABLE)
    mutation = str(done["mutation"]["id"])
    said = shop.sentinel("human", "explain", mutation).stdout
    assert f"passed in an emergency by cy (held as {held}; `sentinel explain {held}` says why)" in said
    assert "the reports are due" in shop.sentinel("human", "explain", held).stdout
    return mutation


def what_nobody_understood_is_left_to_a_person(shop: Shop, *mutations: str) -> None:
    """Nothing approved vanishes: what no code says stands in `left`, with what to do, until somebody writes it."""
    left = {each["mutation_id"]: each for each in shop.left()}
    for mutation in mutations:
        assert mutation in left
        assert f"Sentinel-Mutation: {mutation}" in left[mutation]["reason"]
