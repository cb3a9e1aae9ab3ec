"""A changed value that names a new resource refers to it, where that is no circle and the name did not stand there before."""

from pathlib import Path

from reconciler.model import Wanted
from reconciler.rewrite.edits import edit_code

_ARN = "arn:aws:sns:eu-west-1:123456789012:pager"
_CODE = f"""resource "aws_alarm" "a" {{
  actions = []
}}

resource "aws_alarm" "literal" {{
  actions = ["{_ARN}"]
}}

resource "aws_alarm" "named_by_it" {{
  actions = []
}}
"""


def _topic(text: str = "") -> Wanted:
    block = f'resource "aws_sns_topic" "pager" {{\n  name = "pager"\n{text}}}\n\nimport {{\n  to = aws_sns_topic.pager\n  id = "{_ARN}"\n}}'
    value = {"import_id": _ARN, "file": "main.tf", "after": [], "text": block, "import_file": "", "import": ""}
    return Wanted(address="aws_sns_topic.pager", attribute="*", value={**value, "names": {"arn": _ARN}})


def _edited(root: Path, code: str, *wanted: Wanted) -> str:
    (root / "main.tf").write_text(code)
    edited = edit_code(root, wanted)
    content = code.encode()
    for each in edited.edits:
        assert content[each.start : each.end] == each.old
        content = content[: each.start] + each.new + content[each.end :]
    assert (content, edited.left) == (edited.files[Path("main.tf")], ())
    return content.decode()


def _actions(name: str) -> Wanted:
    return Wanted(address=f"aws_alarm.{name}", attribute="actions", value=[_ARN])


def test_the_value_refers_to_it_and_the_import_keeps_the_id(tmp_path: Path) -> None:
    code = _edited(tmp_path, _CODE.replace(f'"{_ARN}"', ""), _topic(), _actions("a"))
    assert "  actions = [aws_sns_topic.pager.arn]\n" in code
    assert f'id = "{_ARN}"' in code


def test_a_name_that_stood_in_the_file_before_stays(tmp_path: Path) -> None:
    code = _edited(tmp_path, _CODE, _topic(), _actions("a"))
    assert code.count(f'actions = ["{_ARN}"]') == 2


def test_what_it_refers_to_itself_does_not_refer_back(tmp_path: Path) -> None:
    topic = _topic("  policy = aws_alarm.named_by_it.arn\n")
    code = _edited(tmp_path, _CODE.replace(f'"{_ARN}"', ""), topic, _actions("a"), _actions("named_by_it"))
    assert 'resource "aws_alarm" "a" {\n  actions = [aws_sns_topic.pager.arn]' in code
    assert f'resource "aws_alarm" "named_by_it" {{\n  actions = ["{_ARN}"]' in code


def test_it_takes_the_place_of_another_one_in_a_list(tmp_path: Path) -> None:
    code = """resource "aws_sns_topic" "alerts" {
  name = "alerts"
}

resource "aws_alarm" "a" {
  actions = [aws_sns_topic.alerts.arn]
}
"""
    (tmp_path / "main.tf").write_text(code)
    live = {"aws_sns_topic.alerts": {"arn": "arn:aws:sns:eu-west-1:123456789012:alerts"}}
    edited = edit_code(tmp_path, [_topic(), _actions("a")], live=live)
    assert edited.left == ()
    assert b"  actions = [aws_sns_topic.pager.arn]\n" in edited.files[Path("main.tf")]


def _stream() -> Wanted:
    block = 'resource "aws_kinesis_stream" "s" {\n  name = "shop-refunds"\n}'
    value = {"import_id": "s", "file": "main.tf", "after": [], "text": block, "import_file": "", "import": ""}
    names = {"arn": "arn:aws:kinesis:eu-west-1:1:stream/shop-refunds", "name": "shop-refunds"}
    return Wanted(address="aws_kinesis_stream.s", attribute="*", value={**value, "names": names})


def test_a_plain_name_is_a_reference_only_under_a_key_that_speaks_of_its_type(tmp_path: Path) -> None:
    code = 'resource "aws_alarm" "a" {\n  dimensions = {\n    StreamName = "old"\n    QueueName  = "old"\n  }\n}\n'
    wanted = [
        Wanted(address="aws_alarm.a", attribute=f"dimensions.{key}", value="shop-refunds")
        for key in ("StreamName", "QueueName")
    ]
    after = _edited(tmp_path, code, _stream(), *wanted)
    assert "    StreamName = aws_kinesis_stream.s.name\n" in after
    assert '    QueueName  = "shop-refunds"\n' in after
