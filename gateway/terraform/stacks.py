"""The stacks that Sentinel protects: Terraform code, contracts and state, looked up by address and reloaded when files change."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.errors import Ambiguous, CodeInvalid
from gateway.model.contract import Contract
from gateway.model.facts import Dependant
from gateway.model.json import Json
from gateway.model.masking import PER_RUN, Masker
from gateway.model.mutation import WHOLE
from gateway.model.path import AttributePath
from gateway.model.verdict import Mode
from gateway.terraform.code import Code
from gateway.terraform.config.instance import attributes, declared
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.contracts.glob import fits
from gateway.terraform.contracts.resolve import Contracts
from gateway.terraform.graph import Graph
from gateway.terraform.identity_index import IdentityIndex, only_match
from gateway.terraform.lang.evaluate import Unknown
from gateway.terraform.origin import CodeOrigin, StackSource, Version, code_origin
from gateway.terraform.places import Place, Places
from gateway.terraform.secrets import masked
from gateway.terraform.state import State, StateLookup, parse_state
from gateway.terraform.state_origin import StateObjects, StateOrigin, state_origin


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stack:
    """One stack at one moment. Immutable, apart from a lookup cache."""

    name: str
    mode: Mode
    account: str
    root: Path
    revision: str
    """SHA-256 over code, contracts and state."""
    code: Code = field(repr=False)
    state: State = field(repr=False)
    recorded_index: IdentityIndex = field(repr=False)
    """Recorded resources by identity."""
    pending_index: IdentityIndex = field(repr=False)
    """Resources that the code declares and the state does not have yet, by identity."""
    graph: Graph = field(repr=False)
    contracts: Contracts = field(repr=False)
    places: Places = field(repr=False)
    """In which account and region each resource is."""
    _dependants: dict[str, tuple[Dependant, ...]] = field(default_factory=dict, repr=False)

    def knows(self, address: str) -> bool:
        """Whether the code or the state has the address."""
        return address in self.state.resources or address in self.code.instances

    def locate(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        """The address of the resource that matches the whole identity, in the state or else in the code; None if there is none.

        Raises `errors.Ambiguous` if several match.
        """
        matching = self.recorded_index.matching(resource_type, identity) or self.pending_index.matching(
            resource_type, identity
        )
        return only_match(matching, resource_type, identity)

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses in the state whose attribute has this value, e.g. the rules of one security group."""
        return self.recorded_index.find(resource_type, attribute, value)

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes in the state, secrets masked; None if the state does not have the address."""
        resource = self.state.resources.get(address)
        return None if resource is None else resource.attributes

    def declared(self, address: str, attribute: str) -> Json:
        """The declared value of an attribute, secrets masked; None if it is not declared or not known."""
        instance = None if attribute == WHOLE else self.code.instance(address)
        if instance is None:
            return None
        try:
            value = declared(instance, attribute)
        except Unknown:
            return None
        recorded = AttributePath(attribute).value_at(self.recorded(address) or {})
        kind, masker = instance.resource_type, self.state.masker
        return masked(value, resource_type=kind, attribute=attribute, masker=masker, recorded=recorded)

    def contract(self, address: str) -> Contract:
        """All contracts for the address in one; an empty contract if there is none."""
        return self.contracts.contract(address)

    def dependants(self, address: str) -> tuple[Dependant, ...]:
        """Everything that depends on the resource, directly or not, nearest first."""
        found = self._dependants.get(address)
        if found is None:
            found = tuple(self._dependant(other, direct) for other, direct in self.graph.dependants(address))
            self._dependants[address] = found
        return found

    def dependencies(self, address: str) -> tuple[str, ...]:
        """Everything that the resource depends on, directly or not."""
        return self.graph.dependencies(address)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely mistakes in the contracts, each with file and line."""
        return self.contracts.warnings(dict.fromkeys([*self.state.resources, *self.code.instances]), self.recorded)

    def _dependant(self, address: str, direct: bool) -> Dependant:
        contract = self.contract(address)
        return Dependant(
            address=address,
            direct=direct,
            critical=contract.critical,
            managed_by_agent=contract.managed_by_agent,
            source=self.code.source_of(address),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The last valid version of a stack, and the last version that was checked."""

    source: StackSource
    origin: CodeOrigin
    stack: Stack
    code_version: Version
    state_version: Version
    state_origin: StateOrigin
    objects: StateObjects | None = None
    problem: str = ""
    """Why the last version could not be loaded; empty if it was."""
    loaded_code: Version = ()
    """The version of the code in `stack`."""


class Stacks:
    """All stacks. A reload replaces the whole set at once, so a snapshot stays one version."""

    def __init__(self, loaded: Sequence[_Loaded], *, default_mode: Mode, default_region: str = "") -> None:
        """Use `load` instead, which reads the stacks from disk."""
        self._loaded = tuple(loaded)
        self._default_region = default_region
        self._default_mode = default_mode
        self._reloading = threading.Lock()

    @classmethod
    def load(
        cls,
        settings: Sequence[StackSource],
        *,
        default_mode: Mode,
        default_region: str = "",
        masker: Masker = PER_RUN,
        objects: StateObjects | None = None,
    ) -> "Stacks":
        """Read every stack and mask the secrets in it. `default_region` is the region of resources for which nothing else says it.
        `objects` reads states in S3.

        Raises `errors.CodeInvalid` with file and line: Sentinel does not run without contracts.
        """
        names = [source.name for source in settings]
        for name in names:
            if names.count(name) > 1:
                raise CodeInvalid(f"Two stacks have the name {name!r}; give each its own.")
        origins = [code_origin(source.path, source.protected_branch) for source in settings]
        loaded = [
            _load(source, default_region, origin, masker=masker, objects=objects)
            for source, origin in zip(settings, origins, strict=True)
        ]
        return cls(loaded, default_mode=default_mode, default_region=default_region)

    def snapshot(self) -> "Stacks":
        """An immutable snapshot, for callers that need several lookups against the same version; later refreshes do not affect it."""
        return Stacks(self._loaded, default_mode=self._default_mode, default_region=self._default_region)

    @property
    def all(self) -> tuple[Stack, ...]:
        """Every stack, in the order of the settings."""
        return tuple(loaded.stack for loaded in self._loaded)

    @property
    def revision(self) -> str:
        """SHA-256 over the revisions of all stacks."""
        return hashlib.sha256("\n".join(f"{stack.name} {stack.revision}" for stack in self.all).encode()).hexdigest()

    @property
    def declared(self) -> str:
        """SHA-256 over the code and contracts of all stacks, without their states."""
        return hashlib.sha256("\n".join(f"{it.name} {it.code.digest}" for it in self.all).encode()).hexdigest()

    @property
    def default_name(self) -> str:
        """The name of the only stack; empty if there are none or several."""
        return self.all[0].name if len(self._loaded) == 1 else ""

    @property
    def default_mode(self) -> Mode:
        """The mode for resources that no stack declares."""
        return self._default_mode

    @property
    def problems(self) -> tuple[str, ...]:
        """Why newer versions could not be loaded, one sentence per stack. Such a stack keeps its last valid version."""
        return tuple(f"{loaded.stack.name}: {loaded.problem}" for loaded in self._loaded if loaded.problem)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely mistakes in contracts, and addresses that several stacks have."""
        stacks = self.all
        seen: dict[str, str] = {}
        shared: list[str] = []
        for stack in stacks:
            for address in stack.state.resources.keys() | stack.code.instances.keys():
                if address in seen:
                    shared.append(
                        f"{address} is in the stacks {seen[address]} and {stack.name}, so calls on it are refused."
                    )
                seen[address] = stack.name
        return (*(f"{stack.name}: {warning}" for stack in stacks for warning in stack.warnings), *sorted(shared))

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the code and contracts of each stack are read, by the stack's name."""
        return {loaded.stack.name: loaded.origin.description for loaded in self._loaded}

    @property
    def origin_warnings(self) -> tuple[str, ...]:
        """Which stacks' contracts are not protected, and which files do not count."""
        return tuple(f"{each.stack.name}: {warning}" for each in self._loaded for warning in each.origin.warnings())

    def declaring(self, address: str) -> Stack | None:
        """The stack that has the address in its code or state. Raises `errors.Ambiguous` if several have."""
        having = [stack for stack in self.all if stack.knows(address)]
        if len(having) > 1:
            names = " and ".join(stack.name for stack in having)
            raise Ambiguous(
                f"{address} is in the stacks {names}, and Sentinel cannot say which is meant. Rename it in one."
            )
        return having[0] if having else None

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        """The address of the resource in this account and region, each of which may be empty for any; None if no stack has it.

        Raises `errors.Ambiguous` if several match.
        """
        for pending in (False, True):
            indexes = [(stack, stack.pending_index if pending else stack.recorded_index) for stack in self.all]
            matching = [(stack, hit) for stack, index in indexes for hit in index.matching(resource_type, identity)]
            here = tuple(hit for stack, hit in matching if stack.places.of(hit).may_be(account, region))
            if here:
                return only_match(here, resource_type, identity)
        return None

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The recorded addresses in any stack whose attribute has this value."""
        return tuple(address for stack in self.all for address in stack.find(resource_type, attribute, value))

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes in the state of the stack that has the address. Raises `errors.Ambiguous`."""
        stack = self.declaring(address)
        return None if stack is None else stack.recorded(address)

    def place(self, address: str) -> Place:
        """The account and region of the resource at this address. Raises `errors.Ambiguous`."""
        stack = self.declaring(address)
        return Place() if stack is None else stack.places.of(address)

    def accounts(self) -> frozenset[str]:
        """The AWS accounts of the recorded resources, by their ARNs, and those of the settings."""
        return frozenset[str]().union(*(stack.places.accounts for stack in self.all))

    def account(self) -> str:
        """The one AWS account of all recorded resources and settings; empty if there is none or more than one."""
        accounts = self.accounts()
        return next(iter(accounts)) if len(accounts) == 1 else ""

    def refresh(self) -> bool:
        """Reload the stacks whose files changed; returns whether any had.

        A version that cannot be loaded becomes one of `problems`, and the last valid version stays. Thread-safe.
        """
        with self._reloading:
            fresh = [_reloaded(loaded, self._default_region) for loaded in self._loaded]
            changed = any(new is not old for new, old in zip(fresh, self._loaded, strict=True))
            self._loaded = tuple(fresh)
        return changed


def _load(
    source: StackSource,
    region: str,
    origin: CodeOrigin,
    code: Code | None = None,
    code_version: Version = (),
    *,
    masker: Masker,
    objects: StateObjects | None,
) -> _Loaded:
    """Read a stack, reusing `code` if it is known to be unchanged. Versions are taken before files are read, so no change is missed."""
    if code is None:
        code, code_version = origin.load()
    where = state_origin(source, code, objects)
    state_version = where.version()
    content = where.read()
    state = parse_state(content, where.name, masker) if content else State(masker=masker)
    revision = hashlib.sha256(code.digest.encode() + hashlib.sha256(content).digest()).hexdigest()
    return _Loaded(
        source=source,
        origin=origin,
        stack=_stack(source, region, code, state, revision),
        code_version=code_version,
        state_version=state_version,
        state_origin=where,
        objects=objects,
        loaded_code=code_version,
    )


def _stack(source: StackSource, region: str, code: Code, state: State, revision: str) -> Stack:
    pending = {address: it for address, it in code.instances.items() if address not in state.resources}

    def declares(address: str) -> Mapping[str, Json]:
        return attributes(pending[address]) if address in pending else {}

    return Stack(
        name=source.name,
        mode=source.mode,
        account=source.account,
        root=source.path,
        revision=revision,
        code=code,
        state=state,
        recorded_index=IdentityIndex(
            ((resource.where.resource_type, address) for address, resource in state.resources.items()),
            lambda address: state.resources[address].attributes,
        ),
        pending_index=IdentityIndex(((it.resource_type, address) for address, it in pending.items()), declares),
        graph=Graph(state.resources.values(), code.instances, code.references),
        contracts=Contracts(
            root=code.module,
            rules=code.rules,
            instance=code.instance,
            declared=declares,
            code_conditions=CodeConditions(StateLookup(state)),
            seen=lambda types: _seen(types, code, state),
        ),
        places=Places(state, code, account=source.account, region=source.region or region),
    )


def _seen(types: str, code: Code, state: State) -> frozenset[str]:
    """The attributes that the code or the state gives to any resource whose type fits the glob."""
    recorded = (each.attributes for each in state.resources.values() if fits(types, each.where.resource_type))
    written = (attributes(each) for each in code.instances.values() if fits(types, each.resource_type))
    return frozenset(name for group in (*recorded, *written) for name in group)


def _reloaded(loaded: _Loaded, region: str) -> _Loaded:
    """The stack read again if its code or state changed, else the same object."""
    source, origin = loaded.source, loaded.origin
    code_version = origin.version(loaded.stack.code.directories)
    state_version = loaded.state_origin.version()
    if (code_version, state_version) == (loaded.code_version, loaded.state_version):
        return loaded
    try:
        masker = loaded.stack.state.masker
        if code_version == loaded.loaded_code:
            return _load(source, region, origin, loaded.stack.code, code_version, masker=masker, objects=loaded.objects)
        return _load(source, region, origin, masker=masker, objects=loaded.objects)
    except CodeInvalid as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  whatever is wrong with the new version, the last valid one stays
        problem = (
            f"The new version cannot be read ({type(error).__name__}: {error}); the last valid one stays in force."
        )
    return _Loaded(
        source=source,
        origin=origin,
        stack=loaded.stack,
        code_version=code_version,
        state_version=state_version,
        state_origin=loaded.state_origin,
        objects=loaded.objects,
        problem=problem,
        loaded_code=loaded.loaded_code,
    )
