"""Derives what an operation does to which kind of resource, from signs that must agree: names, CloudFormation's handlers, IAM's types."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from gateway.core.derived_rows import AttributeSource, Confidence, DerivedRow, Origin
from gateway.core.model.mutation import EffectAction
from tests.tools.effect_sources.cloudformation import Phase
from tests.tools.effect_sources.iam import Action
from tests.tools.effect_sources.identities import NOTHING, Identity, identity
from tests.tools.effect_sources.kinds import Kind, ServiceKinds
from tests.tools.effect_sources.operation_names import Direction, OperationName, fold, split
from tests.tools.effect_sources.service_operations import ServiceOperation

CREATE, SET, DELETE, INVOKE = EffectAction.CREATE, EffectAction.SET, EffectAction.DELETE, EffectAction.INVOKE
_PHASES = {
    Direction.CREATE: frozenset({Phase.CREATE}),
    Direction.PUT: frozenset({Phase.CREATE, Phase.UPDATE}),
    Direction.SET: frozenset({Phase.CREATE, Phase.UPDATE}),
    Direction.DELETE: frozenset({Phase.DELETE}),
}
"""The phases of which a handler has one or more, if it agrees with the verb."""
_CREATES = ("Create", "BatchCreate")
_DELETES = ("Delete", "BatchDelete")
_VARIANTS = ("accepter", "copy", "deployment", "import", "state", "status")
_ON_TAGS = ("Tag", "Untag")
_VERSION = re.compile(r"v\d+")
_TWO = 2
"""Signs that a row needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A kind that an operation concerns, in which direction, and by which signs."""

    kind: Kind
    actions: frozenset[EffectAction]
    signs: frozenset[str]
    sure: bool
    """Whether type and direction are certain for every call, and no other kind is concerned."""
    identity: Identity = NOTHING


def derive(
    operation: ServiceOperation, kinds: ServiceKinds, attributes: Mapping[str, frozenset[str]]
) -> tuple[DerivedRow, ...]:
    """The rows of an operation; none if fewer than two signs agree. `attributes` are those of each Terraform type."""
    return tuple(_row(operation, each) for each in findings(operation, kinds, attributes))


def findings(
    operation: ServiceOperation, kinds: ServiceKinds, attributes: Mapping[str, frozenset[str]]
) -> tuple[Finding, ...]:
    """What the signs say about the operation."""
    evidence = _Evidence(operation, split(operation.name), kinds, attributes)
    return evidence.found()


class _Evidence:
    """All that the sources say about one operation."""

    def __init__(
        self,
        operation: ServiceOperation,
        name: OperationName,
        kinds: ServiceKinds,
        attributes: Mapping[str, frozenset[str]],
    ) -> None:
        self.operation = operation
        self.name = name
        self.kinds = kinds
        self.attributes = attributes
        self.action = _action(operation, kinds)
        keys = {f"{prefix}:{operation.name}".lower() for prefix in operation.prefixes}
        self.listed = {
            each: phases
            for each in kinds.kinds
            if (phases := frozenset[Phase]().union(*(each.handlers.get(key, ()) for key in keys)))
        }
        required = self.action.required if self.action else frozenset()
        self.only_required = (
            kinds.of_iam(required)[0] if len(required) == 1 and len(kinds.of_iam(required)) == 1 else None
        )

    def found(self) -> tuple[Finding, ...]:
        """The findings, by the first rule that gives any."""
        if self.name.verb in _ON_TAGS and self.name.noun in ("", "resource"):
            return tuple(self._tags())
        named = self.kinds.named(self.name.noun) if self.name.noun else ()
        if len(named) > 1:
            return ()
        found = self._exact(named[0]) if named else self._relation() or self._longer() or self._aspect()
        return (found,) if found else ()

    def phases(self, kind: Kind) -> frozenset[Phase]:
        return self.listed.get(kind, frozenset())

    def identified(self, kind: Kind, *, named: bool) -> Identity:
        return identity(self.operation, kind, self.attributes.get(kind.resource_type, frozenset()), named=named)

    def _exact(self, kind: Kind) -> Finding | None:
        """The operation has the kind's own name."""
        direction = self.name.direction
        identified = self.identified(kind, named=True)
        phases = self.phases(kind)
        signs = {"noun"}
        if direction in _PHASES and phases & _PHASES[direction]:
            signs.add("handler")
        if self.action and kind.iam in self.action.types:
            signs.add("iam")
        if identified.certain:
            signs.add("identity")
        made = self._made_by_its_own(kind)
        if direction in (Direction.BEGIN, Direction.COPY, Direction.OTHER):
            made = made or kind.noun in self.kinds.put
        if direction is Direction.SET:
            made = made or kind.noun in self.kinds.made
        if direction is Direction.CREATE and made and self.name.verb not in _CREATES:
            direction = Direction.OTHER
        actions, sure = _exact_direction(direction, self.name.verb, phases, signs, made=made)
        if direction in (Direction.JOIN, Direction.PART):
            return self._relation() or self._joined(kind, signs, identified)
        if not actions or (direction is not Direction.CREATE and self._verb_has_type(kind)):
            return None
        return self._finding(kind, actions, signs, sure=sure, identified=identified)

    def _verb_has_type(self, kind: Kind) -> bool:
        """Whether Terraform has a type for what this verb makes of the kind: `aws_db_snapshot_copy`."""
        begin = f"{kind.noun}{self.name.verb.lower()[:5]}"
        accepts = self.name.verb == "Accept"
        return any(name.startswith(begin) or (accepts and name.endswith("accepter")) for name in self.kinds.names)

    def _joined(self, kind: Kind, signs: set[str], identified: Identity) -> Finding | None:
        """`RegisterTaskDefinition` creates, `EnableRule` changes what its noun names: the handler's phase decides."""
        if self.kinds.may_relate(kind.noun):
            return None
        phases = self.phases(kind)
        part = self.name.direction is Direction.PART
        signs = signs | {"handler"}
        if part and phases == {Phase.DELETE}:
            return self._finding(kind, frozenset({DELETE}), signs, sure=False, identified=identified)
        if not part and Phase.CREATE in phases and not self._made_by_its_own(kind):
            registers = self.name.verb == "Register"
            actions = frozenset({CREATE}) if registers else frozenset({CREATE, SET})
            return self._finding(kind, actions, signs, sure=registers, identified=identified)
        if Phase.UPDATE in phases:
            return self._finding(kind, frozenset({SET}), signs, sure=False, identified=identified)
        return None

    def _relation(self) -> Finding | None:
        """`AttachVolume` creates a `VolumeAttachment`: the one kind whose handler creates (or deletes) by this operation and whose name fits."""
        if self.name.direction not in (Direction.JOIN, Direction.PART):
            return None
        phase = Phase.DELETE if self.name.direction is Direction.PART else Phase.CREATE
        fitting = [
            each
            for each, phases in self.listed.items()
            if phase in phases and Phase.UPDATE not in phases and _is_relation(each.noun, self.name.noun)
        ]
        if len(fitting) != 1 or self._made_by_its_own(fitting[0]):
            return None
        actions = frozenset({DELETE if phase is Phase.DELETE else CREATE})
        identified = self.identified(fitting[0], named=False)
        return self._finding(
            fitting[0], actions, {"handler", "noun"}, sure=len(self.listed) == 1, identified=identified
        )

    def _longer(self) -> Finding | None:
        """`DeleteRule` deletes a `ListenerRule`, `CreateCacheSubnetGroup` creates a `SubnetGroup`: the only kind whose handler needs it."""
        wanted = {
            Direction.CREATE: frozenset({Phase.CREATE}),
            Direction.DELETE: frozenset({Phase.DELETE}),
            Direction.PUT: frozenset({Phase.CREATE, Phase.UPDATE}),
        }.get(self.name.direction)
        if len(self.listed) != 1 or not wanted or not self.name.noun:
            return None
        ((kind, phases),) = self.listed.items()
        if phases != wanted or not (kind.noun.endswith(self.name.noun) or self.name.noun.endswith(kind.noun)):
            return None
        if self.kinds.may_be_own_type(self.name.noun, kind):
            return None
        actions = {
            Direction.CREATE: frozenset({CREATE}),
            Direction.DELETE: frozenset({DELETE}),
            Direction.PUT: frozenset({CREATE, SET}),
        }[self.name.direction]
        identified = self.identified(kind, named=True)
        return self._finding(kind, actions, {"handler", "noun"}, sure=True, identified=identified)

    def _tags(self) -> Iterator[Finding]:
        """Tags of any kind that IAM names, or that has a handler which needs the operation: the ARN says which."""
        types = self.action.types if self.action else frozenset()
        kinds = [each for each in self.kinds.kinds if each.iam in types or each in self.listed]
        for kind in {each.resource_type: each for each in kinds}.values():
            identified = self.identified(kind, named=True)
            signs = {
                *(("iam",) if kind.iam in types else ()),
                *(("handler",) if kind in self.listed else ()),
                *(("identity",) if identified.sources else ()),
            }
            # An ARN is that of one resource: of several types, it is certain by itself which one is meant.
            by_arn = any(fold(each.attribute).endswith("arn") for each in identified.sources.values())
            sure = by_arn or len(kinds) == 1
            found = self._finding(kind, frozenset({SET}), signs, sure=sure, identified=identified)
            if found:
                yield found

    def _aspect(self) -> Finding | None:
        """The operation concerns a part of a kind: `PutFunctionConcurrency`, `StopPipelineExecution`."""
        listed = [each for each, phases in self.listed.items() if phases != {Phase.DELETE}]
        kind = self.only_required or (listed[0] if len(listed) == 1 else None)
        direction = self.name.direction
        relates = direction in (Direction.JOIN, Direction.PART)
        if kind is None or self.kinds.may_be_own_type(self.name.noun, kind) or self._verb_has_type(kind):
            return None
        if (relates and self.kinds.may_relate(kind.noun)) or self._may_make_another(kind):
            return None
        identified = self.identified(kind, named=False)
        signs = set()
        if self.only_required is kind:
            signs.add("iam")
        if listed == [kind]:
            signs.add("handler")
        if kind.noun in self.name.noun:
            signs.add("stem")
        if identified.certain:
            signs.add("identity")
        begins = direction in (Direction.INVOKE, Direction.BEGIN, Direction.OTHER, Direction.COPY)
        acts = begins or (direction is not Direction.SET and not signs & {"handler", "stem"})
        if acts:
            sure = direction is Direction.INVOKE and "stem" in signs and "handler" not in signs
        else:
            is_own = self.name.noun in self.kinds.created
            sure = {"iam", "handler"} <= signs and not relates and not is_own and Phase.DELETE not in self.phases(kind)
        return self._finding(kind, frozenset({INVOKE if acts else SET}), signs, sure=sure, identified=identified)

    def _may_make_another(self, kind: Kind) -> bool:
        """Whether the operation may create, copy or delete something of a similar name instead of changing a part of the kind."""
        direction, noun = self.name.direction, self.name.noun
        if direction is Direction.COPY:
            return True
        if direction not in (Direction.CREATE, Direction.DELETE):
            return False
        only_then = self.phases(kind) == {Phase.CREATE if direction is Direction.CREATE else Phase.DELETE}
        return noun.endswith(kind.noun) or only_then or _VERSION.fullmatch(noun.removeprefix(kind.noun)) is not None

    def _made_by_its_own(self, kind: Kind) -> bool:
        """Whether the service has an operation with the verb `Create` for such resources."""
        return any(f"{prefix}:create{kind.noun}" in kind.handlers for prefix in self.operation.prefixes) or any(
            f"create{kind.noun}" in service.actions for service in self.kinds.iam
        )

    def _finding(
        self, kind: Kind, actions: frozenset[EffectAction], signs: Iterable[str], *, sure: bool, identified: Identity
    ) -> Finding | None:
        agreed = frozenset(signs)
        sure = sure and not _has_variants(kind, self.attributes)
        if len(agreed) < _TWO or not kind.resource_type:
            return None
        return Finding(kind=kind, actions=actions, signs=agreed, sure=sure, identity=identified)


def _exact_direction(
    direction: Direction, verb: str, phases: frozenset[Phase], signs: Collection[str], *, made: bool
) -> tuple[frozenset[EffectAction], bool]:
    """What an operation with the kind's own name does to it, and whether that is certain. `made`: another operation creates such resources."""
    match direction:
        case Direction.CREATE:
            return frozenset({CREATE}), bool({"handler", "iam"} & {*signs})
        case Direction.PUT:
            return frozenset({CREATE, SET}), phases >= {Phase.CREATE, Phase.UPDATE}
        case Direction.SET:
            also_creates = Phase.CREATE in phases and not made and verb not in _ON_TAGS
            return frozenset({CREATE, SET} if also_creates else {SET}), True
        case Direction.DELETE:
            # Something else than the deletion, if there is an operation for that: `DeregisterCluster` beside `DeleteCluster`.
            deletes = verb in _DELETES or Phase.DELETE in phases
            return frozenset({INVOKE if made and not deletes else DELETE}), deletes
        case Direction.INVOKE:
            deletes = phases == {Phase.DELETE}
            return frozenset({DELETE if deletes else INVOKE}), verb != "Cancel" and not phases
        case _:
            return _begun(direction, phases, made=made)


def _begun(direction: Direction, phases: frozenset[Phase], *, made: bool) -> tuple[frozenset[EffectAction], bool]:
    """The same for verbs that may create what they name, or act on what is there."""
    if phases == {Phase.CREATE} and direction is not Direction.OTHER and not (made and direction is Direction.BEGIN):
        return frozenset({CREATE}), not made
    if made and direction is not Direction.COPY:
        return frozenset({INVOKE}), direction is Direction.BEGIN and not phases
    return frozenset(), False


def _row(operation: ServiceOperation, finding: Finding) -> DerivedRow:
    creates = finding.actions == {CREATE}
    certain = finding.sure and (creates or finding.identity.certain)
    return DerivedRow(
        service=operation.service,
        operation=operation.name,
        resource_type=finding.kind.resource_type,
        actions=finding.actions,
        origin=Origin.MODEL,
        confidence=Confidence.RESOURCE if certain else Confidence.TYPE,
        identity=_names_of_new(finding) if creates else finding.identity.sources,
        controls=operation.tokens,
    )


def _names_of_new(finding: Finding) -> Mapping[str, AttributeSource]:
    """The parameters that name a new resource. A parameter with the kind's own name may be what it consists of: a certificate's body."""
    own = finding.kind.noun in map(fold, finding.identity.sources)
    return finding.identity.sources if finding.identity.certain and not own else {}


def _action(operation: ServiceOperation, kinds: ServiceKinds) -> Action | None:
    for service in kinds.iam:
        found = service.actions.get(operation.name.lower())
        if found is not None:
            return found
    return None


def _has_variants(kind: Kind, terraform: Collection[str]) -> bool:
    """Whether Terraform manages the same resources under further types: `aws_ebs_snapshot_copy`, `aws_default_vpc`."""
    rest = kind.resource_type.removeprefix("aws_")
    return f"aws_default_{rest}" in terraform or any(f"{kind.resource_type}_{end}" in terraform for end in _VARIANTS)


def _is_relation(kind: str, noun: str) -> bool:
    """Whether the kind's name says that it relates what the noun names to something."""
    return noun not in (kind, "") and noun in kind
