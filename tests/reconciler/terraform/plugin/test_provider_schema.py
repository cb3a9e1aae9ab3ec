"""A configuration is brought into the shape of the schema: every attribute present, each in its type."""

import pytest

from reconciler.errors import PluginUnavailable
from reconciler.terraform.plugin.messages import message
from reconciler.terraform.plugin.provider_schema import BlockShape, conform, convert, dump, load, read_shape

ROLE = BlockShape(attributes={"role_arn": "string", "tags": ["map", "string"]})
SHAPE = BlockShape(
    attributes={"region": "string", "max_retries": "number", "ids": ["set", "string"]}, blocks={"assume_role": ROLE}
)


def test_what_is_not_set_is_null_or_no_block() -> None:
    assert conform({}, SHAPE) == {"region": None, "max_retries": None, "ids": None, "assume_role": []}


def test_values_are_converted_as_terraform_does() -> None:
    found = conform(
        {"region": "x", "max_retries": "3", "ids": [1], "assume_role": [{"role_arn": "a", "tags": {"n": True}}]}, SHAPE
    )
    assert found == {
        "region": "x", "max_retries": 3, "ids": ["1"], "assume_role": [{"role_arn": "a", "tags": {"n": "true"}}],
    }  # fmt: skip


def test_text_that_means_a_truth_value() -> None:
    assert (convert("true", "bool"), convert("false", "bool"), convert(True, "bool")) == (True, False, True)


@pytest.mark.parametrize("given", [{"colour": 1}, {"assume_role": "a"}, {"assume_role": ["a"]}, {"ids": 1}])
def test_what_does_not_fit_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(PluginUnavailable):
        conform(given, SHAPE)  # type: ignore[arg-type]  # wrong on purpose


def test_a_shape_survives_being_kept() -> None:
    assert load(dump(SHAPE)) == SHAPE


def test_a_schema_is_read() -> None:
    inner = message("Block", attributes=[message("Attribute", name="role_arn", type=b'"string"')])
    block = message("Block", attributes=[message("Attribute", name="ids", type=b'["set","string"]')])
    block.block_types.append(message("NestedBlock", type_name="assume_role", block=inner, nesting=2))
    assert read_shape(block) == BlockShape(
        attributes={"ids": ["set", "string"]}, blocks={"assume_role": BlockShape(attributes={"role_arn": "string"})}
    )
    block.block_types[0].nesting = 4
    with pytest.raises(PluginUnavailable, match="assume_role"):
        read_shape(block)
