"""What the effect tables must know about the code and the state: the `Inventory` Protocol, and a world of which more is known."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gateway.model.json import Json


class Inventory(Protocol):
    """The things that Terraform code declares or its state records. `gateway.terraform.stacks.Stacks` is one."""

    def locate(self, resource_type: str, identity: Mapping[str, str], account: str = "") -> str | None:
        """The address of the one thing of this type whose attributes have all these values; None where there is none.

        Raises `errors.Ambiguous` where there are several.
        """
        ...

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses of all things of this type whose attribute has this value."""
        ...

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes that the state records for the thing; None where it knows no such thing."""
        ...

    def account(self) -> str:
        """The AWS account whose things the state records; empty where it records none, or things of several."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryOverlay:
    """A world of which somebody knows some things' attributes better than its state does."""

    inventory: Inventory
    attributes: Mapping[str, Mapping[str, Json]]
    """By address, whole."""

    def locate(self, resource_type: str, identity: Mapping[str, str], account: str = "") -> str | None:
        """As in the world: what things are called does not change."""
        return self.inventory.locate(resource_type, identity, account)

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """As in the world."""
        return self.inventory.find(resource_type, attribute, value)

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """What is known better, else what the state records."""
        known = self.attributes.get(address)
        return self.inventory.recorded(address) if known is None else known

    def account(self) -> str:
        """As in the world."""
        return self.inventory.account()
