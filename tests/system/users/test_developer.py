"""The developer: he changes Terraform code, asks before the apply what it would meet, applies, and merges what Sentinel wrote."""

import json

import pytest

from tests.kit.git import clone
from tests.system.users.conftest import BRANCH, Shop

pytestmark = [
    *(pytest.mark.system, pytest.mark.terraform, pytest.mark.slow, pytest.mark.long),
    pytest.mark.allow_hosts(["127.0.0.1"]),
]

SERVICE = "module.api.aws_ecs_service.this"
WHY = ("--intent", "availability", "--motivation", "incident", "--evidence", "ALERT-7")


def test_a_developer_changes_the_shop(shop: Shop) -> None:
    a_plan_without_changes_passes(shop)
    hotfix = at_night_an_agent_scaled_the_service(shop)
    his_plan_would_undo_it_and_he_is_told(shop)
    he_merges_what_sentinel_wrote(shop, hotfix)
    a_green_check_means_a_green_apply(shop)
    his_claims_end_with_the_apply(shop)
    drift_is_written_into_his_own_clone(shop)
    shop.ends_well()


def a_plan_without_changes_passes(shop: Shop) -> None:
    """The code is what is applied."""
    assert shop.differences() == {}
    shop.sentinel("pipeline", "plan-check", str(shop.plan("pipeline")))


def at_night_an_agent_scaled_the_service(shop: Shop) -> str:
    """For an incident, which outranks the routine of an apply."""
    to = {"cluster": "shop", "service": "shop-api", "desiredCount": 4}
    mutation = str(shop.propose("agent", "ecs:UpdateService", to, *WHY)["mutation"]["id"])
    shop.written(mutation)
    return mutation


def his_plan_would_undo_it_and_he_is_told(shop: Shop) -> None:
    """Before the apply, with the holder; and the refusal names the cure that exists: what to merge."""
    shop.edit("infra/report.tf", "memory_size   = 256", "memory_size   = 512")
    checked = shop.sentinel("pipeline", "plan-check", str(shop.plan("pipeline")), code=2).stdout
    assert f"{SERVICE}" in checked
    assert "agent-scaler" in checked
    assert BRANCH in checked
    refused = shop.apply("pipeline", code=2)
    assert "nothing was applied" in refused.stderr


def he_merges_what_sentinel_wrote(shop: Shop, hotfix: str) -> None:
    """One commit, with who, why and the mutation; then only his own change is left in the plan."""
    log = shop.git("log", "-1", "--format=%B", BRANCH)
    for words in (hotfix, "agent-scaler", "availability", "incident"):
        assert words in log
    shop.merge(hotfix)
    assert shop.differences() == {"aws_lambda_function.report": ("update",)}


def a_green_check_means_a_green_apply(shop: Shop) -> None:
    """Changes of several services, a declared setting that the provider hides, and names that the provider invents."""
    shop.edit("infra/report.tf", 'value = "info"', 'value = "debug"')
    shop.edit("infra/report.tf", "retention_in_days = 30", "retention_in_days = 60")
    shop.edit("infra/database.tf", "backup_retention_period = 7", "backup_retention_period = 14")
    shop.edit("infra/main.tf", "refunds = 60", "refunds = 60, returns = 90")
    shop.sentinel("pipeline", "plan-check", str(shop.plan("pipeline")))
    shop.apply("pipeline")
    assert shop.differences() == {}


def his_claims_end_with_the_apply(shop: Shop) -> None:
    """So another routine pipeline may change the same value at once."""
    assert [each for each in shop.json("human", "claims")["claims"] if each["actor"] == "terraform"] == []
    nightly = shop.new_key("nightly", "pipeline", "--intent", "consistency", "--motivation", "routine", "--only")
    shop.edit("infra/report.tf", "memory_size   = 512", "memory_size   = 384")
    shop.apply(nightly)
    assert shop.differences() == {}


def drift_is_written_into_his_own_clone(shop: Shop) -> None:
    """`sentinel reconcile` needs no gateway; with `--json` it prints JSON and nothing before it."""
    queues = shop.past_the_gate("sqs")
    url = queues.get_queue_url(QueueName="shop-orders")["QueueUrl"]
    queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "45"})
    mine = clone(shop.root, shop.root.with_name("clone"))
    shop.terraform("pipeline", "init", directory=mine / "infra")
    state = ("--state", str(shop.code / "terraform.tfstate"), "--no-refresh-state")
    endpoint = ("--endpoint", f"http://127.0.0.1:{shop.up.aws_port}")
    done = shop.sentinel("human", "reconcile", str(mine / "infra"), "--write", "--json", *state, *endpoint)
    assert json.loads(done.stdout)["left"] == []
    assert "orders = 45" in (mine / "infra" / "main.tf").read_text()
    queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "30"})
