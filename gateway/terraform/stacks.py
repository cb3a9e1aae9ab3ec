"""The stacks that Sentinel protects: Terraform code, contracts and state, looked up by address and reloaded when files change."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gateway.core.errors import Ambiguous, CodeInvalid, Malformed, NotFound
from gateway.core.model.json import Json
from gateway.core.model.masking import PER_RUN, Masker
from gateway.core.model.verdict import Mode
from gateway.core.settings.stacks import StackSettings
from gateway.terraform.aws_location import AwsLocation
from gateway.terraform.config.backend import StatePlace, state_places
from gateway.terraform.origins import (
    CodeEdit,
    CodeOrigin,
    RemoteStates,
    StateOrigin,
    Version,
    code_origin,
    contract_texts,
    edited_code,
    state_origin,
)
from gateway.terraform.resource_index import only_match
from gateway.terraform.stack import Stack, stack_of
from gateway.terraform.stack_code import Code
from gateway.terraform.state import State, parse_state


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """The last valid version of a stack, and the last version that was checked."""

    source: StackSettings
    origin: CodeOrigin
    stack: Stack
    code_version: Version
    state_version: Version
    state_origin: StateOrigin
    objects: RemoteStates | None = None
    problem: str = ""
    """Why the last version could not be loaded; empty if it was."""
    loaded_code: Version = ()
    """The version of the code in `stack`."""
    places: tuple[StatePlace, ...] = ()
    """Where Terraform keeps its state in S3."""


class _Together:
    """The stacks of one version, and what follows from them alone: each change asks for it several times, and it is worked out once."""

    def __init__(self, loaded: Sequence[_Loaded], stacks: Iterable[Stack]) -> None:
        self.loaded = tuple(loaded)
        self.stacks = tuple(stacks)

    @cached_property
    def revision(self) -> str:
        return hashlib.sha256("\n".join(f"{it.name} {it.revision}" for it in self.stacks).encode()).hexdigest()

    @cached_property
    def declared(self) -> str:
        return hashlib.sha256("\n".join(f"{it.name} {it.code.digest}" for it in self.stacks).encode()).hexdigest()

    @cached_property
    def accounts(self) -> frozenset[str]:
        return frozenset[str]().union(*(stack.places.accounts for stack in self.stacks))


def _together(loaded: Sequence[_Loaded]) -> _Together:
    return _Together(loaded, [each.stack for each in loaded])


class Stacks:
    """All stacks. A reload replaces the whole set at once, so a snapshot stays one version."""

    def __init__(
        self,
        loaded: _Together | Sequence[_Loaded],
        *,
        default_mode: Mode,
        default_region: str = "",
        alone: Stack | None = None,
    ) -> None:
        """Use `load` instead, which reads the stacks from disk. `alone` is one that nothing reloads, in place of those."""
        self._together = loaded if isinstance(loaded, _Together) else _together(loaded)
        if alone is not None:
            self._together = _Together((), [alone])
        self._default_region = default_region
        self._default_mode = default_mode
        self._reloading = threading.Lock()

    @classmethod
    def load(
        cls,
        settings: Sequence[StackSettings],
        *,
        default_mode: Mode,
        default_region: str = "",
        masker: Masker = PER_RUN,
        objects: RemoteStates | None = None,
    ) -> "Stacks":
        """Read every stack and mask the secrets in it. `default_region` is the region of resources for which nothing else says it.
        `objects` reads states that are no files.

        Raises `errors.CodeInvalid` with file and line: Sentinel does not run without contracts.
        """
        names = [source.name for source in settings]
        for name in names:
            if names.count(name) > 1:
                raise CodeInvalid(f"Two stacks have the name {name!r}; give each its own.")
        origins = [code_origin(source.path, source.protected_branch, source.workspace) for source in settings]
        loaded = [
            _load(source, default_region, origin, masker=masker, objects=objects)
            for source, origin in zip(settings, origins, strict=True)
        ]
        return cls(_with_shared(loaded), default_mode=default_mode, default_region=default_region)

    def snapshot(self) -> "Stacks":
        """An immutable snapshot, for callers that need several lookups against the same version; later refreshes do not affect it."""
        return Stacks(self._together, default_mode=self._default_mode, default_region=self._default_region)

    def edited(self, edit: CodeEdit) -> "Stacks":
        """The stacks with other code or contracts and the states of now; nothing of it is in force.

        Raises `errors.CodeInvalid` if the edit cannot be read, `errors.NotFound` if no stack has its name, and `errors.Malformed` if it
        does not say which of several stacks it is about.
        """
        if edit.stack and edit.stack not in {each.stack.name for each in self._together.loaded}:
            raise NotFound(f"This gateway has no stack {edit.stack[:100]!r}.")
        if not edit.stack and not edit.ref and len(self._together.loaded) > 1:
            names = ", ".join(each.stack.name for each in self._together.loaded)
            raise Malformed(f"Say which stack the contracts are of: {names}.")
        fresh = [
            each if edit.stack not in ("", each.stack.name) else _edited(each, edit, self._default_region)
            for each in self._together.loaded
        ]
        return Stacks(_with_shared(fresh), default_mode=self._default_mode, default_region=self._default_region)

    def contracts_of(self, name: str) -> Mapping[str, str]:
        """The contract files in force of a stack, by their path in it. Raises `errors.NotFound`, `errors.CodeInvalid`."""
        for each in self._together.loaded:
            if each.stack.name == name:
                return contract_texts(each.source, each.origin, each.stack.code)
        raise NotFound(f"This gateway has no stack {name[:100]!r}.")

    @property
    def all(self) -> tuple[Stack, ...]:
        """Every stack, in the order of the settings."""
        return self._together.stacks

    @property
    def revision(self) -> str:
        """SHA-256 over the revisions of all stacks."""
        return self._together.revision

    @property
    def declared(self) -> str:
        """SHA-256 over the code and contracts of all stacks, without their states."""
        return self._together.declared

    @property
    def default_name(self) -> str:
        """The name of the only stack; empty if there are none or several."""
        return self.all[0].name if len(self._together.loaded) == 1 else ""

    @property
    def default_mode(self) -> Mode:
        """The mode for resources that no stack declares."""
        return self._default_mode

    @property
    def problems(self) -> tuple[str, ...]:
        """Why newer versions could not be loaded, one sentence per stack. Such a stack keeps its last valid version."""
        return tuple(f"{loaded.stack.name}: {loaded.problem}" for loaded in self._together.loaded if loaded.problem)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Likely mistakes in contracts."""
        return tuple(f"{stack.name}: {warning}" for stack in self.all for warning in stack.warnings)

    @property
    def origins(self) -> Mapping[str, str]:
        """Where the code and contracts of each stack are read, by the stack's name."""
        return {loaded.stack.name: loaded.origin.description for loaded in self._together.loaded}

    @property
    def generation(self) -> object:
        """Another object as soon as code or states are others. Cheaper to compare than `revision`."""
        return self._together.loaded

    @property
    def state_places(self) -> tuple[StatePlace, ...]:
        """Where Terraform keeps the stacks' states in S3, also those of which the settings name a copy."""
        return tuple(place for each in self._together.loaded for place in each.places)

    def recorded_of(self, resource_type: str) -> Iterator[Mapping[str, Json]]:
        """The recorded attributes of every resource of a type, in any stack."""
        for stack in self.all:
            for resource in stack.state.resources.values():
                if resource.where.resource_type == resource_type:
                    yield resource.attributes

    @property
    def origin_warnings(self) -> tuple[str, ...]:
        """Which stacks' contracts are not protected, and which files do not count."""
        return tuple(
            f"{each.stack.name}: {warning}" for each in self._together.loaded for warning in each.origin.warnings()
        )

    def declaring(self, address: str) -> Stack | None:
        """The stack that has the address in its code or state. Raises `errors.Ambiguous` if several have."""
        having = [stack for stack in self.all if stack.knows(address)]
        if len(having) > 1:
            names = " and ".join(stack.name for stack in having)
            raise Ambiguous(f"{address} is in the stacks {names}. Say which: {having[0].named(address)}, for example.")
        return having[0] if having else None

    def locate(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> str | None:
        """The address of the resource in this account and region, each of which may be empty for any; None if no stack has it.

        Raises `errors.Ambiguous` if several match.
        """
        for pending in (False, True):
            here = [
                stack.named(hit)
                for stack in self.all
                for hit in (stack.pending_index if pending else stack.recorded_index).matching(resource_type, identity)
                if stack.places.of(hit).may_be(account, region)
            ]
            if here:
                return only_match(here, resource_type, identity)
        created = {
            stack.named(hit)
            for stack in self.all
            for hit in (
                *stack.pending_index.named_by_prefix(resource_type, identity),
                *stack.being_created(resource_type, identity),
            )
            if stack.places.of(hit).may_be(account, region)
        }
        # Of several nobody can say which one is created; it is a resource like any other that no code declares.
        return next(iter(created)) if len(created) == 1 else None

    def differing_in_case(
        self, resource_type: str, identity: Mapping[str, str], account: str = "", region: str = ""
    ) -> tuple[str, ...]:
        """The addresses in this account and region whose identity differs from this one in upper and lower case at most."""
        return tuple(
            stack.named(hit)
            for stack in self.all
            for index in (stack.recorded_index, stack.pending_index)
            for hit in index.matching_but_for_case(resource_type, identity)
            if stack.places.of(hit).may_be(account, region)
        )

    def find(self, resource_type: str, attribute: str, value: str) -> tuple[str, ...]:
        """The recorded addresses in any stack whose attribute has this value."""
        return tuple(
            stack.named(address) for stack in self.all for address in stack.find(resource_type, attribute, value)
        )

    def recorded(self, address: str) -> Mapping[str, Json] | None:
        """The attributes in the state of the stack that has the address. Raises `errors.Ambiguous`."""
        stack = self.declaring(address)
        return None if stack is None else stack.recorded(address)

    def declared_value(self, address: str, attribute: str) -> Json:
        """The value that the code of the one stack with this address declares; None if none does, or it is not known."""
        try:
            stack = self.declaring(address)
        except Ambiguous:
            return None
        return None if stack is None else stack.declared(address, attribute)

    def place(self, address: str) -> AwsLocation:
        """The account and region of the resource at this address. Raises `errors.Ambiguous`."""
        stack = self.declaring(address)
        return AwsLocation() if stack is None else stack.places.of(stack.local(address))

    def mode_at(self, account: str, region: str) -> Mode:
        """The mode of a call to this account and region of which nobody knows what it touches; an empty region stands for every one.

        OBSERVE if a stack that observes is known to be there, and every stack that may be there observes too.
        """
        here = [stack for stack in self.all if any(place.may_be(account, region) for place in stack.places.all)]
        observed = [stack for stack in here if stack.mode is Mode.OBSERVE]
        # The gateway's credentials are of one account, so a stack that was never applied, and shows no account, is in it too.
        accounts = (account, "") if self.accounts() <= {account} else (account,)
        known = any(
            place.account in accounts and region in ("", place.region)
            for stack in observed
            for place in stack.places.all
        )
        return Mode.OBSERVE if known and len(observed) == len(here) else Mode.ENFORCE

    def names_at(self, account: str, region: str) -> tuple[str, ...]:
        """The names of the stacks that may be in this account and region, each of which may be empty for any; those of all if none is."""
        here = tuple(stack.name for stack in self.all if any(each.may_be(account, region) for each in stack.places.all))
        return here or tuple(stack.name for stack in self.all)

    def accounts(self) -> frozenset[str]:
        """The AWS accounts of the recorded resources, by their ARNs, and those of the settings."""
        return self._together.accounts

    def account(self) -> str:
        """The one AWS account of all recorded resources and settings; empty if there is none or more than one."""
        accounts = self.accounts()
        return next(iter(accounts)) if len(accounts) == 1 else ""

    def refresh(self) -> bool:
        """Reload the stacks whose files changed; returns whether any had.

        A version that cannot be loaded becomes one of `problems`, and the last valid version stays. Thread-safe.
        """
        with self._reloading:
            fresh = [_reloaded(loaded, self._default_region) for loaded in self._together.loaded]
            changed = any(new is not old for new, old in zip(fresh, self._together.loaded, strict=True))
            if changed:
                self._together = _together(_with_shared(fresh))
        return changed


def _edited(loaded: _Loaded, edit: CodeEdit, region: str) -> _Loaded:
    """The stack with the edit. Raises `errors.CodeInvalid`."""
    code = edited_code(loaded.source, loaded.origin, edit)
    revision = hashlib.sha256(f"{code.digest} {loaded.stack.revision}".encode()).hexdigest()
    return replace(loaded, stack=stack_of(loaded.source, region, code, loaded.stack.state, revision))


def _with_shared(loaded: Sequence[_Loaded]) -> tuple[_Loaded, ...]:
    """The stacks, each knowing which of its addresses others have."""
    seen = Counter(address for each in loaded for address in set(each.stack.addresses)) if len(loaded) > 1 else {}
    shared = frozenset(address for address, count in seen.items() if count > 1)
    return tuple(
        each
        if each.stack.shared == (here := shared.intersection(each.stack.addresses))
        else replace(each, stack=replace(each.stack, shared=here, _dependants={}))
        for each in loaded
    )


def _load(
    source: StackSettings,
    region: str,
    origin: CodeOrigin,
    code: Code | None = None,
    code_version: Version = (),
    *,
    masker: Masker,
    objects: RemoteStates | None,
    last: State | None = None,
) -> _Loaded:
    """Read a stack, reusing `code` if it is known to be unchanged. Versions are taken before files are read, so no change is missed.

    `last` is the last valid state. Raises `errors.CodeInvalid`.
    """
    if code is None:
        code, code_version = origin.load()
    where = state_origin(source, code, objects)
    state_version = where.version()
    content = where.read()
    if last is not None and last.resources and where.is_cut_off(content):
        raise CodeInvalid(
            f"{where.name}:1: The state file is empty, as while Terraform writes it. The last state stays in force."
        )
    state = parse_state(content, where.name, masker) if content else State(masker=masker)
    revision = hashlib.sha256(code.digest.encode() + hashlib.sha256(content).digest()).hexdigest()
    return _Loaded(
        source=source,
        origin=origin,
        stack=stack_of(source, region, code, state, revision),
        code_version=code_version,
        state_version=state_version,
        state_origin=where,
        objects=objects,
        loaded_code=code_version,
        places=state_places(
            code.module.source,
            source.name,
            given=source.backend_config,
            workspace=source.workspace,
            keepers=source.state_keepers,
        ),
    )


def _reloaded(loaded: _Loaded, region: str) -> _Loaded:
    """The stack read again if its code or state changed, else the same object."""
    source, origin = loaded.source, loaded.origin
    code_version = origin.version(loaded.stack.code.directories, loaded.stack.code.templates)
    state_version = loaded.state_origin.version()
    if (code_version, state_version) == (loaded.code_version, loaded.state_version):
        return loaded
    try:
        last, objects = loaded.stack.state, loaded.objects
        if code_version == loaded.loaded_code:
            known = loaded.stack.code
            return _load(source, region, origin, known, code_version, masker=last.masker, objects=objects, last=last)
        return _load(source, region, origin, masker=last.masker, objects=objects, last=last)
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
        places=loaded.places,
    )
