"""Which services may work in the organization of the account."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.model.plan import PlannedAction
from gateway.effects.schema import read_schemas
from gateway.plans.call_match import CallMatch, by_effects
from tests.gateway.plans.test_row_match import change, session_call

KIND = "aws_organizations_organization"
STATE = {f"{KIND}.o": {"id": "o-1", "feature_set": "ALL", "aws_service_access_principals": ["config.amazonaws.com"]}}


@pytest.mark.parametrize(
    ("operation", "service", "after"),
    [
        ("EnableAWSServiceAccess", "sso.amazonaws.com", ["config.amazonaws.com", "sso.amazonaws.com"]),
        ("EnableAWSServiceAccess", "config.amazonaws.com", ["config.amazonaws.com"]),
        ("DisableAWSServiceAccess", "config.amazonaws.com", []),
    ],
)
def test_a_service_is_one_member_of_a_list(
    effects_of: Callable[..., Any], operation: str, service: str, after: list[str]
) -> None:
    (effect,) = effects_of("organizations", operation, {"ServicePrincipal": service}, STATE)
    assert (effect.address, effect.attribute, effect.value) == (f"{KIND}.o", "aws_service_access_principals", after)


def test_a_call_with_more_is_not_understood(effects_of: Callable[..., Any]) -> None:
    given = {"ServicePrincipal": "sso.amazonaws.com", "Elsewhere": "x"}
    assert effects_of("organizations", "EnableAWSServiceAccess", given, STATE) == ()


def test_in_an_apply_only_planned_services_get_access(effects_of: Callable[..., Any]) -> None:
    planned = change(
        "o", PlannedAction.CREATE, KIND, values={"aws_service_access_principals": ["config.amazonaws.com"]}
    )

    def enabled(service: str) -> CallMatch:
        found = effects_of("organizations", "EnableAWSServiceAccess", {"ServicePrincipal": service}, {})
        asked = session_call(changes=(planned,), ServicePrincipal=service)
        return by_effects(replace(asked, effects=found, schemas=read_schemas({KIND})))

    assert enabled("config.amazonaws.com").uses
    assert enabled("sso.amazonaws.com").objection
    given = {"ServicePrincipal": "config.amazonaws.com"}
    assert effects_of("organizations", "DisableAWSServiceAccess", given, {}) == (), "nothing is recorded yet"
