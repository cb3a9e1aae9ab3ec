"""What a provider's schema says of a block, and the state that Terraform proposes for a configuration."""

from collections.abc import Mapping

from gateway.core.model.json import Json
from reconciler.terraform.plugin.messages import message
from reconciler.terraform.plugin.type_schemas import conformed, proposed, read_block, rows

_RULE = message("Block", attributes=[message("Attribute", name="port", type=b'"number"', required=True), message("Attribute", name="made", type=b'"string"', computed=True)])  # fmt: skip
_BLOCK = message(
    "Block",
    attributes=[
        message("Attribute", name="name", type=b'"string"', required=True),
        message("Attribute", name="arn", type=b'"string"', computed=True),
        message("Attribute", name="secret", type=b'"string"', optional=True, sensitive=True),
    ],
    block_types=[
        message("NestedBlock", type_name="rule", block=_RULE, nesting=3, min_items=1),
        message("NestedBlock", type_name="one", block=_RULE, nesting=1),
    ],
)


def test_a_schema_is_read() -> None:
    schema = read_block(_BLOCK)
    assert {name: (each.settable, each.computed, each.hidden) for name, each in schema.attributes.items()} == {
        "name": (True, False, False),
        "arn": (False, True, False),
        "secret": (True, False, True),
    }
    assert (schema.blocks["rule"].least, schema.blocks["rule"].in_set, schema.blocks["one"].single) == (1, True, True)


def test_a_configuration_has_every_member_of_the_schema() -> None:
    found = conformed({"name": "a", "rule": [{"port": 1}]}, read_block(_BLOCK))
    assert found == {"name": "a", "arn": None, "secret": None, "rule": [{"port": 1, "made": None}], "one": None}
    assert conformed({"one": {"port": 2}}, read_block(_BLOCK))["one"] == {"port": 2, "made": None}


def test_what_the_provider_decides_stays_as_it_was() -> None:
    schema = read_block(_BLOCK)
    prior: Mapping[str, Json] = {
        "name": "a",
        "arn": "arn:a",
        "secret": "x",
        "rule": [{"port": 2, "made": "b"}, {"port": 1, "made": "a"}],
    }
    found = proposed(conformed({"name": "a", "rule": [{"port": 1}, {"port": 3}]}, schema), prior, schema)
    assert (found["arn"], found["secret"]) == ("arn:a", None)
    assert found["rule"] == [{"port": 1, "made": "a"}, {"port": 3, "made": None}]


def test_only_maps_are_rows() -> None:
    assert rows([{"a": 1}, "b"]) == [{"a": 1}]
    assert rows("text") == []
