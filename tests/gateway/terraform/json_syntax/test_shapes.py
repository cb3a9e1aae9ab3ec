"""Which names are blocks, and how strings are read."""

import pytest

from gateway.terraform.json_syntax.shapes import FILE, VARIABLE_VALUES, StringForm, body_of


@pytest.mark.parametrize(
    ("header", "block", "attribute"),
    [
        (("resource", "aws_s3_bucket_versioning", "v"), "versioning_configuration", "bucket"),
        (("resource", "aws_autoscaling_group", "a"), "tag", "tags"),
        (("resource", "aws_security_group", "s"), "timeouts", "ingress"),
        (("data", "aws_iam_policy_document", "p"), "statement", "version"),
        (("provider", "aws"), "assume_role", "region"),
        (("resource", "unknown_type", "x"), "dynamic", "settings"),
        (("resource", "null_resource", "x"), "provisioner", "triggers"),
        (("variable", "v"), "validation", "default"),
        (("check", "c"), "assert", "x"),
        (("terraform",), "backend", "required_version"),
    ],
)
def test_names_are_blocks_as_terraform_and_the_provider_say(
    header: tuple[str, ...], block: str, attribute: str
) -> None:
    inside = body_of(header, FILE)
    assert block in inside.blocks
    assert attribute not in inside.blocks


def test_blocks_inside_blocks_and_what_dynamic_blocks_make_are_known() -> None:
    statement = body_of(("statement",), body_of(("data", "aws_iam_policy_document", "p"), FILE))
    assert "condition" in statement.blocks
    dynamic = body_of(("dynamic", "condition"), statement)
    assert dynamic.form("iterator") is StringForm.CODE
    assert body_of(("content",), dynamic) == body_of(("condition",), statement)


def test_strings_are_templates_texts_or_code() -> None:
    variable = body_of(("variable", "v"), FILE)
    assert (variable.form("type"), variable.form("default")) == (StringForm.CODE, StringForm.LITERAL)
    resource = body_of(("resource", "aws_sqs_queue", "q"), FILE)
    assert (resource.form("name"), resource.form("provider")) == (StringForm.TEMPLATE, StringForm.CODE)
    assert body_of(("module", "m"), FILE).form("source") is StringForm.LITERAL
    assert VARIABLE_VALUES.form("anything") is StringForm.LITERAL
