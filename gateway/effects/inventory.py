"""Read access to declared and recorded resources (`Inventory`), and an overlay for resources whose current attributes the ledger knows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from gateway.core.model.json import Json
from gateway.terraform.aws_location import AwsLocation


class Inventory(Protocol):
    """The resources that Terraform code declares or its state records. `gateway.terraform.stacks.Stacks` implements it."""

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        """The address of the one resource of this type, account and region whose attributes have all these values; None if there is none.

        Raises `errors.Ambiguous` if there are several.
        """
        ...

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        """The addresses of this type, account and region whose identity differs from this one in upper and lower case at most."""
        ...

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses of all recorded resources of this type whose attribute has this value."""
        ...

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes that the state records for the resource; None if the state does not have it."""
        ...

    def place(self, address: str) -> AwsLocation:
        """The account and region of the resource at this address."""
        ...

    def accounts(self) -> frozenset[str]:
        """The AWS accounts whose resources the state records."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryOverlay:
    """An `Inventory` with fresher attributes for some addresses. Addresses and identities stay those of the inventory below."""

    inventory: Inventory
    attributes: Mapping[str, Mapping[str, Json]]
    """Address → all attributes of that resource."""

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        """The address in the inventory below."""
        return self.inventory.locate(resource_type, identity, account, region)

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        """The addresses in the inventory below."""
        return self.inventory.differing_in_case(resource_type, identity, account, region)

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses in the inventory below."""
        return self.inventory.find(resource_type, attribute, value)

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The fresher attributes, else those that the state records."""
        current = self.attributes.get(address)
        return self.inventory.recorded(address) if current is None else current

    def place(self, address: str) -> AwsLocation:
        """The place in the inventory below."""
        return self.inventory.place(address)

    def accounts(self) -> frozenset[str]:
        """The accounts of the inventory below."""
        return self.inventory.accounts()


class _NoResources:
    """The `Inventory` of nothing."""

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        """None."""

    def differing_in_case(
        self,
        resource_type: str,  # noqa: ARG002  the port's form
        identity: Mapping[str, str],  # noqa: ARG002
        account: str = "",  # noqa: ARG002
        region: str = "",  # noqa: ARG002
    ) -> tuple[str, ...]:
        """No addresses."""
        return ()

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:  # noqa: ARG002  the port's form
        """No addresses."""
        return ()

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """None."""

    def place(self, address: str) -> AwsLocation:  # noqa: ARG002  the port's form
        """A place that is not known."""
        return AwsLocation()

    def accounts(self) -> frozenset[str]:
        """No accounts."""
        return frozenset()


NO_RESOURCES: Final[Inventory] = _NoResources()
"""For what is asked without any stack."""
