"""The operations that carry calls exist, and none of them is explained by a row alone."""

from typing import Any

import botocore.session

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import Call, EffectAction
from gateway.effects.proxies.carriers import CARRIERS, HELD
from gateway.effects.resolver import EffectResolver
from tests.gateway.effects.conftest import FakeInventory
from tests.gateway.effects.proxies.conftest import Understand

BOTOCORE: Any = botocore.session


def test_every_operation_exists() -> None:
    session = BOTOCORE.get_session()
    for service, operation in [*CARRIERS, *HELD]:
        assert service in session.get_available_services(), service
        assert operation in session.get_service_model(service).operation_names, f"{service}:{operation}"
    assert not CARRIERS.keys() & HELD.keys()


def test_each_is_held_with_a_reason(understand: Understand) -> None:
    for service, operation in HELD:
        found = understand(service, operation, {})
        assert found.effects == ()
        assert found.not_understood == HELD[service, operation]


def test_a_derived_row_does_not_explain_what_a_call_carries() -> None:
    row = DerivedRow(
        service="pipes",
        operation="CreatePipe",
        resource_type="aws_pipes_pipe",
        actions=frozenset({EffectAction.CREATE}),
        origin=Origin.TRACED,
        confidence=Confidence.ATTRIBUTES,
        identity={"Name": AttributeSource(attribute="name")},
    )
    resolver = EffectResolver(FakeInventory({}), rows=lambda _service, _operation: (row,))
    assert resolver.effects(Call(service="pipes", operation="CreatePipe", parameters={"Name": "p"})) == ()
