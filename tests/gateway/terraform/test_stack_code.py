"""The code of a stack: what is loaded, also if keys are unknown, and what is refused."""

from pathlib import Path

import pytest

from gateway.core.errors import CodeInvalid
from gateway.terraform.config.module import declared
from gateway.terraform.stack_code import code_files, load_code

KAFKA = Path(__file__).parents[2] / "cases" / "stacks" / "kafka"
CONTRACT = 'contract "%s" {\n  resource "aws_x" "*" {\n    critical = true\n  }\n}\n'


def test_the_case_stack_is_loaded_with_its_modules() -> None:
    code = load_code(KAFKA)

    assert code.directories == (".", "modules/worker")
    assert {directory: len(rules) for directory, rules in code.rules.items()} == {".": 7, "modules/worker": 1}
    assert code.source_of("aws_dynamodb_table.offsets") == "main.tf:52"
    assert code.source_of("aws_nothing.x") == ""


def test_an_instance_with_an_unknown_key_is_found_by_its_block(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(
        'variable "many" {}\nresource "aws_x" "y" {\n  count = var.many\n  name = "n-${count.index}"\n}\n'
        'resource "aws_x" "z" {\n  for_each = var.many\n  name = each.key\n}\n'
    )
    code = load_code(tmp_path)

    assert code.instances == {}
    (counted, keyed) = (code.instance("aws_x.y[3]"), code.instance('aws_x.z["a"]'))
    assert counted is not None
    assert keyed is not None
    assert (declared(counted, "name"), declared(keyed, "name")) == ("n-3", "a")
    assert code.source_of("aws_x.y[3]") == "main.tf:2"
    for address in ("aws_x.y", "aws_x.nobody[0]", "data.aws_x.y[0]", "module.m.aws_x.y[0]", "no address"):
        assert code.instance(address) is None


def test_the_digest_changes_with_every_byte_and_name(tmp_path: Path) -> None:
    (tmp_path / "a.tf").write_text("# a\n")
    digests = [load_code(tmp_path).digest]
    (tmp_path / "a.tf").write_text("# b\n")
    digests.append(load_code(tmp_path).digest)
    (tmp_path / "a.tf").rename(tmp_path / "b.tf")
    digests.append(load_code(tmp_path).digest)
    (tmp_path / "c.sentinel.hcl").write_text(CONTRACT % "c")
    digests.append(load_code(tmp_path).digest)
    (tmp_path / "README.md").write_text("no code")

    assert len(set(digests)) == 4
    assert load_code(tmp_path).digest == digests[-1]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.sentinel.hcl": CONTRACT % "c", "b.sentinel.hcl": CONTRACT % "c"}, "b.sentinel.hcl:2: The contract 'c' is already in a.sentinel.hcl."),
        ({"main.tf": 'resource "aws_x" {\n}\n'}, "main.tf:1"),
        ({"a.sentinel.hcl": "contract"}, "a.sentinel.hcl:"),
    ],
)  # fmt: skip
def test_broken_code_is_refused(tmp_path: Path, files: dict[str, str], expected: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    with pytest.raises(CodeInvalid) as caught:
        load_code(tmp_path)
    assert str(caught.value).startswith(expected)


def test_a_contract_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sentinel.hcl").write_bytes(b"\xff\xfe")

    with pytest.raises(CodeInvalid, match="not UTF-8"):
        load_code(tmp_path)


def test_hidden_and_other_files_are_not_code(tmp_path: Path) -> None:
    for name in (".a.tf", "b.tf", "c.txt", "terraform.tfstate", "d.tfvars"):
        (tmp_path / name).write_text("")

    assert [path.name for path in code_files(tmp_path, ".")] == ["b.tf", "d.tfvars"]
    assert list(code_files(tmp_path, "nowhere")) == []


def test_places_in_json_code_are_lines_of_the_json(tmp_path: Path) -> None:
    (tmp_path / "main.tf.json").write_text('{"resource": {\n"aws_sqs_queue": {\n"q": {"name": "q"}}}}')
    (tmp_path / "c.sentinel.hcl").write_text(
        'contract "c" {\n  resource "aws_sqs_queue" "*" {\n    critical = true\n  }\n}\n'
    )
    code = load_code(tmp_path)
    assert code.source_of("aws_sqs_queue.q") == "main.tf.json:3"
    assert declared(code.instances["aws_sqs_queue.q"], "name") == "q"
    assert [rule.source for rule in code.rules["."]] == ["c.sentinel.hcl:2"]
    before = code.digest
    (tmp_path / "main.tf.json").write_text('{"resource": {"aws_sqs_queue": {"q": {"name": "r"}}}}')
    assert load_code(tmp_path).digest != before
