"""A suggestion is made as it says, or not at all: it changes the wanted value and nothing else, and all of it is needed."""

from pathlib import Path

import pytest

from gateway.terraform.lang.hcl import parse
from reconciler.rewrite.editors.hcl_text import CannotEdit
from reconciler.suggest.question import LONGEST_REPLACEMENT, Replacement, Suggestion
from reconciler.suggest.replacement import (
    SUGGESTED,
    check_frozen_parts,
    check_needed,
    open_attributes,
    replace_as_suggested,
)
from tests.reconciler.suggest.conftest import CODE, Ask

TIMEOUT = "visibility_timeout_seconds = 30"


OTHERS = (
    CODE.decode()
    + """
terraform {
  backend "s3" {}
}

module "net" {
  source = "hashicorp/net"
  size   = 1
}

variable "size" {
  default = 3
}

locals {
  shown = "a"
}

output "shown" {
  value = local.shown
}

check "up" {
  assert {
    condition     = true
    error_message = "Down."
  }
}
# tfsec:ignore:aws-sqs-enable-queue-encryption
"""
)


def _suggestion(find: str = TIMEOUT, replace: str = TIMEOUT.replace("30", "60"), path: str = "main.tf") -> Suggestion:
    return Suggestion(replacements=(Replacement(path=path, find=find, replace=replace),))


def test_the_replacement_is_an_edit_like_any_other(ask: Ask, tmp_path: Path) -> None:
    question = ask()
    edited = replace_as_suggested(tmp_path, question, _suggestion())
    (edit,) = edited.edits
    assert edited.files == {Path("main.tf"): CODE.replace(TIMEOUT.encode(), TIMEOUT.replace("30", "60").encode())}
    assert (edit.wanted, edit.chain, CODE[edit.start : edit.end]) == (
        question.wanted,
        (SUGGESTED,),
        TIMEOUT.encode(),
    )


@pytest.mark.parametrize(
    ("suggestion", "reason"),
    [
        (_suggestion(path="other.tf"), "not one of the files"),
        (_suggestion(path="../main.tf"), "not one of the files"),
        (_suggestion(find="aws_sqs_queue"), "occurs 2 times"),
        (_suggestion(find=""), "occurs 0 times"),
        (_suggestion(find="absent"), "occurs 0 times"),
        (_suggestion(replace="x" * (LONGEST_REPLACEMENT + 1)), "at most"),
        (_suggestion(replace="visibility_timeout_seconds = {{{"), "does not parse"),
        (_suggestion(find="delay_seconds = 5", replace="delay_seconds = 9"), "also change aws_sqs_queue.other.delay_seconds"),
        (_suggestion(replace=f"{TIMEOUT}\n  delay_seconds = 1"), "also change aws_sqs_queue.orders.delay_seconds"),
        (_suggestion(find='resource "aws_sqs_queue" "other"', replace='resource "aws_sqs_queue" "new"'), "which is not a value"),
        (Suggestion(replacements=()), "1 to"),
        (Suggestion(replacements=_suggestion().replacements * 11), "1 to"),
    ],
)  # fmt: skip
def test_what_does_more_or_cannot_be_made_is_dropped(
    ask: Ask, tmp_path: Path, suggestion: Suggestion, reason: str
) -> None:
    with pytest.raises(CannotEdit, match=reason):
        replace_as_suggested(tmp_path, ask(), suggestion)


@pytest.mark.parametrize(
    ("find", "replace", "reason"),
    [
        ("{timeout}", "{timeout}\n  lifecycle {{\n    ignore_changes = all\n  }}", "lifecycle of resource"),
        ("{timeout}", "{timeout}\n  depends_on = [aws_sqs_queue.other]", "depends_on of resource"),
        ("{timeout}", '{timeout}\n  provisioner "local-exec" {{\n    command = "x"\n  }}', "provisioner of resource"),
        ("{timeout}", "{timeout}\n  connection {{}}", "connection of resource"),
        ("{timeout}", "{timeout}\n  provider = aws.b", "provider of resource"),
        ("{timeout}", "{timeout}\n  count = 1", "count of resource"),
        ("{timeout}", '{timeout}\n  for_each = {{ a = "b" }}', "for_each of resource"),
        ("{timeout}", "{timeout} # why", "a comment"),
        ('backend "s3" {{}}', 'backend "local" {{}}', "terraform in main.tf"),
        ('"hashicorp/net"', '"evil/net"', "source of module net"),
        ("  size   = 1", '  size   = 1\n  version = "1"', "version of module net"),
        ("  size   = 1", "  size   = 1\n  providers = {{ aws = aws.b }}", "providers of module net"),
        ("default = 3", "default = 3\n  sensitive = true", "sensitive of variable size"),
        ("default = 3", 'default = 3\n  validation {{\n    condition = true\n    error_message = "x"\n  }}', "validation of variable"),
        ("value = local.shown", 'value = "b"', "output shown"),
        ("condition     = true", "condition     = false", "check up"),
        ("tfsec:ignore:aws-sqs-enable-queue-encryption", "none", "a comment"),
        ('check "up" {{', 'removed {{\n  from = aws_sqs_queue.gone\n}}\ncheck "up" {{', "removed"),
        ('check "up" {{', 'moved {{\n  from = aws_sqs_queue.gone\n  to = aws_sqs_queue.orders\n}}\ncheck "up" {{', "moved"),
        ('check "up" {{', 'import {{\n  to = aws_sqs_queue.orders\n  id = "x"\n}}\ncheck "up" {{', "import"),
        ('shown = "a"', 'shown = "b"', "locals.shown in main.tf, which the value does not need"),
        ("default = 3", "default = 4", "variable.size.default in main.tf, which the value does not need"),
        ('shown = "a"', 'shown = "a"\n  more  = 1', "locals.more in main.tf, which the value does not need"),
        ("delay_seconds = 5", "delay_seconds = 2 + 3", "delay_seconds in main.tf, which the value does not need"),
    ],
)  # fmt: skip
def test_what_no_value_shows_may_not_change(ask: Ask, tmp_path: Path, find: str, replace: str, reason: str) -> None:
    """Each of these comes with the wanted value, so that only the rest of it can be the reason."""
    find, replace = find.format(timeout=TIMEOUT), replace.format(timeout=TIMEOUT.replace("30", "60"))
    more = _suggestion().replacements if TIMEOUT not in find else ()
    suggestion = Suggestion(replacements=(*more, *_suggestion(find, replace).replacements))
    with pytest.raises(CannotEdit, match=reason):
        replace_as_suggested(tmp_path, ask(code=OTHERS.encode()), suggestion)


def test_a_value_may_come_through_a_local_a_default_and_a_block(ask: Ask, tmp_path: Path) -> None:
    replacements = (
        *_suggestion(TIMEOUT, "visibility_timeout_seconds = local.timeout * var.size").replacements,
        *_suggestion('shown = "a"', 'shown = "a"\n  timeout = 15').replacements,
        *_suggestion("default = 3", "default = 4").replacements,
    )
    edited = replace_as_suggested(tmp_path, ask(code=OTHERS.encode()), Suggestion(replacements=replacements))
    assert len(edited.edits) == 3


ALL_PARTS = """resource "aws_sqs_queue" "a" {
  name  = "a"
  count = 1
  tags {}
}
variable "b" {
  type    = number
  default = 1
}
"""


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ('"a"\n', '"b"\n', False),
        ("tags {}", "tags {\n    x = 1\n  }", False),
        ("default = 1", "default = 2", False),
        ("count = 1", "count = 2", True),
        ("number", "string", True),
        ("  tags {}\n", "  tags {}\n  lifecycle {}\n", True),
        ('variable "b"', 'variable "c"', True),
        ('variable "b"', "data.b", True),
        (ALL_PARTS[ALL_PARTS.index("variable") :], "", True),
    ],
)
def test_only_values_may_change(old: str, new: str, refused: bool) -> None:
    before = parse(Path("main.tf"), ALL_PARTS.encode())
    source = ALL_PARTS.replace(old, new, 1) if new != "data.b" else ALL_PARTS + 'data "x" "y" {}\n'
    after = parse(Path("main.tf"), source.encode())
    if not refused:
        check_frozen_parts(before, after)
        return
    for one, other in ((before, after), (after, before)):
        with pytest.raises(CannotEdit, match="which is not a value"):
            check_frozen_parts(one, other)


def test_open_are_values_only() -> None:
    document = parse(Path("main.tf"), ALL_PARTS.encode())
    assert [name for name, _ in open_attributes(document)] == [
        ("resource", "aws_sqs_queue", "a", "name"),
        ("variable", "b", "default"),
    ]


MAIN, UNUSED = Path("main.tf"), Path("prod.tfvars")
CODE_OF_NEEDED = b"""resource "aws_sqs_queue" "a" {
  delay_seconds = local.delay
}
locals {
  delay = 1
  other = 1
}
"""


@pytest.mark.parametrize(
    ("path", "old", "new", "needed"),
    [
        (MAIN, b"delay = 1", b"delay = 2", True),
        (MAIN, b"local.delay", b"2", True),
        (MAIN, b"other = 1", b"other = 2", False),
        (MAIN, b"other = 1", b"other = 1\n  third = 2", False),
        (MAIN, b"delay = 1", b"delay = 0 + 1", False),
        (UNUSED, b"x = 1", b"x = 2", False),
    ],
)
def test_each_changed_attribute_must_matter(tmp_path: Path, path: Path, old: bytes, new: bytes, needed: bool) -> None:
    before = {MAIN: CODE_OF_NEEDED, UNUSED: b"x = 1\n"}
    for name, content in before.items():
        (tmp_path / name).write_bytes(content)
    after = {**before, path: before[path].replace(old, new)}
    if needed:
        check_needed(tmp_path, before, after)
    else:
        with pytest.raises(CannotEdit, match="does not need"):
            check_needed(tmp_path, before, after)
