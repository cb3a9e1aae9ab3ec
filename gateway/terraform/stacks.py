"""The stacks Sentinel guards: Terraform code, contracts and state, looked up by address and reloaded when files change."""

import hashlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gateway.errors import Ambiguous, CodeInvalid
from gateway.model.contract import Contract
from gateway.model.facts import Dependant
from gateway.model.json import Json
from gateway.model.mutation import WHOLE
from gateway.model.path import AttributePath
from gateway.model.verdict import Mode
from gateway.terraform.code import Code, code_files, load_code
from gateway.terraform.config.instance import attributes, declared
from gateway.terraform.contracts.conditions import CodeConditions
from gateway.terraform.contracts.resolve import Contracts
from gateway.terraform.graph import Graph
from gateway.terraform.identity_index import IdentityIndex, only
from gateway.terraform.lang.evaluate import Unknown
from gateway.terraform.places import Place, Places
from gateway.terraform.state import Roots, State, masked_like, parse_state


class StackSource(Protocol):
    """Where a stack is; `gateway.settings.StackSettings` is one."""

    @property
    def name(self) -> str:
        """Unique name."""

    @property
    def path(self) -> Path:
        """Directory of the root module."""

    @property
    def state(self) -> Path | None:
        """State file; None: `terraform.tfstate` in `path`."""

    @property
    def mode(self) -> Mode:
        """What a verdict does."""

    @property
    def account(self) -> str:
        """AWS account id, empty for any."""

    @property
    def region(self) -> str:
        """AWS region of what neither an ARN nor the code's provider places, empty where the settings do not say."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Stack:
    """One stack as it was at one moment. Nothing in it changes; only what was looked up is remembered."""

    name: str
    mode: Mode
    account: str
    root: Path
    revision: str
    """SHA-256 over code, contracts and state."""
    code: Code = field(repr=False)
    state: State = field(repr=False)
    recorded_index: IdentityIndex = field(repr=False)
    """What the state knows, by identity."""
    pending_index: IdentityIndex = field(repr=False)
    """What only the code declares so far, by identity."""
    graph: Graph = field(repr=False)
    law: Contracts = field(repr=False)
    places: Places = field(repr=False)
    """In which account and region each resource is."""
    _dependants: dict[str, tuple[Dependant, ...]] = field(default_factory=dict, repr=False)

    def knows(self, address: str) -> bool:
        """Whether code or state has the address."""
        return address in self.state.resources or address in self.code.instances

    def locate(self, resource_type: str, identity: Mapping[str, str]) -> str | None:
        """The address of the thing that all members of the identity name; the state is asked first, then the code.

        Raises `errors.Ambiguous` where it fits several.
        """
        hits = self.recorded_index.matching(resource_type, identity) or self.pending_index.matching(
            resource_type, identity
        )
        return only(hits, resource_type, identity)

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The addresses in the state whose attribute has this value, e.g. the rules of one security group."""
        return self.recorded_index.find(resource_type, attribute, value)

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes in the state, secrets as `{"sha256": …}`; None where the state does not know the address."""
        resource = self.state.resources.get(address)
        return None if resource is None else resource.attributes

    def declared(self, address: str, attribute: str) -> Json:
        """What the code declares for an attribute, secrets as `{"sha256": …}`; None where it declares nothing or it is not known."""
        instance = None if attribute == WHOLE else self.code.instance(address)
        if instance is None:
            return None
        try:
            value = declared(instance, attribute)
        except Unknown:
            return None
        recorded = AttributePath(attribute).value_at(self.recorded(address) or {})
        return masked_like(value, resource_type=instance.resource_type, attribute=attribute, recorded=recorded)

    def contract(self, address: str) -> Contract:
        """All law for the address; an empty contract where there is none."""
        return self.law.contract(address)

    def dependants(self, address: str) -> tuple[Dependant, ...]:
        """Everything that depends on the thing, directly or not, nearest first."""
        known = self._dependants.get(address)
        if known is None:
            known = tuple(self._dependant(other, direct) for other, direct in self.graph.dependants(address))
            self._dependants[address] = known
        return known

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the author of the contracts should look at, each with file and line."""
        return self.law.warnings(dict.fromkeys([*self.state.resources, *self.code.instances]), self.recorded)

    def _dependant(self, address: str, direct: bool) -> Dependant:
        contract = self.contract(address)
        return Dependant(
            address=address,
            direct=direct,
            critical=contract.critical,
            managed_by_agent=contract.managed_by_agent,
            source=self.code.source_of(address),
        )


_TRIES = 5

_Print = tuple[tuple[str, int, int, int], ...]
"""Name, time of change, size and inode of each file: what tells one version on disk from another without reading it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """One stack's last good version, and the last version that was looked at."""

    source: StackSource
    stack: Stack
    code_print: _Print
    state_print: _Print
    problem: str = ""
    """Why the last version that was looked at could not be taken; empty where it was."""
    loaded_code: _Print = ()
    """The print of the code in `stack`."""


class Stacks:
    """All stacks. A reload swaps the whole set at once, so whoever is looking keeps seeing one version."""

    def __init__(self, loaded: Sequence[_Loaded], *, default_mode: Mode, default_region: str = "") -> None:
        """For `load`, which see."""
        self._loaded = tuple(loaded)
        self._default_region = default_region
        self._default_mode = default_mode
        self._reloading = threading.Lock()

    @classmethod
    def load(cls, settings: Sequence[StackSource], *, default_mode: Mode, default_region: str = "") -> "Stacks":
        """Read every stack. `default_region` is that of resources which nothing else places. Raises `errors.CodeInvalid` with file and line: nothing runs without law."""
        names = [source.name for source in settings]
        for name in names:
            if names.count(name) > 1:
                raise CodeInvalid(f"Two stacks have the name {name!r}; give each its own.")
        loaded = [_load(source, default_region) for source in settings]
        return cls(loaded, default_mode=default_mode, default_region=default_region)

    def snapshot(self) -> "Stacks":
        """All stacks as they are now, for whoever must see one version through several questions; a refresh does not reach it."""
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
    def default_name(self) -> str:
        """The name of the only stack; empty where there are none or several."""
        return self.all[0].name if len(self._loaded) == 1 else ""

    @property
    def default_mode(self) -> Mode:
        """The mode for things that no stack declares."""
        return self._default_mode

    @property
    def problems(self) -> tuple[str, ...]:
        """Why versions on disk were not taken, one sentence per stack; then the last good version is still in force."""
        return tuple(f"{loaded.stack.name}: {loaded.problem}" for loaded in self._loaded if loaded.problem)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What authors should look at."""
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

    def declaring(self, address: str) -> Stack | None:
        """The stack that has the address in its code or state. Raises `errors.Ambiguous` where several have."""
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
        """The address of the resource in this account and region (in any where they are empty), None where nothing declares it.

        Raises `errors.Ambiguous` where it fits several.
        """
        recorded = [
            (stack, hit) for stack in self.all for hit in stack.recorded_index.matching(resource_type, identity)
        ]
        pending = [(stack, hit) for stack in self.all for hit in stack.pending_index.matching(resource_type, identity)]
        for found in (recorded, pending):
            hits = tuple(hit for stack, hit in found if stack.places.of(hit).may_be(account, region))
            if hits:
                return only(hits, resource_type, identity)
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
        """The AWS accounts whose resources the states record, by their ARNs, and those of the settings."""
        return frozenset[str]().union(*(stack.places.accounts for stack in self.all))

    def refresh(self) -> bool:
        """Reload the stacks whose files changed; whether any had. A version that cannot be read is a problem, and the last good one stays.

        May be called from any thread.
        """
        with self._reloading:
            fresh = [_reloaded(loaded, self._default_region) for loaded in self._loaded]
            changed = any(new is not old for new, old in zip(fresh, self._loaded, strict=True))
            self._loaded = tuple(fresh)
        return changed


def _load(source: StackSource, region: str, code: Code | None = None, code_print: _Print = ()) -> _Loaded:
    """Read a stack; `code` where it is known not to have changed. Files are looked at before they are read, so no change is missed."""
    state_print = _prints([_state_file(source)])
    if code is None:
        code, code_print = _settled_code(source.path, (".",))
    state_file = _state_file(source)
    try:
        content = state_file.read_bytes()
    except FileNotFoundError:
        content = b""
    except OSError as error:
        raise CodeInvalid(f"{state_file.name}:1: The state file cannot be read: {error.strerror}.") from error
    state = parse_state(content, state_file.name) if content else State()
    revision = hashlib.sha256(code.digest.encode() + hashlib.sha256(content).digest()).hexdigest()
    return _Loaded(
        source=source,
        stack=_stack(source, region, code, state, revision),
        code_print=code_print,
        state_print=state_print,
        loaded_code=code_print,
    )


def _settled_code(root: Path, directories: tuple[str, ...]) -> tuple[Code, _Print]:
    """The code, and the print of its files taken before they were read. Which directories these are, only the code tells."""
    for _ in range(_TRIES):
        code_print = _code_print(root, directories)
        code = load_code(root)
        if code.directories == directories:
            return code, code_print
        directories = code.directories
    raise CodeInvalid(f"{root}: The code changes while it is read.")


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
        law=Contracts(
            root=code.module,
            rules=code.rules,
            instance=code.instance,
            declared=declares,
            guards=CodeConditions(Roots(state)),
        ),
        places=Places(state, code, account=source.account, region=source.region or region),
    )


def _reloaded(loaded: _Loaded, region: str) -> _Loaded:
    """The same object where nothing changed on disk."""
    source = loaded.source
    directories = loaded.stack.code.directories
    code_print = _code_print(source.path, directories)
    state_print = _prints([_state_file(source)])
    if (code_print, state_print) == (loaded.code_print, loaded.state_print):
        return loaded
    try:
        if code_print == loaded.loaded_code:
            return _load(source, region, loaded.stack.code, code_print)
        return _load(source, region)
    except CodeInvalid as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  whatever is wrong with the new version, the last good one goes on
        problem = f"The new version cannot be read ({type(error).__name__}: {error}); the last good one stays in force."
    return _Loaded(
        source=source,
        stack=loaded.stack,
        code_print=code_print,
        state_print=state_print,
        problem=problem,
        loaded_code=loaded.loaded_code,
    )


def _state_file(source: StackSource) -> Path:
    return source.state or source.path / "terraform.tfstate"


def _code_print(root: Path, directories: Sequence[str]) -> _Print:
    return _prints([path for directory in directories for path in code_files(root, directory)])


def _prints(paths: Sequence[Path]) -> _Print:
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            continue
        found.append((str(path), status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(found)
