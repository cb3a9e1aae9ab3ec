"""The kinds of resources of one AWS service, each with its names in CloudFormation, IAM and Terraform."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.tools.effect_sources.cloudformation import CloudFormationType, Phase
from tests.tools.effect_sources.counterpart import Counterpart
from tests.tools.effect_sources.iam import IamService
from tests.tools.effect_sources.operation_names import Direction, fold, split
from tests.tools.effect_sources.service_operations import ServiceOperation

_TELLING = 5
"""Letters that a name must have to be found inside another."""
_NAMESPACES_OF = {"lexv2-models": frozenset({"Lex"})}
"""Service → its namespaces, where no name says so."""
_BEGINS_OF = {"elb": frozenset({"lb", "loadbalancer"})}
"""Service → how the names of its Terraform types begin, where no mapped type says so."""
_JOINING = ("from", "for", "to", "of", "on", "in")
_RELATIONS = ("attachment", "association", "accepter", "membership", "registration", "permission")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind:
    """One kind of resource, equal only to itself."""

    source: str
    """Its type in CloudFormation, or `prefix:type` in IAM if CloudFormation has none."""
    noun: str
    """Its folded name, as the names of operations have it."""
    resource_type: str
    """Its Terraform type; without one the `source`. Empty if that is not certain."""
    handlers: Mapping[str, frozenset[Phase]]
    """IAM action in lower case → the phases of its CloudFormation handlers that need it."""
    identifier: tuple[str, ...] = ()
    """The properties that identify a resource together, by CloudFormation."""
    arn_variables: tuple[str, ...] = ()
    """The variables of the resource's ARN, by IAM."""
    iam: str = ""
    """Its name in IAM."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceKinds:
    """The kinds of one botocore service."""

    kinds: tuple[Kind, ...]
    iam: tuple[IamService, ...]
    """Under each of its prefixes."""
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Folded name without what the types of this service begin with → the Terraform types with that name."""
    made: frozenset[str] = frozenset()
    """The nouns of the operations that create something, or may."""
    created: frozenset[str] = frozenset()
    """Those of the operations with the verb `Create`."""
    put: frozenset[str] = frozenset()
    """Those of the operations with the verb `Put`."""

    def named(self, noun: str) -> tuple[Kind, ...]:
        """The kinds with exactly this name; those that CloudFormation knows, if there are any."""
        found = tuple(each for each in self.kinds if each.noun == noun)
        return tuple(each for each in found if each.handlers) or found

    def may_be_own_type(self, noun: str, kind: Kind) -> bool:
        """Whether Terraform may have a type for what the noun names, other than the kind's."""
        part = _part(noun, kind.noun)
        return any(
            noun in name
            or (name in noun and len(name) >= _TELLING and name not in kind.noun)
            or (len(part) >= _TELLING and (part in name or name.startswith(f"{kind.noun}{part[:_TELLING]}")))
            for name, types in self.names.items()
            if types != {kind.resource_type}
        )

    def may_relate(self, noun: str) -> bool:
        """Whether Terraform has types for relations of what the noun names."""
        return any(
            name.endswith(_RELATIONS) and (noun in name or name.removesuffix("attachment") in noun)
            for name in self.names
        )

    def of_iam(self, names: Collection[str]) -> tuple[Kind, ...]:
        """The kinds with these names in IAM."""
        return tuple(each for each in self.kinds if each.iam in names)


def _part(noun: str, kind: str) -> str:
    """What a noun says beside the kind's: `inlinepolicy` of `inlinepolicytopermissionset`; empty if it does not contain that."""
    if noun.endswith(kind):
        part = noun.removesuffix(kind)
        return next((part.removesuffix(word) for word in _JOINING if part.endswith(word)), part)
    return noun.removeprefix(kind) if noun.startswith(kind) else ""


def prefixes_of(types: Iterable[CloudFormationType]) -> Mapping[str, str]:
    """CloudFormation's type → the IAM prefix of the actions with its name; without any, that of most actions of its namespace."""
    types = tuple(types)
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    own: dict[str, Counter[str]] = {}
    for each in types:
        own[each.name] = Counter(
            prefix for prefix, noun in map(_split_action, each.handlers) if noun == fold(each.noun)
        )
        seen[each.namespace].update({action.partition(":")[0] for action in each.handlers})
        seen[each.namespace].update(3 * [*own[each.name]])
    common = Counter(prefix for prefixes in seen.values() for prefix in prefixes)

    def most(each: CloudFormationType) -> str:
        """Of several, the one that more types of the namespace have, then the one that fewer namespaces have: helpers are everywhere."""
        of_all = seen[each.namespace]
        counted = own[each.name] or of_all
        return min(counted, key=lambda prefix: (-counted[prefix], -of_all[prefix], common[prefix], prefix))

    return {each.name: most(each) for each in types if seen[each.namespace]}


def _split_action(action: str) -> tuple[str, str]:
    """Prefix and folded noun of an action. It is in lower case, so that a verb is found by its letters only."""
    prefix, _, name = action.partition(":")
    for verb in ("create", "delete", "update", "put"):
        if name.startswith(verb):
            return prefix, fold(name.removeprefix(verb))
    return prefix, ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """What is known about the resources of all services."""

    types: Sequence[CloudFormationType]
    iam: Mapping[str, IamService]
    terraform: Mapping[str, Counterpart]
    """CloudFormation's or IAM's type → what people reviewed about it."""
    attributes: Mapping[str, frozenset[str]]
    """Terraform type → all its attributes."""
    blocks: Mapping[str, frozenset[str]]
    """Terraform type → the folded names of its blocks."""
    prefixes: Mapping[str, str]
    """CloudFormation's type → the IAM prefix of its actions."""
    begins: tuple[str, ...] = ()
    """How the names of Terraform types begin, folded, by the name of their service."""


def kinds_of(
    operations: Sequence[ServiceOperation], sources: Sources, others: Mapping[str, frozenset[str]] | None = None
) -> ServiceKinds:
    """The kinds of the service whose operations these are.

    `others` are the namespaces of other services with the same prefix, each with the nouns of what its service creates: a type of theirs
    belongs to this service only if this one creates it and they do not (`AWS::Bedrock::Agent` is of `bedrock-agent`).
    """
    first = operations[0]
    own = own_namespaces(first, sources)
    made = nouns_made(operations)
    theirs = others or {}

    def belongs(each: CloudFormationType) -> bool:
        if each.namespace in theirs:
            return fold(each.noun) in made - theirs[each.namespace]
        return each.namespace in own or not own

    types = [each for each in sources.types if sources.prefixes.get(each.name) in first.prefixes and belongs(each)]
    services = tuple(sources.iam[prefix] for prefix in first.prefixes if prefix in sources.iam)
    listed = [each for each in (_kind(each, sources.terraform.get(each.name)) for each in types) if each.noun]
    names = _terraform_names(first, types, sources)
    kinds = _with_iam(listed, services, operations, sources.terraform)
    return ServiceKinds(
        kinds=tuple(_judged(each, names, made, sources) for each in kinds),
        iam=services,
        names=names,
        made=made,
        created=_nouns(operations, Direction.CREATE),
        put=_nouns(operations, Direction.PUT),
    )


def nouns_made(operations: Iterable[ServiceOperation]) -> frozenset[str]:
    """The nouns of the operations that create something, or may."""
    named = [split(each.name) for each in operations]
    return frozenset(
        name.noun
        for name in named
        if name.direction in (Direction.CREATE, Direction.PUT) or name.verb in ("Register", "Request", "Run")
    )


def _nouns(operations: Iterable[ServiceOperation], direction: Direction) -> frozenset[str]:
    return frozenset(name.noun for name in (split(each.name) for each in operations) if name.direction is direction)


def _kind(each: CloudFormationType, known: Counterpart | None) -> Kind:
    return Kind(
        source=each.name,
        noun=fold(each.noun if known is None or known.noun is None else known.noun),
        resource_type=each.name if known is None else known.terraform,
        handlers=each.handlers,
        identifier=each.identifier,
    )


def _judged(kind: Kind, names: Mapping[str, frozenset[str]], made: Collection[str], sources: Sources) -> Kind:
    """The kind, without a type if Terraform may have one or more for it that nobody has reviewed."""
    if kind.resource_type != kind.source:
        return kind
    found = names.get(kind.noun, frozenset())
    every = frozenset[str]().union(*names.values())
    may_be_block = any(kind.noun in sources.blocks.get(name, ()) for name in every) or any(
        len(begin) >= _TELLING
        and kind.noun.startswith(begin)
        and kind.noun.removeprefix(begin) in sources.blocks.get(name, ())
        for begin, types in names.items()
        for name in types
    )
    may_be_several = kind.noun not in made and any(
        name.startswith(kind.noun) or name.endswith(kind.noun) for name in names
    )
    return replace(kind, resource_type="") if found or may_be_block or may_be_several else kind


def _terraform_names(
    operation: ServiceOperation, types: Sequence[CloudFormationType], sources: Sources
) -> Mapping[str, frozenset[str]]:
    """Folded name without what the types of this service begin with → the Terraform types with that name."""
    begins = {fold(operation.service), fold(operation.service_id), *map(fold, operation.prefixes)}
    for each in types:
        known = sources.terraform.get(each.name)
        if known is not None and known.terraform:
            begins.add(fold(known.terraform.removeprefix("aws_")).removesuffix(fold(each.noun)))
    # `aws_backup_vault` of a `BackupVault` begins with nothing, and `aws_cloudtrail` of a `Trail` with `cloud`: that says nothing.
    begins |= _BEGINS_OF.get(operation.service, frozenset())
    own = fold(operation.service)
    begins = {each for each in begins if own == "ec2" or (each and (each == own or not own.startswith(each)))}
    found: dict[str, set[str]] = defaultdict(set)
    for name in sources.attributes:
        whole = fold(name.removeprefix("aws_"))
        for begin in begins:
            foreign = not begin and whole.startswith(sources.begins)
            if whole.startswith(begin) and not foreign:
                found[whole.removeprefix(begin)].add(name)
    return {name: frozenset(each) for name, each in found.items()}


def own_namespaces(operation: ServiceOperation, sources: Sources) -> frozenset[str]:
    """The namespaces that have the service's own name."""
    names = {fold(name).removesuffix("service") for name in (operation.service_id, operation.service)}
    told = _NAMESPACES_OF.get(operation.service)
    if told is not None:
        return told
    return frozenset(
        each.namespace
        for each in sources.types
        if sources.prefixes.get(each.name) in operation.prefixes
        and fold(each.namespace).removesuffix("service") in names
    )


def _with_iam(
    kinds: Sequence[Kind],
    services: Sequence[IamService],
    operations: Sequence[ServiceOperation],
    terraform: Mapping[str, Counterpart],
) -> Iterator[Kind]:
    """The kinds with their names in IAM, and the types of IAM that are no kind yet."""
    names = {name: service for service in services for name in service.variables}
    by_noun = {fold(name): name for name in names}
    claimed: set[str] = set()
    for each in kinds:
        name = by_noun.get(each.noun) or _by_deletion(
            each, services, operations, {kind.noun for kind in kinds}, by_noun
        )
        claimed.add(name)
        yield replace(each, iam=name, arn_variables=names[name].variables[name] if name else ())
    for name, service in names.items():
        if name not in claimed:
            own = f"{service.prefix}:{name}"
            yield Kind(
                source=own,
                noun=fold(name),
                resource_type=terraform[own].terraform if own in terraform else own,
                handlers={},
                arn_variables=service.variables[name],
                iam=name,
            )


def _by_deletion(
    kind: Kind,
    services: Sequence[IamService],
    operations: Sequence[ServiceOperation],
    nouns: Collection[str],
    by_noun: Mapping[str, str],
) -> str:
    """The only type that the deletion of such a resource concerns, by IAM; empty if that is the type of another kind."""
    for operation in operations:
        name = split(operation.name)
        if name.direction is Direction.DELETE and name.noun == kind.noun:
            for service in services:
                action = service.actions.get(operation.name.lower())
                if action is not None and len(action.required) == 1:
                    (found,) = action.required
                    return "" if fold(found) in nouns or _is_noun_of(found, operations) else found
    return ""


def _is_noun_of(name: str, operations: Sequence[ServiceOperation]) -> bool:
    """Whether the service creates or deletes something with this name of IAM."""
    return any(
        parts.noun == fold(name) and parts.direction in (Direction.CREATE, Direction.DELETE, Direction.PUT)
        for parts in (split(operation.name) for operation in operations)
    )
