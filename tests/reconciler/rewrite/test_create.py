"""A created resource is written where its siblings are, named as they are, with references, and only if it belongs to the stack."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.core.model.json import Json
from gateway.terraform.config.module import declared, load_module
from reconciler.adoption.model import Adoption
from reconciler.changes.event_creations import Created
from reconciler.model import DriftOrigin, Wanted
from reconciler.rewrite.create import create_resources, import_id_of, wanted_creations, with_places
from reconciler.rewrite.imports import imported_ids
from reconciler.rewrite.surroundings import Surroundings, surroundings

_CODE = """resource "aws_sqs_queue" "jobs" {
  name = "shop-jobs"
}

resource "aws_iam_role" "app" {
  name = "app"
}

resource "aws_iam_role_policy_attachment" "old" {
  role       = aws_iam_role.app.name
  policy_arn = "arn:aws:iam::aws:policy/Old"
}

# The end.
"""
_LIVE: dict[str, dict[str, Json]] = {
    "aws_sqs_queue.jobs": {"name": "shop-jobs", "id": "https://q/shop-jobs", "arn": "arn:q"},
    "aws_iam_role.app": {"name": "app", "id": "app", "arn": "arn:r"},
    "aws_iam_role_policy_attachment.old": {"id": "app-1", "role": "app", "policy_arn": "arn:aws:iam::aws:policy/Old"},
}


def _queue(name: str) -> Created:
    return Created(resource_type="aws_sqs_queue", import_id=f"https://q/{name}", attributes={"name": name}, name=name)


def _attachment(policy: str, role: str = "app") -> Created:
    return Created(
        resource_type="aws_iam_role_policy_attachment",
        import_id=f"{role}/{policy}",
        attributes={"role": role, "policy_arn": policy},
        name=policy.rpartition("/")[2],
        parent=role,
    )


def _created(tmp_path: Path, code: str, *created: Created, live: Any = _LIVE) -> dict[str, str]:
    (tmp_path / "main.tf").write_text(code)
    edited = create_resources(tmp_path, wanted_creations(tmp_path, created, live))
    assert edited.left == ()
    return {str(path): content.decode() for path, content in edited.files.items()}


def test_a_block_follows_its_sibling_and_is_imported(tmp_path: Path) -> None:
    after = _created(tmp_path, _CODE, _queue("shop-mail"))["main.tf"]
    block = 'resource "aws_sqs_queue" "mail" {\n  name = "shop-mail"\n}\n\nimport {\n  to = aws_sqs_queue.mail\n  id = "https://q/shop-mail"\n}\n'
    assert after == _CODE.replace('"shop-jobs"\n}\n', f'"shop-jobs"\n}}\n\n{block}')


def test_what_it_names_is_referred_to_as_its_siblings_do(tmp_path: Path) -> None:
    after = _created(tmp_path, _CODE, _attachment("arn:aws:iam::aws:policy/AmazonSQSFullAccess"))["main.tf"]
    assert (
        'resource "aws_iam_role_policy_attachment" "amazon_sqs_full_access" {\n  role       = aws_iam_role.app.name\n'
        in after
    )


def test_what_the_state_has_or_belongs_to_others_is_not_written(tmp_path: Path) -> None:
    known = (_queue("shop-jobs"), _attachment("arn:aws:iam::aws:policy/Old"))
    foreign = (_queue("billing-jobs"), _attachment("arn:p", role="other"))
    assert _created(tmp_path, _CODE, *known, *foreign) == {}


def test_two_of_the_same_name_get_two_labels(tmp_path: Path) -> None:
    one, two = (_attachment(f"arn:aws:iam::{account}:policy/Read") for account in ("1", "2"))
    after = _created(tmp_path, _CODE, one, two)["main.tf"]
    assert '"read" {' in after
    assert '"read_2" {' in after


@pytest.mark.parametrize("key", ["ManagedBy", "managedBy"])
def test_tags_that_an_event_spells_small_are_those_that_all_instances_share(tmp_path: Path, key: str) -> None:
    code = 'resource "aws_sqs_queue" "q" {\n  for_each = toset(["jobs", "import"])\n\n  name = "shop-${each.key}"\n  tags = { ManagedBy = "platform" }\n}\n'
    live = {
        f'aws_sqs_queue.q["{name}"]': {"name": f"shop-{name}", "id": f"https://q/shop-{name}"}
        for name in ("jobs", "import")
    }
    queue = _queue("shop-mail")
    queue = replace(queue, attributes={**queue.attributes, "tags": {key: "platform"}})
    after = _created(tmp_path, code, queue, live=live)["main.tf"]
    assert 'toset(["jobs", "import", "mail"])' in after
    assert after.count("tags") == 1


def test_an_instance_more_is_an_entry_more(tmp_path: Path) -> None:
    code = 'resource "aws_sqs_queue" "q" {\n  for_each = {\n    jobs   = 1\n    import = 2\n  }\n\n  name          = "shop-${each.key}"\n  delay_seconds = each.value\n}\n'
    live = {
        f'aws_sqs_queue.q["{name}"]': {"name": f"shop-{name}", "id": f"https://q/shop-{name}"}
        for name in ("jobs", "import")
    }
    after = _created(tmp_path, code, _queue("shop-mail"), live=live)["main.tf"]
    assert "    import = 2\n    mail   = " in after
    assert 'to = aws_sqs_queue.q["mail"]' in after


def test_it_goes_into_the_module_of_its_sibling_if_only_one_call_uses_that(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text('resource "aws_sqs_queue" "jobs" {\n  name = "shop-jobs"\n}\n')
    live = {"module.one.aws_sqs_queue.jobs": _LIVE["aws_sqs_queue.jobs"]}
    call = 'module "one" {\n  source = "./m"\n}\n'
    after = _created(tmp_path, call, _queue("shop-mail"), live=live)
    assert 'resource "aws_sqs_queue" "mail"' in after["m/main.tf"]
    assert "to = module.one.aws_sqs_queue.mail" in after["main.tf"]
    twice = call + '\nmodule "two" {\n  source = "./m"\n}\n'
    after = _created(tmp_path, twice, _queue("shop-mail"), live=live)
    assert list(after) == ["main.tf"]
    assert 'resource "aws_sqs_queue" "mail"' in after["main.tf"]


def test_a_module_that_is_frozen_or_that_another_root_uses_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "env/m").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "env/m/main.tf").write_text('resource "aws_sqs_queue" "jobs" {\n  name = "shop-jobs"\n}\n')
    (tmp_path / "env/main.tf").write_text('module "one" {\n  source = "./m"\n}\n')
    live = {"module.one.aws_sqs_queue.jobs": _LIVE["aws_sqs_queue.jobs"]}

    def files(around: Surroundings) -> list[str]:
        wanted = wanted_creations(tmp_path / "env", [_queue("shop-mail")], live, around)
        return sorted(str(path) for path in create_resources(tmp_path / "env", wanted, around=around).files)

    assert files(surroundings(tmp_path / "env", tmp_path)) == ["m/main.tf", "main.tf"]
    assert files(surroundings(tmp_path / "env", tmp_path, ["env/m"])) == ["main.tf"]
    (tmp_path / "other/main.tf").write_text('module "theirs" {\n  source = "../env/m"\n}\n')
    assert files(surroundings(tmp_path / "env", tmp_path)) == ["main.tf"]


def test_what_may_be_a_secret_is_left_and_not_shown(tmp_path: Path) -> None:
    code = 'resource "aws_ssm_parameter" "limit" {\n  name = "/shop/limit"\n}\n'
    live: dict[str, dict[str, Json]] = {"aws_ssm_parameter.limit": {"name": "/shop/limit", "id": "/shop/limit"}}

    def parameter(name: str, value: str) -> Created:
        attributes: dict[str, Json] = {"name": name, "type": "String", "value": value}
        return Created(resource_type="aws_ssm_parameter", import_id=name, attributes=attributes, name=name)

    assert '"40"' in _created(tmp_path, code, parameter("/shop/quota", "40"), live=live)["main.tf"]
    for secret in (parameter("/shop/motto", "swordfish"), parameter("/shop/db_password", "40")):
        edited = create_resources(tmp_path, wanted_creations(tmp_path, [secret], live))
        assert edited.files == {}
        assert "its value may hold a secret" in edited.left[0].reason
        assert "swordfish" not in repr(edited)


def test_a_rule_of_a_group_with_rules_of_its_own_is_a_value_of_the_group(tmp_path: Path) -> None:
    code = 'resource "aws_security_group" "g" {\n  name = "g"\n\n  ingress {\n    from_port = 1\n  }\n}\n'
    live: dict[str, dict[str, Json]] = {"aws_security_group.g": {"id": "sg-1", "name": "g", "arn": "arn:g"}}
    rule = Created(
        resource_type="aws_vpc_security_group_ingress_rule", import_id="sgr-1", attributes={"security_group_id": "sg-1", "from_port": 22}, name="22", parent="sg-1"
    )  # fmt: skip
    assert _created(tmp_path, code, rule, live=live) == {}
    after = _created(tmp_path, 'resource "aws_security_group" "g" {\n  name = "g"\n}\n', rule, live=live)["main.tf"]
    assert (
        'resource "aws_vpc_security_group_ingress_rule" "g_22" {\n  security_group_id = aws_security_group.g.id\n'
        in after
    )


def test_the_import_id_is_known(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_CODE)
    (wanted,) = wanted_creations(tmp_path, [_queue("shop-mail")], _LIVE)
    assert import_id_of(wanted) == "https://q/shop-mail"


def test_an_instance_more_of_a_count_is_added_only_if_it_gets_the_name(tmp_path: Path) -> None:
    code = 'resource "aws_sqs_queue" "pair" {\n  count = 2\n  name  = "shop-${count.index}"\n}\n'
    live: dict[str, dict[str, Json]] = {
        f"aws_sqs_queue.pair[{index}]": {"name": f"shop-{index}", "id": f"https://q/shop-{index}"} for index in (0, 1)
    }
    assert "count = 3" in _created(tmp_path, code, _queue("shop-2"), live=live)["main.tf"]
    after = _created(tmp_path, code, _queue("shop-mail"), live=live)["main.tf"]
    assert "count = 2" in after
    assert 'name = "shop-mail"' in after


def test_another_resource_of_the_same_name_is_not_what_it_belongs_to(tmp_path: Path) -> None:
    code = f'{_CODE}\nresource "aws_lambda_function" "app" {{\n  function_name = "app"\n}}\n'
    live = {**_LIVE, "aws_lambda_function.app": {"id": "app", "function_name": "app", "arn": "arn:f"}}
    after = _created(tmp_path, code, _attachment("arn:aws:iam::aws:policy/Read"), live=live)["main.tf"]
    assert "role       = aws_iam_role.app.name" in after.partition('"read" {')[2]


def test_what_the_code_declares_already_gets_no_second_block(tmp_path: Path) -> None:
    once = _created(tmp_path, _CODE, _queue("shop-mail"))["main.tf"]
    assert _created(tmp_path, once, _queue("shop-mail")) == {}
    assert _created(tmp_path, _CODE, _queue("shop-mail"), _queue("shop-mail"))["main.tf"] == once


def test_a_name_that_looks_like_code_stays_text(tmp_path: Path) -> None:
    name = 'shop-${file("/etc/passwd")}%{ if true }"\n}'
    after = _created(tmp_path, _CODE, _queue(name))["main.tf"]
    assert "${file" not in after.replace("$${file", "")
    assert "%{ if" not in after.replace("%%{ if", "")
    assert after.count("resource ") == _CODE.count("resource ") + 1


HOSTILE = (
    '${file("/etc/passwd")}',
    "%{ for x in [1] }",
    'a"\n}\nresource "null_resource" "x" {\n  provisioner "local-exec" {\n    command = "id"\n  }\n}\n#',
    "../../../etc/cron.d/x",
    "EOT\n}\n",
    '\\${file("x")}',
    "$${a}",
    "a\u2028b\tc",
)
_KEYED = """locals {
  hosts = {
    www = "192.0.2.1"
  }
}

resource "aws_route53_zone" "main" {
  name = "example.org"
}

resource "aws_route53_record" "host" {
  for_each = local.hosts

  zone_id = aws_route53_zone.main.zone_id
  name    = "${each.key}.example.org"
  type    = "A"
  records = [each.value]
}
"""


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_value_or_id_of_an_event_becomes_code(tmp_path: Path, hostile: str) -> None:
    """Whatever somebody calls what is created: the code has one block and one import more, and their texts are these names."""
    made = _queue(f"shop-{hostile}")
    (tmp_path / "main.tf").write_text(_CODE)
    edited = create_resources(tmp_path, wanted_creations(tmp_path, [made], _LIVE))
    assert set(edited.files) == {Path("main.tf")}
    (tmp_path / "main.tf").write_bytes(edited.files[Path("main.tf")])
    module = load_module(tmp_path)
    (new,) = {key for key in module.source.resources if key.startswith("aws_sqs_queue.")} - {"aws_sqs_queue.jobs"}
    instance = module.instance(new)
    assert instance is not None
    assert declared(instance, "name") == made.name
    assert imported_ids(module) == {new: made.import_id}
    assert len(module.source.resources) == _CODE.count("resource ") + 1


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_key_of_an_event_becomes_code(tmp_path: Path, hostile: str) -> None:
    (tmp_path / "main.tf").write_text(_KEYED)
    live: dict[str, dict[str, Json]] = {
        "aws_route53_zone.main": {"id": "Z1", "zone_id": "Z1", "name": "example.org"},
        'aws_route53_record.host["www"]': {"id": "Z1_www", "name": "www.example.org", "zone_id": "Z1", "type": "A", "records": ["192.0.2.1"]},
    }  # fmt: skip
    name = f"{hostile}.example.org"
    made = Created(
        resource_type="aws_route53_record", import_id=f"Z1_{name}_A", name=name, parent="Z1", owner="aws_route53_zone.main",
        attributes={"zone_id": "Z1", "name": name, "type": "A", "records": ["192.0.2.2"]},
    )  # fmt: skip
    (wanted,) = wanted_creations(tmp_path, [made], live)
    edited = create_resources(tmp_path, [wanted])
    assert edited.left == ()
    for path, content in edited.files.items():
        (tmp_path / path).write_bytes(content)
    module = load_module(tmp_path)
    keyed = "${" not in hostile and "%{" not in hostile
    assert (wanted.address.startswith("aws_route53_record.host[")) == keyed
    assert len(module.source.resources) == _KEYED.count("resource ") + (not keyed)
    instance = module.instance(wanted.address)
    assert instance is not None
    assert declared(instance, "name") == name
    assert imported_ids(module) == {wanted.address: made.import_id}


_MAIL = """
resource "aws_sqs_queue" "mail" {
  for_each                   = { air = 75, sea = 60 }
  name                       = "shop-${each.key}"
  visibility_timeout_seconds = each.value
  tags                       = { Name = "shop-${each.key}" }
}
"""
_MAIL_LIVE: dict[str, dict[str, Json]] = {
    f'aws_sqs_queue.mail["{key}"]': {"name": f"shop-{key}", "id": f"https://q/shop-{key}", "arn": f"arn:{key}"}
    for key in ("air", "sea")
}


@pytest.mark.parametrize(("tags", "keyed"), [({"Name": "shop-road"}, True), ({}, False), ({"Owner": "ann"}, False)])
def test_an_instance_whose_block_says_otherwise_gets_a_block_of_its_own(
    tags: dict[str, Json], keyed: bool, tmp_path: Path
) -> None:
    attributes: dict[str, Json] = {"name": "shop-road", "visibility_timeout_seconds": 30}
    attributes |= {"tags": tags} if tags else {}
    created = Created(
        resource_type="aws_sqs_queue", import_id="https://q/shop-road", attributes=attributes, name="shop-road"
    )
    after = _created(tmp_path, _MAIL, created, live=_MAIL_LIVE)["main.tf"]
    assert ("road = " in after) is keyed
    assert ('resource "aws_sqs_queue" "road"' in after) is not keyed


_ONE_MAP = """locals {
  streams = {
    orders  = {}
    returns = {}
  }
}

resource "aws_kinesis_stream" "s" {
  for_each = local.streams
  name     = "shop-${each.key}"
}

resource "aws_cloudwatch_metric_alarm" "behind" {
  for_each   = local.streams
  alarm_name = "shop-${each.key}-behind"
  threshold  = 5
  dimensions = { StreamName = aws_kinesis_stream.s[each.key].name }
}
"""
_STREAMS_LIVE: dict[str, dict[str, Json]] = {
    **{f'aws_kinesis_stream.s["{key}"]': {"name": f"shop-{key}", "id": f"arn:aws:kinesis:eu-west-1:1:stream/shop-{key}"} for key in ("orders", "returns")},
    **{f'aws_cloudwatch_metric_alarm.behind["{key}"]': {"alarm_name": f"shop-{key}-behind", "id": f"shop-{key}-behind", "name": f"shop-{key}-behind"} for key in ("orders", "returns")},
}  # fmt: skip


def _stream(name: str = "shop-refunds") -> Created:
    arn = f"arn:aws:kinesis:eu-west-1:1:stream/{name}"
    names = {"arn": arn, "id": arn, "name": name}
    return Created(resource_type="aws_kinesis_stream", import_id=name, attributes={"name": name}, name=name, named_by=names)  # fmt: skip


def _alarm(stream: str = "shop-refunds", threshold: int = 5, **more: Json) -> Created:
    name = "shop-refunds-behind"
    attributes: dict[str, Json] = {"alarm_name": name, "threshold": threshold, "dimensions": {"StreamName": stream}, **more}  # fmt: skip
    return Created(resource_type="aws_cloudwatch_metric_alarm", import_id=name, attributes=attributes, name=name)


@pytest.mark.parametrize("first", [0, 1])
def test_one_entry_makes_all_that_was_created_together(first: int, tmp_path: Path) -> None:
    created = [_stream(), _alarm()]
    after = _created(tmp_path, _ONE_MAP, created[first], created[1 - first], live=_STREAMS_LIVE)["main.tf"]
    assert after.startswith(_ONE_MAP.replace("    returns = {}\n", "    returns = {}\n    refunds = {}\n"))
    assert 'to = aws_kinesis_stream.s["refunds"]\n  id = "shop-refunds"\n' in after
    assert 'to = aws_cloudwatch_metric_alarm.behind["refunds"]\n  id = "shop-refunds-behind"\n' in after


def test_an_entry_that_makes_more_than_was_created_is_not_added(tmp_path: Path) -> None:
    after = _created(tmp_path, _ONE_MAP, _stream(), live=_STREAMS_LIVE)["main.tf"]
    assert "refunds = {}" not in after
    assert 'resource "aws_kinesis_stream" "refunds" {\n  name = "shop-refunds"\n}' in after
    other = replace(_alarm(), import_id="shop-refunds-late", name="shop-refunds-late")
    other = replace(other, attributes={**other.attributes, "alarm_name": other.name})
    after = _created(tmp_path, _ONE_MAP, _stream(), other, live=_STREAMS_LIVE)["main.tf"]
    assert "refunds = {}" not in after
    assert "StreamName = aws_kinesis_stream.refunds.name" in after


def test_what_an_entry_makes_besides_is_not_written_without_it(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_ONE_MAP)
    wanted = wanted_creations(tmp_path, [_stream(), _alarm()], _STREAMS_LIVE)
    edited = create_resources(tmp_path, wanted[1:])
    assert edited.files == {}
    assert "whose entry makes it too, is not written." in edited.left[0].reason
    edited = create_resources(tmp_path, wanted[:1])
    assert (edited.files, len(edited.left)) == ({}, 1)


def test_one_that_names_another_one_refers_to_it_in_maps_lists_and_documents(tmp_path: Path) -> None:
    arn = _stream().named_by["arn"]
    alarm = _alarm(alarm_actions=[arn, "arn:p"], policy={"json": {"Resource": [arn, f"{arn}/*"]}}, stream_name="shop-refunds")  # fmt: skip
    wanted = replace(alarm, owner="aws_sqs_queue.jobs")
    after = _created(tmp_path, _CODE, wanted, _stream(), live=_LIVE)["main.tf"]
    assert "StreamName = aws_kinesis_stream.refunds.name" in after
    assert '= [aws_kinesis_stream.refunds.arn, "arn:p"]' in after
    assert f'Resource = [aws_kinesis_stream.refunds.arn, "{arn}/*"]' in after
    assert "= aws_kinesis_stream.refunds.name\n" in after.partition("alarm_actions")[2]


_ORIGIN = DriftOrigin(actor="ada", event="s:O", at=datetime(2026, 11, 20, tzinfo=UTC))


def test_what_names_something_without_a_place_has_none_either_and_the_rest_stays(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(_CODE)
    created = (_stream(), _alarm(), _queue("shop-mail"))
    adoption = Adoption(created=tuple((each, _ORIGIN) for each in created))

    def plan(made: Sequence[Created]) -> list[Wanted]:
        there = [each for each in made if each.resource_type != "aws_kinesis_stream"]
        return wanted_creations(tmp_path, there, _LIVE, identified=True, anywhere=True)

    after, wanted = with_places(adoption, plan)
    assert [each.address for each in wanted] == ["aws_sqs_queue.mail"]
    assert [(made.import_id, origin) for made, origin in after.created] == [("https://q/shop-mail", _ORIGIN)]
    assert [(left.identity, left.why.partition(",")[0]) for left in after.left] == [
        ("shop-refunds", "No place for its block was found in the code."),
        ("shop-refunds-behind", "It names shop-refunds"),
    ]


def test_what_names_a_new_one_or_is_named_by_it_belongs_where_that_is_written(tmp_path: Path) -> None:
    alarm = replace(_alarm(), owner="aws_sqs_queue.jobs")
    (tmp_path / "main.tf").write_text(_CODE)
    assert wanted_creations(tmp_path, [_stream(), _alarm()], _LIVE, identified=True) == []
    wanted = wanted_creations(tmp_path, [_stream("other-refunds"), alarm], _LIVE, identified=True)
    assert [each.address for each in wanted] == ["aws_cloudwatch_metric_alarm.refunds_behind"]
