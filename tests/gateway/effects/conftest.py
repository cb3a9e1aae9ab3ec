"""An inventory of resources in memory, and a short way to resolve one call against it."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.core.errors import Ambiguous
from gateway.core.model.json import Json
from gateway.core.model.masking import Masker
from gateway.core.model.mutation import Call, Effect
from gateway.core.model.path import AttributePath
from gateway.effects.call_context import CallContext
from gateway.effects.registry import SERVICES
from gateway.effects.resolver import EffectResolver
from gateway.effects.schema import read_schemas
from gateway.terraform.aws_location import AwsLocation, location_of
from gateway.terraform.resource_index import as_text

CASES = Path(__file__).parents[2] / "cases" / "effects"
ACCOUNT, REGION = "123456789012", "eu-west-1"


class FakeInventory:
    """Resources by address; the type is the first part of the address."""

    def __init__(self, resources: Mapping[str, Mapping[str, Json]]) -> None:
        self._resources = resources

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        return tuple(
            address
            for address, attributes in self._resources.items()
            if address.split(".")[0] == resource_type and _has(attributes, attribute, value)
        )

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        groups = [set(self.find(resource_type, attribute, value)) for attribute, value in identity.items()]
        found = sorted(each for each in set.intersection(*groups) if self.place(each).may_be(account, region))
        if len(found) > 1:
            raise Ambiguous(f"several resources match: {found}")
        return found[0] if found else None

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        return tuple(
            address
            for address, known in self._resources.items()
            if address.split(".")[0] == resource_type
            and all(str(known.get(name, "")).casefold() == text.casefold() for name, text in identity.items())
            and self.place(address).may_be(account, region)
        )

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        return self._resources.get(address)

    def place(self, address: str) -> AwsLocation:
        return location_of(address.split(".", maxsplit=1)[0], self._resources.get(address, {}))

    def accounts(self) -> frozenset[str]:
        return frozenset(self.place(address).account for address in self._resources) - {""}


def _has(attributes: Mapping[str, Json], attribute: str, value: str) -> bool:
    known = AttributePath(attribute).value_at(attributes)
    return value in (known, as_text(known))


def real(value: Any) -> Any:
    """The parameters with each `{"$bytes": n}` replaced by n bytes."""
    if isinstance(value, dict):
        return b"z" * value["$bytes"] if set(value) == {"$bytes"} else {key: real(item) for key, item in value.items()}
    return [real(item) for item in value] if isinstance(value, list) else value


EffectsOf = Callable[..., tuple[Effect, ...]]


@pytest.fixture(scope="session")
def recording() -> dict[str, Any]:
    """What Terraform sent while it created, changed and destroyed a stack, and the state before each phase."""
    document: dict[str, Any] = json.loads((CASES / "terraform_apply.json").read_text())
    return document


@pytest.fixture(scope="session")
def stack(recording: dict[str, Any]) -> Mapping[str, Mapping[str, Json]]:
    """The recorded stack as it stood before it was destroyed."""
    resources: Mapping[str, Mapping[str, Json]] = recording["phases"][-1]["state"]
    return resources


@pytest.fixture(scope="session")
def resolver_for() -> Callable[[Mapping[str, Mapping[str, Json]]], EffectResolver]:
    """Makes an `EffectResolver` over these resources, whose masks are the same in every run."""
    return lambda resources: EffectResolver(FakeInventory(resources), masker=Masker(key=b"cases"))


@pytest.fixture
def effects_of(stack: Mapping[str, Mapping[str, Json]]) -> EffectsOf:
    """Resolves a call given by service, operation and parameters, by default against the recorded stack."""

    def effects(
        service: str,
        operation: str,
        parameters: Mapping[str, Any],
        resources: Mapping[str, Any] | None = None,
        account: str = ACCOUNT,
    ) -> tuple[Effect, ...]:
        inventory = FakeInventory(stack if resources is None else resources)
        call = Call(service=service, operation=operation, parameters=real(parameters), account=account, region=REGION)
        return EffectResolver(inventory, {service: SERVICES[service]}).effects(call)

    return effects


@pytest.fixture
def context() -> Callable[..., CallContext]:
    """A `CallContext` for a call of no particular service."""

    def make(
        parameters: Mapping[str, Any] | None = None,
        resources: Mapping[str, Any] | None = None,
        types: tuple[str, ...] = ("aws_sqs_queue", "aws_kms_alias", "aws_secretsmanager_secret", "aws_ssm_parameter"),
        service: str = "x",
        region: str = REGION,
    ) -> CallContext:
        call = Call(service=service, operation="Y", parameters=parameters or {}, account=ACCOUNT, region=region)
        return CallContext(call=call, inventory=FakeInventory(resources or {}), schemas=read_schemas(types))

    return make


@pytest.fixture
def values() -> Callable[[tuple[Effect, ...]], dict[str, Json]]:
    """Effects as attribute → value, for effects that are all on one resource."""

    def by_attribute(effects: tuple[Effect, ...]) -> dict[str, Json]:
        assert len({effect.address for effect in effects}) == 1
        return {effect.attribute: effect.value for effect in effects}

    return by_attribute
