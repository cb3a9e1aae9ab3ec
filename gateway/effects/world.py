"""What the effect tables must know about the code and the state: the `World` Protocol."""

from collections.abc import Mapping
from typing import Protocol

from gateway.model.json import Json


class World(Protocol):
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
