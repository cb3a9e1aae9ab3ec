"""Finds the resource that a caller names by its address, and lists resources by type, stack, ARN or a part of a name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gateway.context.excerpt import LONGEST_TEXT
from gateway.core.errors import Ambiguous, Malformed, NotFound
from gateway.core.model.json import Json
from gateway.terraform.address import resource_type_of, split_stack
from gateway.terraform.aws_location import AwsLocation
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks

_IDENTITY: Final = ("arn", "id", "name", "url", "bucket", "function_name", "identifier", "key_id")
"""Attributes by which people and AWS call a resource, as far as its type has them."""
MOST_LISTED: Final = 200
"""Resources in one answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceQuery:
    """Which resources to list. Empty members do not restrict the result; all given ones must fit."""

    q: str = ""
    """A part of the address or of a value that identifies the resource, in any case."""
    arn: str = ""
    resource_type: str = ""
    stack: str = ""
    after: str = ""
    """The last address of the page before."""
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundResource:
    """A declared or recorded resource."""

    stack: Stack
    address: str
    """In the stack, without its name."""

    @property
    def name(self) -> str:
        """What the gateway calls it: the address, with the stack in front if others have it too."""
        return self.stack.named(self.address)

    @property
    def recorded(self) -> Mapping[str, Json]:
        """The attributes in the state; empty if the state does not have it."""
        return self.stack.recorded(self.address) or {}

    @property
    def resource_type(self) -> str:
        """The type in its address; empty if that cannot be read."""
        return resource_type_of(self.address)

    @property
    def place(self) -> AwsLocation:
        """The account and region."""
        return self.stack.places.of(self.address)

    def identity(self) -> dict[str, Any]:
        """What identifies it, with its account and region; empty texts for what is not known."""
        recorded = self.recorded
        named = {name: recorded[name] for name in _IDENTITY if isinstance(recorded.get(name), str)}
        texts = {name: str(value)[:LONGEST_TEXT] for name, value in named.items()}
        return {"arn": "", **texts, "account": self.place.account, "region": self.place.region}

    def summary(self) -> dict[str, Any]:
        """A line of the list."""
        contract = self.stack.contract(self.address)
        return {
            "address": self.name,
            "type": self.resource_type,
            "identity": self.identity(),
            "stack": self.stack.name,
            "source": self.stack.code.source_of(self.address),
            "recorded": bool(self.recorded),
            "managed_by_agent": contract.managed_by_agent,
        }


def resource_at(stacks: Stacks, name: str) -> FoundResource:
    """The resource of this name. Raises `errors.NotFound`, and `errors.Malformed` if several stacks have the address."""
    try:
        stack = stacks.declaring(name)
    except Ambiguous as error:
        raise Malformed(str(error)) from error
    if stack is None:
        raise NotFound(
            f"No stack of this gateway declares or records {name[:200]!r}. `sentinel resources PART` (GET /v1/resources?q=…) finds addresses by a "
            "part of a name, and --arn (?arn=…) by an ARN."
        )
    return FoundResource(stack=stack, address=stack.local(name))


def find_resources(stacks: Stacks, query: ResourceQuery) -> tuple[list[FoundResource], bool]:
    """The resources that fit, by stack and address, and whether there are more. Raises `errors.NotFound` for an unknown stack."""
    if query.stack and all(stack.name != query.stack for stack in stacks.all):
        names = ", ".join(stack.name for stack in stacks.all) or "none"
        raise NotFound(f"This gateway has no stack {query.stack[:64]!r}. It has: {names}.")
    found: list[FoundResource] = []
    for each in _after(stacks, query):
        if _fits(each, query):
            if len(found) == query.limit:
                return found, True
            found.append(each)
    return found, False


def _after(stacks: Stacks, query: ResourceQuery) -> Iterator[FoundResource]:
    """The resources of each stack in the order of the list, from the one after the page before."""
    after_stack, after = split_stack(query.after)
    begun = not query.after
    for stack in stacks.all:
        if query.stack not in ("", stack.name):
            continue
        addresses = sorted(set(stack.addresses))
        if not begun and after_stack in ("", stack.name) and (after_stack or stack.knows(after)):
            addresses, begun = [each for each in addresses if each > after], True
        if begun:
            yield from (FoundResource(stack=stack, address=each) for each in addresses)


def _fits(found: FoundResource, query: ResourceQuery) -> bool:
    if query.resource_type and found.resource_type != query.resource_type:
        return False
    if query.arn and query.arn not in (found.recorded.get("arn"), found.recorded.get("id")):
        return False
    wanted = query.q.casefold()
    if not wanted or wanted in found.address.casefold():
        return True
    recorded = found.recorded
    return any(wanted in str(recorded[name]).casefold() for name in _IDENTITY if isinstance(recorded.get(name), str))
