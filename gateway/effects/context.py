"""What is asked, and of which thing: the call with what is known about the world, and the `Target` it is aimed at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from gateway.effects.inventory import Inventory
from gateway.effects.schema import TypeSchema
from gateway.effects.values import NotUnderstood, masked
from gateway.model.json import Json
from gateway.model.mutation import WHOLE, Call, Effect, EffectAction

_ARN_COLONS = 5
"""`arn:partition:service:region:account:resource`."""
_OFTEN_SECRET = frozenset({"user_data", "user_data_base64"})
"""Attributes that the provider shows in the clear and people put passwords into."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arn:
    """An Amazon Resource Name, taken apart. `resource` is everything behind the account."""

    service: str
    region: str
    account: str
    resource: str

    @property
    def name(self) -> str:
        """The last part of the resource: `role/path/r` → `r`, `function:f` → `f`."""
        return self.resource.replace("/", ":").rpartition(":")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One thing that a call is aimed at."""

    resource_type: str
    address: str
    """Its Terraform address, or `type{key=value}` where nothing declares it."""
    identity: Mapping[str, str]
    declared: bool
    recorded: Mapping[str, Json]
    """What the state records of it; empty where it knows nothing."""
    schema: TypeSchema

    def whole(self, action: EffectAction) -> Effect:
        """The effect on the thing as a whole."""
        return self._effect(WHOLE, action, None, sensitive=False)

    def put(
        self, attribute: str, value: Json, *, action: EffectAction = EffectAction.SET, secret: bool = False
    ) -> Effect:
        """The effect on one attribute, its value in the provider's form. Raises `NotUnderstood` for an attribute it has not."""
        if not self.schema.knows(attribute):
            raise NotUnderstood(f"{self.resource_type} has no attribute {attribute}")
        sensitive = secret or attribute in _OFTEN_SECRET or self.schema.is_sensitive(attribute)
        return self._effect(attribute, action, masked(value) if sensitive else value, sensitive=sensitive)

    def _effect(self, attribute: str, action: EffectAction, value: Json, *, sensitive: bool) -> Effect:
        return Effect(
            address=self.address,
            attribute=attribute,
            action=action,
            value=value,
            resource_type=self.resource_type,
            identity=self.identity,
            declared=self.declared,
            sensitive=sensitive,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """A call, and all that may be looked up to understand it."""

    call: Call
    inventory: Inventory
    schemas: Mapping[str, TypeSchema]

    @property
    def account(self) -> str:
        """The account that the call goes to. Where no setting names it, it is the one whose things the state records: an ARN or URL
        of another account's thing that is called as ours is must not pass for ours.
        """
        return self.call.account or self.inventory.account()

    def target(self, resource_type: str, identity: Mapping[str, str]) -> Target:
        """The thing with this identity. Raises `NotUnderstood` for an empty identity, `errors.Ambiguous` where it fits several."""
        if not identity or not all(identity.values()):
            raise NotUnderstood(f"it does not say which {resource_type}")
        return self._target(resource_type, identity, self.inventory.locate(resource_type, identity, self.call.account))

    def target_where(
        self, resource_type: str, identity: Mapping[str, str], by: str, fits: Callable[[Mapping[str, Json]], bool]
    ) -> Target:
        """The thing whose attribute `by` is as in the identity and whose recorded attributes fit, where AWS and the state write
        the rest of the identity differently. Raises `NotUnderstood`.
        """
        if not all(identity.values()):
            raise NotUnderstood(f"it does not say which {resource_type}")
        found = self.inventory.find(resource_type, by, identity[by])
        fitting = [address for address in found if fits(self.inventory.recorded(address) or {})]
        if len(fitting) > 1:
            raise NotUnderstood(f"it fits several {resource_type}")
        return self._target(resource_type, identity, fitting[0] if fitting else self._pending(resource_type, identity))

    def _pending(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        """What the code declares and the state does not know yet. What it knows has been looked at and does not fit."""
        address = self.inventory.locate(resource_type, identity, self.call.account)
        return None if address is None or self.inventory.recorded(address) else address

    def _target(self, resource_type: str, identity: Mapping[str, str], address: str | None) -> Target:
        recorded = (self.inventory.recorded(address) if address else None) or {}
        if not self._is_here(recorded):
            # The same name in another region or account is another thing.
            address, recorded = None, {}
        named = ",".join(f"{key}={value}" for key, value in sorted(identity.items()))
        return Target(
            resource_type=resource_type,
            address=address or f"{resource_type}{{{named}}}",
            identity=dict(identity),
            declared=address is not None,
            recorded=recorded,
            schema=self.schemas[resource_type],
        )

    def _is_here(self, recorded: Mapping[str, Json]) -> bool:
        arn = recorded.get("arn")
        if not isinstance(arn, str) or arn.count(":") < _ARN_COLONS:
            return True
        region, account = arn.split(":")[3:5]
        return region in ("", self.call.region or region) and account in ("", self.account or account)

    def unnamed(self, resource_type: str) -> Target:
        """A thing that AWS will name only when it makes it; until then it is named by the call itself."""
        return self.target(resource_type, {"call": self.call.digest[:12]})

    def arn(self, text: str) -> Arn:
        """The ARN in `text`. Raises `NotUnderstood` where it is none, or is of another account or region than the call."""
        parts = text.split(":", 5)
        if len(parts) != _ARN_COLONS + 1 or parts[0] != "arn":
            raise NotUnderstood("an ARN that is none")
        arn = Arn(service=parts[2], region=parts[3], account=parts[4], resource=parts[5])
        for theirs, ours, what in (
            (arn.account, self.account, "account"),
            (arn.region, self.call.region, "region"),
        ):
            if theirs and ours and theirs not in (ours, "aws"):
                raise NotUnderstood(f"an ARN of another {what} than the call's")
        return arn

    def text(self, parameter: str) -> str:
        """A text parameter that must be there. Raises `NotUnderstood`."""
        value = self.call.parameters.get(parameter)
        if not isinstance(value, str) or not value:
            raise NotUnderstood(f"{parameter} is missing")
        return value

    def allow_only(self, *parameters: str) -> None:
        """Make sure that nothing but these parameters is there. Raises `NotUnderstood`."""
        if unknown := {name for name, value in self.call.parameters.items() if value is not None} - set(parameters):
            raise NotUnderstood(f"parameter {', '.join(sorted(unknown))}")
