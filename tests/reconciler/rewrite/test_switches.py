"""An instance goes and comes by what decides about it: a switch of the call, a condition of a `for`, a list that is counted; others may get values with it."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.create import wanted_creations
from reconciler.rewrite.edits import edit_code

_MODULE = """variable "name" {
  type = string
}

variable "dlq" {
  type    = bool
  default = false
}

variable "board" {
  type    = bool
  default = true
}

variable "senders" {
  type    = list(string)
  default = []
}

variable "alarms" {
  type    = map(object({ threshold = number, periods = optional(number, 1) }))
  default = {}
}

resource "aws_sqs_queue" "this" {
  name = var.name

  redrive_policy = var.dlq ? jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead[0].arn, maxReceiveCount = 5 }) : null
}

resource "aws_sqs_queue" "dead" {
  count = var.dlq ? 1 : 0

  name = "${var.name}-dead"
}

resource "aws_cloudwatch_dashboard" "this" {
  count = var.board ? 1 : 0

  dashboard_name = var.name
}

data "aws_iam_policy_document" "this" {
  count = length(var.senders) > 0 ? 1 : 0

  statement {
    actions   = ["sqs:SendMessage"]
    resources = [aws_sqs_queue.this.arn]

    principals {
      type        = "Service"
      identifiers = var.senders
    }
  }
}

resource "aws_sqs_queue_policy" "this" {
  count = length(var.senders) > 0 ? 1 : 0

  queue_url = aws_sqs_queue.this.url
  policy    = data.aws_iam_policy_document.this[0].json
}

resource "aws_cloudwatch_metric_alarm" "this" {
  for_each = var.alarms

  alarm_name         = "${var.name}-${each.key}"
  threshold          = each.value.threshold
  evaluation_periods = each.value.periods
  dimensions         = { QueueName = aws_sqs_queue.this.name }
}
"""
_ROOT = """module "orders" {
  source = "./queue"

  name    = "shop-orders"
  dlq     = true
  senders = ["events.amazonaws.com"]
  alarms  = { depth = { threshold = 100 }, age = { threshold = 600 } }
}

module "mail" {
  source = "./queue"

  name = "shop-mail"
}

module "bulk" {
  source   = "./queue"
  for_each = toset(["eu", "us"])

  name   = "shop-${each.key}"
  alarms = { depth = { threshold = 10 } }
}
"""
_ARN = "arn:aws:sqs:eu-west-1:123456789012:"
_REDRIVEN = '{"deadLetterTargetArn":"' + _ARN + 'shop-mail-dead","maxReceiveCount":5}'
_LIVE: dict[str, dict[str, Json]] = {
    "module.orders.aws_sqs_queue.this": {"name": "shop-orders", "arn": f"{_ARN}shop-orders"},
    "module.orders.aws_sqs_queue.dead[0]": {"name": "shop-orders-dead", "arn": f"{_ARN}shop-orders-dead"},
    "module.mail.aws_sqs_queue.this": {
        "name": "shop-mail",
        "arn": f"{_ARN}shop-mail",
        "redrive_policy": _REDRIVEN,
    },
    'module.orders.aws_cloudwatch_metric_alarm.this["depth"]': {"alarm_name": "shop-orders-depth", "threshold": 100},
    'module.bulk["eu"].aws_cloudwatch_metric_alarm.this["depth"]': {"alarm_name": "shop-eu-depth", "threshold": 10},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/main.tf").write_text(_MODULE)
    (tmp_path / "main.tf").write_text(_ROOT)
    return tmp_path


def _gone(*addresses: str) -> list[Wanted]:
    return [Wanted(address=each, attribute="*", value=None) for each in addresses]


def _main(root: Path, *wanted: Wanted) -> str:
    """The main file after edits that change no other file and leave nothing."""
    edited = edit_code(root, wanted, live=_LIVE)
    assert (edited.left, list(edited.files)) == ((), [Path("main.tf")])
    return edited.files[Path("main.tf")].decode()


def test_a_switch_that_the_call_does_not_give_is_given(root: Path) -> None:
    after = _main(root, *_gone("module.mail.aws_cloudwatch_dashboard.this[0]"))
    assert after == _ROOT.replace('  name = "shop-mail"\n', '  name  = "shop-mail"\n  board = false\n')


def test_for_one_of_several_calls_only(root: Path) -> None:
    after = _main(root, *_gone('module.bulk["eu"].aws_cloudwatch_dashboard.this[0]'))
    assert 'board  = each.key == "eu" ? false : true' in after


def test_the_values_that_others_have_without_it_come_with_it(root: Path) -> None:
    unset = Wanted(address="module.orders.aws_sqs_queue.this", attribute="redrive_policy", value="")
    after = _main(root, unset, *_gone("module.orders.aws_sqs_queue.dead[0]"))
    assert after == _ROOT.replace("dlq     = true", "dlq     = false")


def test_alone_it_is_left_since_the_redrive_policy_names_it(root: Path) -> None:
    (left,) = edit_code(root, _gone("module.orders.aws_sqs_queue.dead[0]"), live=_LIVE).left
    assert "aws_sqs_queue.this still refers to it" in left.reason


def test_a_list_that_is_counted_loses_its_items_in_the_call(root: Path) -> None:
    after = _main(root, *_gone("module.orders.aws_sqs_queue_policy.this[0]"))
    assert after == _ROOT.replace('["events.amazonaws.com"]', "[]")


def test_a_map_that_instances_of_a_module_share_is_without_the_entry_for_one(root: Path) -> None:
    after = _main(root, *_gone('module.bulk["us"].aws_cloudwatch_metric_alarm.this["depth"]'))
    assert 'alarms = each.key == "us" ? {} : { depth = { threshold = 10 } }' in after


def test_a_condition_of_a_for_is_made_false(tmp_path: Path) -> None:
    code = """locals {
  queues = {
    jobs = { delay = 1 }
    mail = { delay = 2, board = true }
  }
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name = each.key
}

resource "aws_cloudwatch_dashboard" "this" {
  for_each = { for name, queue in local.queues : name => queue if try(queue.board, true) }

  dashboard_name = aws_sqs_queue.this[each.key].name
}
"""
    (tmp_path / "main.tf").write_text(code)
    assert _main(tmp_path, *_gone('aws_cloudwatch_dashboard.this["mail"]')) == code.replace("true }", "false }")
    assert _main(tmp_path, *_gone('aws_cloudwatch_dashboard.this["jobs"]')) == code.replace(
        "delay = 1 }", "delay = 1, board = false }"
    )


def _queue(name: str) -> Created:
    arn = f"{_ARN}{name}"
    return Created(
        resource_type="aws_sqs_queue",
        import_id=f"https://q/{name}",
        attributes={"name": name},
        name=name,
        arn=arn,
        named_by={"arn": arn, "name": name},
    )


def _alarm(name: str, threshold: int) -> Created:
    return Created(
        resource_type="aws_cloudwatch_metric_alarm",
        import_id=name,
        attributes={"alarm_name": name, "threshold": threshold, "evaluation_periods": 1},
        name=name,
    )


def test_a_switch_makes_what_was_created_with_the_value_that_refers_to_it(root: Path) -> None:
    (new,) = wanted_creations(root, [_queue("shop-mail-dead")], _LIVE, identified=True)
    assert new.address == "module.mail.aws_sqs_queue.dead[0]"
    redriven = Wanted(address="module.mail.aws_sqs_queue.this", attribute="redrive_policy", value=_REDRIVEN)
    assert '  name = "shop-mail"\n  dlq  = true\n}\n' in _main(root, new, redriven)


def test_a_switch_is_none_for_what_it_would_give_others_against_their_live_values(root: Path) -> None:
    live: dict[str, dict[str, Json]] = {
        **_LIVE,
        "module.mail.aws_sqs_queue.this": {"name": "shop-mail", "redrive_policy": ""},
    }
    (new,) = wanted_creations(root, [_queue("shop-mail-dead")], live, identified=True)
    assert not new.address.startswith("module.mail.")


def test_a_switch_is_none_for_another_name(root: Path) -> None:
    (new,) = wanted_creations(root, [_queue("shop-mail-late")], _LIVE, identified=True)
    assert not new.address.startswith("module.mail.")


@pytest.mark.parametrize("key", ["depth", "size"])
def test_a_call_without_such_a_map_gets_one_like_that_of_another_call(root: Path, key: str) -> None:
    (new,) = wanted_creations(root, [_alarm(f"shop-mail-{key}", 50)], _LIVE, identified=True)
    assert new.address == f'module.mail.aws_cloudwatch_metric_alarm.this["{key}"]'
    assert f"  alarms = {{\n    {key} = {{ threshold = 50 }}\n  }}\n" in _main(root, new)


@pytest.mark.parametrize(
    ("keys", "after"),
    [
        ("{ for name in keys(local.sites) : name => local.sites[name] }", 'local.sites[name] if name != "b" }'),
        (
            "{ for name, site in local.sites : name => site if site.on || site.size > 1 }",
            'name => site if (site.on || site.size > 1) && name != "b" }',
        ),
        ("local.sites", '{ for key, value in local.sites : key => value if key != "b" }'),
    ],
)
def test_one_of_two_blocks_over_the_same_entries_is_without_one_of_them(keys: str, after: str, tmp_path: Path) -> None:
    code = f"""locals {{
  sites = {{ a = {{ on = true, size = 1 }}, b = {{ on = true, size = 2 }} }}
}}

resource "aws_s3_bucket" "this" {{
  for_each = local.sites

  bucket = "site-${{each.key}}"
}}

resource "aws_sqs_queue" "this" {{
  for_each = {keys}

  name = "site-${{each.key}}"
}}
"""
    (tmp_path / "main.tf").write_text(code)
    assert after in _main(tmp_path, *_gone('aws_sqs_queue.this["b"]'))


def test_and_in_one_call_of_a_module_with_the_condition_of_the_call(root: Path) -> None:
    shared = "merge({ depth = { threshold = 10 } }, { age = { threshold = 20 } })"
    (root / "main.tf").write_text(
        _ROOT.replace("alarms = { depth = { threshold = 10 } }", f"alarms = {{ for k, v in {shared} : k => v }}")
    )
    after = _main(root, *_gone('module.bulk["eu"].aws_cloudwatch_metric_alarm.this["age"]'))
    assert f'alarms = {{ for k, v in {shared} : k => v if !(each.key == "eu" && k == "age") }}' in after


def test_what_others_name_is_not_left_out(tmp_path: Path) -> None:
    code = """locals {
  queues = { a = 1, b = 2 }
}

resource "aws_sqs_queue" "dead" {
  for_each = local.queues

  name = "dead-${each.key}"
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name           = each.key
  redrive_policy = jsonencode({ deadLetterTargetArn = aws_sqs_queue.dead[each.key].arn, maxReceiveCount = 5 })
}
"""
    (tmp_path / "main.tf").write_text(code)
    edited = edit_code(tmp_path, _gone('aws_sqs_queue.dead["b"]'))
    assert (len(edited.left), edited.files) == (1, {})


_RULES = """locals {
  rules = {
    booked = { pattern = { source = ["book"] } }
  }
}

resource "aws_cloudwatch_event_bus" "this" {
  name = "clinic"
}

resource "aws_cloudwatch_event_rule" "this" {
  for_each = local.rules

  name           = "clinic-${each.key}"
  event_bus_name = aws_cloudwatch_event_bus.this.name
  event_pattern  = jsonencode(each.value.pattern)
}

resource "aws_cloudwatch_event_target" "this" {
  for_each = local.rules

  rule           = aws_cloudwatch_event_rule.this[each.key].name
  event_bus_name = aws_cloudwatch_event_bus.this.name
  target_id      = "queue"
}

resource "aws_apigatewayv2_api" "this" {
  name = "web"
}

resource "aws_apigatewayv2_integration" "this" {
  for_each = toset(["list", "cancel"])

  api_id = "a1"
}

resource "aws_apigatewayv2_route" "this" {
  for_each = { "GET /dates" = { function = "list" } }

  api_id    = "a1"
  route_key = each.key
  target    = "integrations/${aws_apigatewayv2_integration.this[each.value.function].id}"
}
"""
_RULES_LIVE: dict[str, dict[str, Json]] = {
    "aws_cloudwatch_event_bus.this": {"name": "clinic", "id": "clinic"},
    'aws_cloudwatch_event_rule.this["booked"]': {"name": "clinic-booked", "event_bus_name": "clinic"},
    'aws_cloudwatch_event_target.this["booked"]': {"rule": "clinic-booked", "event_bus_name": "clinic"},
    "aws_apigatewayv2_api.this": {"id": "a1", "name": "web"},
    'aws_apigatewayv2_integration.this["list"]': {"id": "i1", "api_id": "a1"},
    'aws_apigatewayv2_integration.this["cancel"]': {"id": "i2", "api_id": "a1"},
    'aws_apigatewayv2_route.this["GET /dates"]': {
        "id": "r1",
        "api_id": "a1",
        "route_key": "GET /dates",
        "target": "integrations/i1",
    },
}


def test_an_entry_makes_what_was_created_together_though_one_names_the_other(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_RULES)
    rule = Created(
        resource_type="aws_cloudwatch_event_rule",
        import_id="clinic/clinic-moved",
        attributes={"name": "clinic-moved", "event_bus_name": "clinic", "event_pattern": '{"source":["move"]}'},
        name="clinic-moved",
        parent="clinic",
        named_by={"name": "clinic-moved"},
    )
    target = Created(
        resource_type="aws_cloudwatch_event_target",
        import_id="clinic/clinic-moved/queue",
        attributes={"rule": "clinic-moved", "event_bus_name": "clinic", "target_id": "queue"},
        name="queue",
        parent="clinic-moved",
    )
    found = wanted_creations(tmp_path, [rule, target], _RULES_LIVE, identified=True)
    assert [each.address for each in found] == [
        f'aws_cloudwatch_event_{each}.this["moved"]' for each in ("rule", "target")
    ]


def test_a_key_may_be_what_the_sibling_says_of_itself_and_an_id_may_end_a_path(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_RULES)
    route = Created(
        resource_type="aws_apigatewayv2_route",
        import_id="a1/r2",
        attributes={"api_id": "a1", "route_key": "POST /cancelled", "target": "integrations/i2"},
        name="POST /cancelled",
        parent="a1",
    )
    (new,) = wanted_creations(tmp_path, [route], _RULES_LIVE, identified=True)
    assert new.address == 'aws_apigatewayv2_route.this["POST /cancelled"]'
    assert '{ "GET /dates" = { function = "list" }, "POST /cancelled" = { function = "cancel" } }' in _main(
        tmp_path, new
    )


def test_an_item_of_a_set_comes_into_the_list_that_may_be_edited(tmp_path: Path) -> None:
    code = """locals {
  offices = [for number in [40] : "10.${number}.0.0/16"]
}

resource "aws_security_group" "database" {
  name = "database"
}

resource "aws_vpc_security_group_ingress_rule" "database" {
  for_each = toset(concat(local.offices, ["10.8.0.0/16"]))

  security_group_id = aws_security_group.database.id
  cidr_ipv4         = each.value
}
"""
    live: dict[str, dict[str, Json]] = {
        "aws_security_group.database": {"id": "sg-1", "name": "database"},
        'aws_vpc_security_group_ingress_rule.database["10.40.0.0/16"]': {
            "id": "sgr-1",
            "security_group_id": "sg-1",
            "cidr_ipv4": "10.40.0.0/16",
        },
    }
    rule = Created(
        resource_type="aws_vpc_security_group_ingress_rule",
        import_id="sgr-2",
        attributes={"security_group_id": "sg-1", "cidr_ipv4": "10.8.16.0/24"},
        name="5432",
        parent="sg-1",
    )
    (tmp_path / "main.tf").write_text(code)
    (new,) = wanted_creations(tmp_path, [rule], live, identified=True)
    after = _main(tmp_path, new, *_gone('aws_vpc_security_group_ingress_rule.database["10.8.0.0/16"]'))
    assert 'concat(local.offices, ["10.8.16.0/24"])' in after


def test_a_key_may_be_a_part_of_a_value_that_names_nothing(tmp_path: Path) -> None:
    code = """resource "aws_iam_role" "this" {
  name = "accountant"
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = toset(["Billing", "ViewOnlyAccess"])

  role       = aws_iam_role.this.name
  policy_arn = "arn:aws:iam::aws:policy/job-function/${each.value}"
}
"""
    functions = "arn:aws:iam::aws:policy/job-function"
    live: dict[str, dict[str, Json]] = {
        f'aws_iam_role_policy_attachment.this["{key}"]': {"role": "accountant", "policy_arn": f"{functions}/{key}"}
        for key in ("Billing", "ViewOnlyAccess")
    }
    live["aws_iam_role.this"] = {"name": "accountant", "id": "accountant"}
    attached = Created(
        resource_type="aws_iam_role_policy_attachment",
        import_id=f"accountant/{functions}/SupportUser",
        attributes={"role": "accountant", "policy_arn": f"{functions}/SupportUser"},
        name="SupportUser",
        parent="accountant",
    )
    (tmp_path / "main.tf").write_text(code)
    (new,) = wanted_creations(tmp_path, [attached], live, identified=True)
    assert '["Billing", "ViewOnlyAccess", "SupportUser"]' in _main(tmp_path, new)
