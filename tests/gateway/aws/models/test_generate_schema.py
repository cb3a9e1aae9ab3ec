"""The shipped tables of the provider agree with each other; making them anew needs the provider."""

import gzip

from gateway.aws.models.generate_schema import SENSITIVE, TARGET, reduced, sensitive_attributes


def test_the_shipped_sensitive_attributes_are_those_of_the_shipped_schema() -> None:
    assert sensitive_attributes(gzip.decompress(TARGET.read_bytes())) == SENSITIVE.read_bytes()


def test_sensitive_attributes_are_found_at_every_depth() -> None:
    attribute = {"type": "string", "optional": True, "sensitive": True}
    nested = {"inner": {"nesting_mode": "list", "block": {"attributes": {"key": attribute}}}}
    schemas = {
        "aws_x": {"block": {"attributes": {"name": {"type": "string", "optional": True}}, "block_types": nested}}
    }
    assert sensitive_attributes(reduced(schemas)) == b'{\n"aws_x": [\n"inner.key"\n]\n}\n'
