"""One stack at one moment: its code, state and contracts, looked up by the addresses of its resources."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

from gateway.core.errors import CodeInvalid
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant
from gateway.core.model.json import Json
from gateway.core.model.path import WHOLE, AttributePath
from gateway.core.model.verdict import Mode
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.address import fits, in_stack, resource_type_of, split_stack
from gateway.terraform.aws_location import AwsLocations
from gateway.terraform.config.module import Module, ResourceInstance, attributes, declared, informed
from gateway.terraform.config.sensitive import veiled
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.contracts.resolve import Contracts
from gateway.terraform.contracts.targets import MissingTarget
from gateway.terraform.graph import Graph
from gateway.terraform.lang.evaluate import Unknown
from gateway.terraform.resource_index import ResourceIndex, as_text, only_match
from gateway.terraform.secrets import masked
from gateway.terraform.stack_code import Code
from gateway.terraform.state import State, StateLookup

_LEFT_OUT: Final = "default"
"""The name by which AWS calls what the code leaves out, such as the event bus of a rule."""
_MOST_KEPT: Final = 1024
"""Declared values that a stack keeps: callers say which attributes they ask for."""
_NAMES: Final = ("name", "id", "arn", "url", "bucket", "function_name", "identifier")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stack:
    """One stack at one moment. Immutable, apart from caches of look-ups."""

    name: str
    mode: Mode
    account: str
    root: Path
    revision: str
    """SHA-256 over code, contracts and state."""
    code: Code = field(repr=False)
    state: State = field(repr=False)
    recorded_index: ResourceIndex = field(repr=False)
    """Recorded resources by identity."""
    pending_index: ResourceIndex = field(repr=False)
    """Resources that the code declares and the state does not have yet, by identity."""
    graph: Graph = field(repr=False)
    contracts: Contracts = field(repr=False)
    places: AwsLocations = field(repr=False)
    """In which account and region each resource is."""
    shared: frozenset[str] = field(default=frozenset(), repr=False)
    """The addresses that other stacks of this gateway have too. Outside of the stack they are named with it."""
    _dependants: dict[str, tuple[Dependant, ...]] = field(default_factory=dict, repr=False)
    _declared: dict[tuple[str, str], Json] = field(default_factory=dict, init=False, repr=False)

    @property
    def addresses(self) -> Iterable[str]:
        """The addresses in the code or the state, some of them twice."""
        return chain(self.state.resources, self.code.instances)

    def named(self, address: str) -> str:
        """What the gateway calls the resource at this address of the stack: the address, with the stack in front if others have it too."""
        return in_stack(self.name, address) if address in self.shared else address

    def local(self, name: str) -> str:
        """The address in this stack of a resource that is named so."""
        if ":" not in name:  # as nearly every name: no other stack has the address
            return name
        stack, address = split_stack(name)
        return address if stack == self.name else name

    def other_name(self, name: str) -> str:
        """What the resource was called when other stacks had its address too, or did not have it yet."""
        address = self.local(name)
        return in_stack(self.name, address) if address == name else address

    def knows(self, address: str) -> bool:
        """Whether the code or the state has the address."""
        here = self.local(address)
        return here in self.state.resources or here in self.code.instances

    def locate(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        """The address of the resource that matches the whole identity, in the state or else in the code; None if there is none.

        Raises `errors.Ambiguous` if several match.
        """
        matching = self.recorded_index.matching(resource_type, identity) or self.pending_index.matching(
            resource_type, identity
        )
        return only_match(matching, resource_type, identity)

    def being_created(self, resource_type: str, identity: Mapping[str, str]) -> tuple[str, ...]:
        """The resources that the state does not have yet and that may be the one with this identity: what the code says of it agrees, and
        what the code takes from other resources is one of their names.
        """
        found = {
            address: None
            for name, text in identity.items()
            for address in self.pending_index.find(resource_type, name, text)
        }
        return tuple(
            address for address in found if all(self._may_have(address, name, text) for name, text in identity.items())
        )

    def _may_have(self, address: str, attribute: str, text: str) -> bool:
        if address in self.pending_index.find(resource_type_of(address), attribute, text):
            return True
        instance = self.code.instances[address]
        if attribute in attributes(instance):
            return False
        document, block = instance.holder(attribute)
        if attribute not in document.attributes(block):
            return text == _LEFT_OUT
        return any(text in self._names(other) for other in self.code.references.get(address, ()))

    def _names(self, address: str) -> frozenset[str]:
        """What other resources may call the resource by."""
        instance = self.code.instances.get(address)
        known = {**(attributes(instance) if instance else {}), **(self.recorded(address) or {})}
        return frozenset(as_text(known.get(name)) for name in _NAMES) - {""}

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses in the state whose attribute has this value, e.g. the rules of one security group."""
        return self.recorded_index.find(resource_type, attribute, value)

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes in the state, secrets masked; None if the state does not have the address."""
        resource = self.state.resources.get(self.local(address))
        return None if resource is None else resource.attributes

    def declared(self, address: str, attribute: str) -> Json:
        """The declared value of an attribute, secrets masked; None if it is not declared or not known. It is kept, so nobody may change it."""
        instance = None if attribute == WHOLE else self.code.instance(self.local(address))
        if instance is None:
            return None
        asked = self.local(address), attribute
        if (known := self._declared.get(asked)) is not None:
            return known
        found = self._evaluated(instance, address, attribute)
        if len(self._declared) >= _MOST_KEPT:
            self._declared.clear()
        self._declared[asked] = found
        return found

    def _evaluated(self, instance: ResourceInstance, address: str, attribute: str) -> Json:
        try:
            value = declared(instance, attribute)
        except Unknown:
            return None
        recorded = AttributePath(attribute).value_at(self.recorded(address) or {})
        kind, masker = instance.resource_type, self.state.masker
        shown = masked(value, resource_type=kind, attribute=attribute, masker=masker, recorded=recorded)
        return veiled(instance, attribute, shown, masker, recorded)

    def contract(self, address: str) -> Contract:
        """All contracts for the address in one; an empty contract if there is none."""
        return self.contracts.contract(self.local(address))

    def dependants(self, address: str) -> tuple[Dependant, ...]:
        """Everything that depends on the resource, directly or not, nearest first."""
        found = self._dependants.get(address)
        if found is None:
            found = tuple(
                self._dependant(other, direct) for other, direct in self.graph.dependants(self.local(address))
            )
            self._dependants[address] = found
        return found

    def dependencies(self, address: str) -> tuple[str, ...]:
        """Everything that the resource depends on, directly or not."""
        return tuple(self.named(other) for other in self.graph.dependencies(self.local(address)))

    def needs(self, address: str) -> tuple[str, ...]:
        """What the resource depends on directly."""
        return tuple(self.named(other) for other in self.graph.needs(self.local(address)))

    @property
    def missing_targets(self) -> tuple[MissingTarget, ...]:
        """The contracts for types and resources that the stack neither declares nor records."""
        return self.contracts.missing(dict.fromkeys([*self.state.resources, *self.code.instances]))

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely mistakes in the contracts, each with file and line."""
        return self.contracts.warnings(dict.fromkeys([*self.state.resources, *self.code.instances]), self.recorded)

    def _dependant(self, address: str, direct: bool) -> Dependant:
        contract = self.contract(address)
        return Dependant(
            address=self.named(address),
            direct=direct,
            critical=contract.critical,
            managed_by_agent=contract.managed_by_agent,
            source=self.code.source_of(address),
            recorded=address in self.state.resources,
        )


def stack_of(source: StackSettings, region: str, code: Code, state: State, revision: str) -> Stack:
    """The stack of these settings, code and state. `region` is the region of resources for which nothing else says it.

    Raises `errors.CodeInvalid` for a contract whose type or resource is likely misspelt.
    """
    pending = {address: it for address, it in code.instances.items() if address not in state.resources}

    def declares(address: str) -> Mapping[str, Json]:
        return attributes(pending[address]) if address in pending else {}

    def shown(address: str) -> Mapping[str, Json]:
        return {name: stack.declared(address, name) for name in declares(address)}

    @cache
    def with_recorded() -> Module:
        recorded = {address: each.attributes for address, each in state.resources.items()}
        return informed(code.module, {**state.data, **recorded})

    def names(address: str) -> Mapping[str, Json]:
        # A new resource is often identified by a reference to a recorded one: a policy by its queue.
        instance = with_recorded().instance(address)
        return declares(address) if instance is None else attributes(instance)

    stack = Stack(
        name=source.name,
        mode=source.mode,
        account=source.account,
        root=source.path,
        revision=revision,
        code=code,
        state=state,
        recorded_index=ResourceIndex(
            ((resource.where.resource_type, address) for address, resource in state.resources.items()),
            lambda address: state.resources[address].attributes,
        ),
        pending_index=ResourceIndex(((it.resource_type, address) for address, it in pending.items()), names),
        graph=Graph(state.resources.values(), code.instances, code.references),
        contracts=Contracts(
            root=code.module,
            rules=code.rules,
            instance=code.instance,
            declared=shown,
            code_conditions=CodeConditions(StateLookup(state)),
            seen=lambda types: _seen(types, code, state),
        ),
        places=AwsLocations(state, code, account=source.account, region=source.region or region),
    )
    misspelt = [each.sentence for each in stack.missing_targets if each.likely_misspelt]
    if misspelt:
        raise CodeInvalid(" ".join(misspelt))
    return stack


def _seen(types: str, code: Code, state: State) -> frozenset[str]:
    """The attributes that the code or the state gives to any resource whose type fits the glob."""
    recorded = (each.attributes for each in state.resources.values() if fits(types, each.where.resource_type))
    written = (attributes(each) for each in code.instances.values() if fits(types, each.resource_type))
    return frozenset(name for group in (*recorded, *written) for name in group)
