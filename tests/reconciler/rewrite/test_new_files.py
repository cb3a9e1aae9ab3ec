"""Instances that files make: a new one is a further file in the form of its siblings, which the code before it does not know."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import load_module
from reconciler.changes.event_creations import Created
from reconciler.model import Wanted
from reconciler.rewrite.create import wanted_creations
from reconciler.rewrite.edits import edit_code

_MAIN = """locals {
  queues = {
    for file in fileset("${path.module}/queues", "*%(suffix)s") :
    trimsuffix(file, "%(suffix)s") => %(decode)s(file("${path.module}/queues/${file}"))
  }
}

resource "aws_sqs_queue" "this" {
  for_each = local.queues

  name                       = "shop-${each.key}"
  visibility_timeout_seconds = each.value.visibility
  tags                       = { Owner = each.value.owner }
}
"""
_YAML = {
    "orders": "# Owned by the platform.\n# Taken by the warehouse.\nowner: payments # for now\nvisibility: 60\n",
    "mails": "# Owned by the platform.\nowner: growth\nvisibility: 30\n",
}
_JSON = {
    "orders": '{\n  "owner": "payments",\n  "visibility": 60\n}\n',
    "mails": '{\n  "owner": "growth",\n  "visibility": 30\n}\n',
}


def _project(root: Path, suffix: str, files: dict[str, str]) -> Path:
    decode = "jsondecode" if suffix == ".json" else "yamldecode"
    (root / "main.tf").write_text(_MAIN % {"suffix": suffix, "decode": decode})
    (root / "queues").mkdir()
    for name, text in files.items():
        (root / f"queues/{name}{suffix}").write_text(text)
    return root


def _queue(name: str, visibility: int, owner: str) -> dict[str, Json]:
    return {"id": name, "name": name, "visibility_timeout_seconds": visibility, "tags": {"Owner": owner}}


_LIVE = {
    'aws_sqs_queue.this["orders"]': _queue("shop-orders", 60, "payments"),
    'aws_sqs_queue.this["mails"]': _queue("shop-mails", 30, "growth"),
}
_NEW = 'aws_sqs_queue.this["returns"]'


def _created(name: str = "shop-returns") -> Created:
    return Created(
        resource_type="aws_sqs_queue",
        import_id=name,
        attributes={"name": name, "visibility_timeout_seconds": 90, "tags": {"Owner": "payments"}},
        name=name,
    )


@pytest.mark.parametrize(
    ("suffix", "files", "text"),
    [
        (".yaml", _YAML, "# Owned by the platform.\nowner: payments\nvisibility: 90\n"),
        (".yml", _YAML, "# Owned by the platform.\nowner: payments\nvisibility: 90\n"),
        (".json", _JSON, '{\n  "owner": "payments",\n  "visibility": 90\n}\n'),
    ],
)
def test_a_new_instance_is_a_further_file_like_those_of_its_siblings(
    tmp_path: Path, suffix: str, files: dict[str, str], text: str
) -> None:
    root = _project(tmp_path, suffix, files)
    (wanted,) = wanted_creations(root, [_created()], _LIVE)
    assert wanted.address == _NEW
    values: list[Wanted] = [
        Wanted(address=_NEW, attribute="visibility_timeout_seconds", value=90),
        Wanted(address=_NEW, attribute="tags", value={"Owner": "payments"}),
    ]
    edited = edit_code(root, [wanted, *values])
    assert not edited.left
    assert edited.files.keys() == {Path("main.tf"), Path(f"queues/returns{suffix}")}
    assert edited.files[Path(f"queues/returns{suffix}")].decode() == text
    assert 'to = aws_sqs_queue.this["returns"]' in edited.files[Path("main.tf")].decode()
    assert not (root / f"queues/returns{suffix}").exists()


def test_the_code_knows_a_file_that_is_not_on_disk_yet(tmp_path: Path) -> None:
    root = _project(tmp_path, ".yaml", _YAML)
    new = {Path("queues/returns.yaml"): b"owner: x\nvisibility: 1\n"}
    assert load_module(root, new).instance(_NEW) is not None
    assert load_module(root).instance(_NEW) is None


@pytest.mark.parametrize("name", ["shop-a/b", "shop-..", "shop-", "other"])
def test_what_is_no_name_of_a_file_gets_no_file(tmp_path: Path, name: str) -> None:
    root = _project(tmp_path, ".yaml", _YAML)
    for wanted in wanted_creations(root, [_created(name)], _LIVE):
        assert not [path for path in edit_code(root, [wanted]).files if path.parent == Path("queues")]


def test_a_file_that_makes_more_than_what_was_created_is_not_written_once_more(tmp_path: Path) -> None:
    root = _project(tmp_path, ".yaml", _YAML)
    topic = 'resource "aws_sns_topic" "this" {\n  for_each = local.queues\n\n  name = each.key\n}\n'
    (root / "topics.tf").write_text(topic)
    for wanted in wanted_creations(root, [_created()], _LIVE):
        assert not [path for path in edit_code(root, [wanted]).files if path.parent == Path("queues")]


def test_a_new_document_is_a_further_file_whatever_it_says(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'locals {\n  policies = { for file in fileset("${path.module}/policies", "*.json") : trimsuffix(file, ".json") => file("${path.module}/policies/${file}") }\n}\n'
        'resource "aws_iam_policy" "this" {\n  for_each = local.policies\n\n  name   = each.key\n  policy = each.value\n}\n'
    )
    (tmp_path / "policies").mkdir()
    live = {}
    for name in ("read-logs", "operate"):
        policy = (
            f'{{\n  "Statement": [\n    {{ "Action": ["ec2:{name}"], "Effect": "Allow", "Resource": "*" }}\n  ]\n}}\n'
        )
        (tmp_path / f"policies/{name}.json").write_text(policy)
        live[f'aws_iam_policy.this["{name}"]'] = {
            "id": f"arn:{name}",
            "arn": f"arn:{name}",
            "name": name,
            "policy": policy,
        }
    created = Created(
        resource_type="aws_iam_policy",
        import_id="arn:read-buckets",
        attributes={
            "name": "read-buckets",
            "policy": {"json": {"Statement": [{"Action": "s3:ListAllMyBuckets", "Effect": "Allow", "Resource": "*"}]}},
        },
        name="read-buckets",
    )
    (wanted,) = wanted_creations(tmp_path, [created], live)
    assert wanted.address == 'aws_iam_policy.this["read-buckets"]'
    assert Path("policies/read-buckets.json") in edit_code(tmp_path, [wanted]).files
