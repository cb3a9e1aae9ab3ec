"""A new instance whose entry belongs into another branch of the data files than its siblings', which has no such collection yet."""

import json
from pathlib import Path

import pytest
import yaml

from gateway.core.model.json import Json
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.create import wanted_creations
from reconciler.rewrite.edits import edit_code

_FILES = '{ for file in fileset("${path.module}/services", "*.%s") : trimsuffix(file, ".%s") => %s(file("${path.module}/services/${file}")) }'
_MAIN = """locals {
  services = %s
}

resource "aws_sqs_queue" "this" {
  for_each = merge([for name, service in local.services : { for queue in keys(service.queues) : "${name}-${queue}" => queue }]...)

  name = each.key
}

resource "aws_sns_topic" "this" {
  for_each = toset(["placed", "paid"])

  name = each.key
}

resource "aws_sns_topic_subscription" "this" {
  for_each = merge([for name, service in local.services : {
    for link in try(service.listens, []) : "${link.topic}-${name}-${link.queue}" => merge(link, { service = name })
  }]...)

  topic_arn     = aws_sns_topic.this[each.value.topic].arn
  protocol      = "sqs"
  endpoint      = aws_sqs_queue.this["${each.value.service}-${each.value.queue}"].arn
  filter_policy = try(jsonencode(each.value.filter), null)
}
"""
_SQS, _SNS = "arn:aws:sqs:eu-west-1:123456789012:", "arn:aws:sns:eu-west-1:123456789012:"
_MAILER = "queues:\n  outbox: {}\n  bounces: {}\nlistens:\n  - { topic: paid, queue: outbox }\n  - topic: placed\n    queue: outbox\n    filter: { kind: [new] }\n"
_SHIPPING = "queues:\n  orders: { delay: 5 }\n"


def _live() -> dict[str, dict[str, Json]]:
    queues = ["mailer-outbox", "mailer-bounces", "shipping-orders"]
    return {
        **{f'aws_sqs_queue.this["{key}"]': {"id": key, "name": key, "arn": f"{_SQS}{key}"} for key in queues},
        **{
            f'aws_sns_topic.this["{key}"]': {"id": f"{_SNS}{key}", "name": key, "arn": f"{_SNS}{key}"}
            for key in ("placed", "paid")
        },
        'aws_sns_topic_subscription.this["placed-mailer-outbox"]': {
            "id": f"{_SNS}placed:1",
            "topic_arn": f"{_SNS}placed",
            "protocol": "sqs",
            "endpoint": f"{_SQS}mailer-outbox",
            "filter_policy": '{"kind":["new"]}',
        },
        'aws_sns_topic_subscription.this["paid-mailer-outbox"]': {
            "id": f"{_SNS}paid:1",
            "topic_arn": f"{_SNS}paid",
            "protocol": "sqs",
            "endpoint": f"{_SQS}mailer-outbox",
        },
    }


def _subscription(topic: str, queue: str) -> Created:
    attributes: dict[str, Json] = {"topic_arn": f"{_SNS}{topic}", "protocol": "sqs", "endpoint": f"{_SQS}{queue}"}
    return Created(
        resource_type="aws_sns_topic_subscription",
        import_id=f"{_SNS}{topic}:9",
        attributes=attributes,
        name=f"sqs {queue}",
        parent=f"{_SNS}{topic}",
    )


def _queue(name: str) -> Created:
    arn = f"{_SQS}{name}"
    return Created(
        resource_type="aws_sqs_queue",
        import_id=name,
        attributes={"name": name},
        name=name,
        arn=arn,
        named_by={"arn": arn},
    )


def _project(root: Path, suffix: str) -> Path:
    decode = "jsondecode" if suffix == "json" else "yamldecode"
    (root / "main.tf").write_text(_MAIN % (_FILES % (suffix, suffix, decode)))
    (root / "services").mkdir()
    for name, text in (("mailer", _MAILER), ("shipping", _SHIPPING)):
        if suffix == "json":
            text = json.dumps(yaml.safe_load(text), indent=2) + "\n"  # noqa: PLW2901  the same document
        (root / f"services/{name}.{suffix}").write_text(text)
    return root


def _written(root: Path, *created: Created) -> tuple[list[str], dict[str, str]]:
    wanted: list[Wanted] = wanted_creations(root, created, _live())
    edited = edit_code(root, wanted)
    assert not edited.left, edited.left
    files = {path.as_posix(): content.decode() for path, content in edited.files.items()}
    assert 'resource "aws' not in files["main.tf"].replace((root / "main.tf").read_text(), "")
    return [each.address for each in wanted], files


def test_a_file_that_has_no_such_list_gets_one(tmp_path: Path) -> None:
    addresses, files = _written(_project(tmp_path, "yaml"), _subscription("paid", "shipping-orders"))
    assert addresses == ['aws_sns_topic_subscription.this["paid-shipping-orders"]']
    assert files["services/shipping.yaml"] == f"{_SHIPPING}listens:\n  - {{ topic: paid, queue: orders }}\n"


def test_a_file_of_json_that_has_no_such_list_gets_one(tmp_path: Path) -> None:
    _, files = _written(_project(tmp_path, "json"), _subscription("paid", "shipping-orders"))
    assert json.loads(files["services/shipping.json"]) == {
        "queues": {"orders": {"delay": 5}},
        "listens": [{"topic": "paid", "queue": "orders"}],
    }


def test_what_was_created_together_is_two_entries_of_one_file(tmp_path: Path) -> None:
    addresses, files = _written(
        _project(tmp_path, "yaml"), _queue("shipping-returns"), _subscription("placed", "shipping-returns")
    )
    assert addresses == [
        'aws_sqs_queue.this["shipping-returns"]',
        'aws_sns_topic_subscription.this["placed-shipping-returns"]',
    ]
    text = _SHIPPING.replace("orders: { delay: 5 }\n", "orders: { delay: 5 }\n  returns: { delay: 5 }\n")
    assert files["services/shipping.yaml"] == f"{text}listens:\n  - {{ topic: placed, queue: returns }}\n"


def test_a_part_of_the_key_that_an_entry_has_is_the_part_of_the_new_one(tmp_path: Path) -> None:
    _, files = _written(_project(tmp_path, "yaml"), _subscription("paid", "mailer-bounces"))
    assert "  - { topic: paid, queue: bounces }\n" in files["services/mailer.yaml"]


@pytest.mark.parametrize("branch", ["shipping", "billing"])
def test_an_entry_of_one_map_may_be_the_branch(tmp_path: Path, branch: str) -> None:
    services = "".join(
        f"{name}:\n  {text.rstrip().replace(chr(10), chr(10) + '  ')}\n"
        for name, text in (("mailer", _MAILER), (branch, _SHIPPING))
    )
    (tmp_path / "main.tf").write_text(_MAIN % 'yamldecode(file("${path.module}/services.yaml"))')
    (tmp_path / "services.yaml").write_text(services)
    live = _live() | {
        f'aws_sqs_queue.this["{branch}-orders"]': {
            "id": "q",
            "name": f"{branch}-orders",
            "arn": f"{_SQS}{branch}-orders",
        }
    }
    (wanted,) = wanted_creations(tmp_path, [_subscription("paid", f"{branch}-orders")], live)
    edited = edit_code(tmp_path, [wanted])
    assert (
        edited.files[Path("services.yaml")].decode()
        == f"{services}  listens:\n    - {{ topic: paid, queue: orders }}\n"
    )


def test_an_entry_that_refers_to_something_else_is_not_it(tmp_path: Path) -> None:
    root = _project(tmp_path, "yaml")
    for wanted in wanted_creations(
        root,
        [_subscription("paid", "elsewhere")],
        {**_live(), "aws_sqs_queue.own": {"id": "x", "arn": f"{_SQS}elsewhere"}},
    ):
        assert "mailer" not in wanted.address
