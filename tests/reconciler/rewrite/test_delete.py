"""What is gone in AWS is removed from the code as its owner would: the benchmark's deletions against their gold edits, and what is refused."""

from pathlib import Path

import pytest

from gateway.core.model.json import Json
from reconciler.model import Wanted
from reconciler.rewrite.delete import RemovedName, delete_resources, without_references
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.editors.hcl_text import CannotEdit
from tests.bench.drift.scenario import Project, Scenario, golden, project_names, read_kinds, read_project

_TIDIER = {"keyed/last-topic-gone", "nested/mail-gone", "policies/inline-to-managed"}
"""Here the gold also removes what is of no use any more (a title, a variable), or adds a resource."""


def _deletions() -> list[tuple[Project, Scenario]]:
    kinds = read_kinds()
    projects = [read_project(name, kinds) for name in project_names()]
    known = [(each, one) for each in projects for one in each.scenarios if _gone(one) and one.id not in _TIDIER]
    # Those of issue 22 are an exam: only the benchmark plays them, since many of them hold more than a deletion.
    return [(each, one) for each, one in known if not one.issue_class]


def _gone(scenario: Scenario) -> list[Wanted]:
    gone = [change.on for change in scenario.changes if change.kind.sees == "gone"]
    return [Wanted(address=address, attribute="*", value=None) for address in gone]


@pytest.mark.parametrize(("project", "scenario"), [pytest.param(*each, id=each[1].id) for each in _deletions()])
def test_the_edit_is_the_gold_edit(project: Project, scenario: Scenario) -> None:
    edited = delete_resources(project.path / scenario.root, _gone(scenario))
    assert edited.left == ()
    found = {str(Path(scenario.root) / path): content.decode() for path, content in edited.files.items()}
    assert found == {file: after for file, (_, after) in golden(scenario, project.path).items()}


_QUEUE = 'resource "aws_sqs_queue" "a" {\n  name = "a"\n}\n'


def _delete(tmp_path: Path, code: str, *addresses: str) -> tuple[str, list[str]]:
    (tmp_path / "main.tf").write_text(code)
    edited = delete_resources(tmp_path, [Wanted(address=address, attribute="*", value=None) for address in addresses])
    after = edited.files.get(Path("main.tf"), code.encode()).decode()
    return after, [left.reason for left in edited.left]


def test_what_names_only_the_resource_goes_with_it(tmp_path: Path) -> None:
    rest = 'resource "aws_sqs_queue" "b" {\n  name       = "b"\n'
    outputs = '\noutput "a" {\n  value = aws_sqs_queue.a.url\n}\n\nimport {\n  to = aws_sqs_queue.a\n  id = "x"\n}\n'
    code = f"{_QUEUE}\n{rest}  depends_on = [aws_sqs_queue.a]\n}}\n{outputs}"
    after, left = _delete(tmp_path, code, "aws_sqs_queue.a")
    assert left == []
    assert after == 'resource "aws_sqs_queue" "b" {\n  name = "b"\n}\n'


def test_one_of_several_dependencies_is_taken_out(tmp_path: Path) -> None:
    two = _QUEUE.replace('"a"', '"b"')
    code = f'{_QUEUE}\n{two}\nmodule "m" {{\n  source     = "example/m"\n  depends_on = [aws_sqs_queue.a, aws_sqs_queue.b]\n}}\n'
    after, left = _delete(tmp_path, code, "aws_sqs_queue.a")
    assert left == []
    assert "depends_on = [aws_sqs_queue.b]" in after


def test_what_something_else_needs_is_left_with_the_place(tmp_path: Path) -> None:
    user = 'resource "aws_sqs_queue" "b" {\n  name = "${aws_sqs_queue.a.name}-b"\n}\n'
    after, left = _delete(tmp_path, f"{_QUEUE}\n{user}", "aws_sqs_queue.a")
    assert after == f"{_QUEUE}\n{user}"
    assert len(left) == 1
    assert "resource.aws_sqs_queue.b still refers to it (main.tf:6)" in left[0]


def test_two_that_need_each_other_go_together_or_not_at_all(tmp_path: Path) -> None:
    user = 'resource "aws_sqs_queue" "b" {\n  name = "${aws_sqs_queue.a.name}-b"\n}\n'
    after, left = _delete(tmp_path, f"{_QUEUE}\n{user}", "aws_sqs_queue.a", "aws_sqs_queue.b")
    assert (after, left) == ("", [])


def test_an_instance_in_the_middle_of_a_count_is_left(tmp_path: Path) -> None:
    code = 'resource "aws_sqs_queue" "a" {\n  count = 3\n\n  name = "a-${count.index}"\n}\n'
    after, left = _delete(tmp_path, code, "aws_sqs_queue.a[1]")
    assert after == code
    assert "No single entry of the code makes exactly the instance 1 go" in left[0]
    after, left = _delete(tmp_path, code, "aws_sqs_queue.a[2]", "aws_sqs_queue.a[1]")
    assert "count = 1" in after
    assert left == []


def test_a_block_of_a_module_that_is_used_twice_is_left(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text(_QUEUE + '\nresource "aws_sns_topic" "t" {\n  name = "t"\n}\n')
    code = 'module "one" {\n  source = "./m"\n}\n\nmodule "two" {\n  source = "./m"\n}\n'
    after, left = _delete(tmp_path, code, "module.one.aws_sqs_queue.a")
    assert after == code
    assert "module.two.aws_sqs_queue.a" in left[0]


def test_an_address_that_the_code_does_not_have_is_left(tmp_path: Path) -> None:
    _, left = _delete(tmp_path, _QUEUE, "aws_sqs_queue.other")
    assert left == ["No block in the code declares aws_sqs_queue.other, or not with a key that is known."]


_WANTED = Wanted(address="module.m.a_b.c", attribute="*", value=None)


def test_an_output_of_a_module_goes_with_the_outputs_that_repeat_it(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m/main.tf").write_text('output "id" {\n  value = a_b.c.id\n}\n')
    (tmp_path / "main.tf").write_text('module "m" {\n  source = "./m"\n}\n\noutput "id" {\n  value = module.m.id\n}\n')
    after = without_references(read_code(tmp_path, {}), RemovedName("m", "a_b", ("c",)), _WANTED)
    assert {str(path): content.decode() for path, content in after.sources.items()} == {
        "m/main.tf": "",
        "main.tf": 'module "m" {\n  source = "./m"\n}\n',
    }


_PAIRED = """locals {
  schedules = {
    daily  = "rate(1 day)"
    hourly = "rate(1 hour)"
  }
}

resource "aws_cloudwatch_event_rule" "schedule" {
  for_each            = local.schedules
  name                = each.key
  schedule_expression = each.value
}

resource "aws_cloudwatch_event_target" "schedule" {
  for_each = local.schedules
  rule     = aws_cloudwatch_event_rule.schedule[each.key].name
  arn      = "arn:aws:sqs:us-east-1:123456789012:mail"
}
"""


def test_one_entry_of_which_several_are_made_goes_with_all_of_them(tmp_path: Path) -> None:
    rule, target = (f'aws_cloudwatch_event_{each}.schedule["hourly"]' for each in ("rule", "target"))
    after, left = _delete(tmp_path, _PAIRED, target, rule)
    assert left == []
    assert after == _PAIRED.replace('    hourly = "rate(1 hour)"\n', "").replace("daily  =", "daily =")


def test_one_entry_of_which_only_one_is_gone_stays_and_is_left_out_of_its_block(tmp_path: Path) -> None:
    after, left = _delete(tmp_path, _PAIRED, 'aws_cloudwatch_event_target.schedule["hourly"]')
    assert left == []
    block = 'schedule" {\n  for_each = '
    filtered = '{ for key, value in local.schedules : key => value if key != "hourly" }'
    assert after == _PAIRED.replace(f"{block}local.schedules", f"{block}{filtered}")


def test_of_which_the_one_is_gone_that_another_names_all_stays(tmp_path: Path) -> None:
    after, left = _delete(tmp_path, _PAIRED, 'aws_cloudwatch_event_rule.schedule["hourly"]')
    assert after == _PAIRED
    assert "'hourly'" in left[0]


def test_one_key_is_not_all_keys(tmp_path: Path) -> None:
    text = 'output "x" {\n  value = a_b.c["x"].id\n}\n\noutput "y" {\n  value = a_b.c["y"].id\n}\n'
    (tmp_path / "main.tf").write_text(text)
    after = without_references(read_code(tmp_path, {}), RemovedName(".", "a_b", ("c",), "x"), _WANTED)
    assert after.sources[Path("main.tf")].decode() == 'output "y" {\n  value = a_b.c["y"].id\n}\n'


def test_a_value_that_needs_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('resource "a_b" "d" {\n  depends = [a_b.c]\n  other   = a_b.c.id\n}\n')
    with pytest.raises(CannotEdit, match=r"resource\.a_b\.d still refers to it \(main\.tf:2\)"):
        without_references(read_code(tmp_path, {}), RemovedName(".", "a_b", ("c",)), _WANTED)


_ALARM = """resource "aws_cloudwatch_metric_alarm" "depth" {
  dimensions    = { QueueName = aws_sqs_queue.a.name }
  alarm_actions = ["${aws_sqs_queue.a.arn}"]
}
"""
_HAD: dict[str, Json] = {"name": "a", "arn": "arn:aws:sqs:eu-west-1:123456789012:a", "tags": {"x": "y"}}


def _proposed(tmp_path: Path, code: str, *gone: Wanted) -> tuple[dict[Path, bytes], list[str]]:
    (tmp_path / "main.tf").write_text(code)
    edited = delete_resources(tmp_path, gone)
    assert not edited.files
    return dict(edited.proposed), [left.diff for left in edited.left]


def test_what_something_refers_to_is_proposed_with_the_values_it_had(tmp_path: Path) -> None:
    gone = Wanted(address="aws_sqs_queue.a", attribute="*", value=None, before=_HAD)
    proposed, (diff,) = _proposed(tmp_path, f"{_QUEUE}\n{_ALARM}", gone)
    after = proposed[Path("main.tf")].decode()
    assert after == (
        'resource "aws_cloudwatch_metric_alarm" "depth" {\n  dimensions    = { QueueName = "a" }\n'
        '  alarm_actions = ["arn:aws:sqs:eu-west-1:123456789012:a"]\n}\n'
    )
    assert diff.startswith("--- a/main.tf\n+++ b/main.tf\n")
    assert '+  dimensions    = { QueueName = "a" }' in diff


def test_the_diffs_of_several_are_one_proposal(tmp_path: Path) -> None:
    other, has = _QUEUE.replace('"a"', '"b"'), _HAD | {"name": "b"}
    gone = [
        Wanted(address=f"aws_sqs_queue.{name}", attribute="*", value=None, before=had)
        for name, had in (("a", _HAD), ("b", has))
    ]
    code = f"{_QUEUE}\n{other}\n{_ALARM.replace('${aws_sqs_queue.a.arn}', '${aws_sqs_queue.b.name}')}"
    proposed, diffs = _proposed(tmp_path, code, *gone)
    assert "aws_sqs_queue" not in proposed[Path("main.tf")].decode()
    assert '-resource "aws_sqs_queue" "a" {' in diffs[0]
    assert '-resource "aws_sqs_queue" "b" {' in diffs[1]


@pytest.mark.parametrize("had", [None, {"name": "a"}, _HAD | {"arn": ["x"]}])
def test_a_value_that_is_not_known_is_not_proposed(had: Json, tmp_path: Path) -> None:
    gone = Wanted(address="aws_sqs_queue.a", attribute="*", value=None, before=had)
    assert _proposed(tmp_path, f"{_QUEUE}\n{_ALARM}", gone) == ({}, [""])


_KEYED = """locals {
  queues = ["a", "b"]
}

resource "aws_sqs_queue" "q" {
  for_each = toset(local.queues)
  name     = each.key
}

resource "aws_ssm_parameter" "names" {
  name  = "/queues"
  value = join(",", [for queue in aws_sqs_queue.q : queue.name])
}
"""


def test_what_an_expression_still_makes_of_all_instances_is_named_with_its_place(tmp_path: Path) -> None:
    after, (reason,) = _delete(tmp_path, _KEYED, 'aws_sqs_queue.q["a"]')
    assert after == _KEYED
    assert "aws_ssm_parameter.names.value (main.tf:12) still refers to its entry at main.tf:2." in reason


def test_what_its_entry_also_makes_is_named(tmp_path: Path) -> None:
    code = (
        _KEYED.partition('resource "aws_ssm')[0]
        + 'resource "aws_sns_topic" "t" {\n  for_each = toset(local.queues)\n  name     = each.key\n}\n'
    )
    after, (reason,) = _delete(tmp_path, code, 'aws_sqs_queue.q["a"]')
    assert after == code
    assert 'the entry at main.tf:2 also makes aws_sns_topic.t["a"], which is there.' in reason
