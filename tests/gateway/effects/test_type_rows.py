"""The directions of a type are those of its rows, shipped and learned."""

from pathlib import Path

from gateway.core.derived_rows import Confidence, DerivedRow, Origin, derived_rows, file_text, operations_of
from gateway.core.model.mutation import EffectAction
from gateway.effects.type_rows import directions_of_types

LEARNED = DerivedRow(
    service="ec2",
    operation="ReplaceNetworkAclAssociation",
    resource_type="aws_network_acl_association",
    actions=frozenset({EffectAction.CREATE, EffectAction.SET}),
    origin=Origin.LEARNED,
    confidence=Confidence.RESOURCE,
)


def test_they_are_those_of_the_rows() -> None:
    known = directions_of_types()
    rows = [row for name in operations_of("ecr") for row in derived_rows("ecr", name)]
    of_type = [row for row in rows if row.resource_type == "aws_ecr_repository"]
    assert set(known["aws_ecr_repository"]) == {action for row in of_type for action in row.actions}
    assert known["aws_ecr_repository"][EffectAction.CREATE] is Confidence.ATTRIBUTES
    assert len(known) > 1400


def test_an_accepted_row_makes_its_type_known(tmp_path: Path) -> None:
    name = LEARNED.resource_type
    assert name not in directions_of_types()
    (tmp_path / "ec2.json").write_text(file_text("ec2", {}, (LEARNED,)))
    assert directions_of_types(tmp_path)[name][EffectAction.CREATE] is Confidence.RESOURCE
    assert name not in directions_of_types(tmp_path / "missing")
