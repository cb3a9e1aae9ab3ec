"""The body of a request to check a Terraform plan: the plan without its secrets."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from gateway.core.errors import Malformed
from gateway.core.model.plan import Plan, PlannedAction, PlannedChange
from gateway.doors.api.schemas import MotiveBody
from gateway.effects.limits import MOST_EFFECTS
from gateway.terraform.address import parse_address

Name = Annotated[str, Field(min_length=1, max_length=512)]
Path = Annotated[str, Field(pattern=r"^[^*\x00-\x1f][^\x00-\x1f]*$", max_length=512)]


class PlannedChangeBody(BaseModel):
    """What a plan does to one resource. `sentinel plan-check` makes it of `terraform show -json`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    address: Name
    type: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,127}$")]
    action: PlannedAction
    previous: Annotated[str, Field(max_length=512)] = ""
    values: Annotated[
        dict[Path, Any],
        Field(default_factory=dict, description="The new value of each changed attribute that is no secret."),
    ]
    secrets: Annotated[tuple[Path, ...], Field(description="Changed attributes whose value is a secret.")] = ()
    unknown: Annotated[tuple[Path, ...], Field(description="Changed attributes with a value known after apply.")] = ()

    def change(self) -> PlannedChange:
        """The change. Raises `errors.Malformed` if the address is not one of a resource of its type."""
        for address in (self.address, *((self.previous,) if self.previous else ())):
            where = parse_address(address)
            if where is None or where.data or where.resource_type != self.type:
                raise Malformed(f"{address[:200]!r} is not the address of a resource of type {self.type}.")
        return PlannedChange(
            address=self.address,
            resource_type=self.type,
            action=self.action,
            previous=self.previous,
            values=self.values,
            secrets=self.secrets,
            unknown=self.unknown,
        )


class PlanBody(BaseModel):
    """A Terraform plan without its secrets."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    stack: Annotated[
        str, Field(max_length=63, description="The stack that it is of; may be left out if there is only one.")
    ] = ""
    terraform_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9.+-]{0,32}$")] = ""
    motive: MotiveBody | None = None
    changes: Annotated[tuple[PlannedChangeBody, ...], Field(max_length=MOST_EFFECTS)]

    def plan(self) -> Plan:
        """The plan. Raises `errors.Malformed`."""
        return Plan(changes=tuple(each.change() for each in self.changes), terraform_version=self.terraform_version)
