"""What was created outside of the code of a working copy: as drift that is to be written, and as a list of what is left to a person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.core.model.adopt import Adopt
from gateway.core.model.json import Json
from gateway.terraform.address import parse_address, resource_type_of
from reconciler.adoption.adoption import ONLY_LISTED, DeclaredStack, adopt, left_creation
from reconciler.adoption.model import Adoption, LeftCreation
from reconciler.changes.cloudtrail import Event
from reconciler.changes.event_creations import Created
from reconciler.model import Drift, DriftOrigin, Left, Wanted, is_new
from reconciler.rewrite.create import import_id_of, wanted_creations, with_places
from reconciler.rewrite.edited_code import read_code
from reconciler.rewrite.imports import imports_of
from reconciler.rewrite.surroundings import Surroundings
from reconciler.terraform.cli import Terraform
from reconciler.terraform.plugin.import_session import import_session
from reconciler.working_copy.report import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptedCreations:
    """The creations that events tell of."""

    drifts: tuple[Drift, ...] = ()
    """Each is to be written as a new block with its import."""
    left: tuple[LeftCreation, ...] = ()
    noted: tuple[str, ...] = ()

    def in_report(self, report: Report) -> Report:
        """The report, which also names what was created and is not written: also what could not be proved."""
        drifts = {drift.wanted.address: drift for drift in self.drifts if is_new(drift.wanted)}
        unproved = tuple(
            _unproved(drift, [each for each in report.left if each.wanted.address == address])
            for address, drift in drifts.items()
            if any(each.wanted.address == address for each in report.left)
        )
        rest = tuple(each for each in report.left if each.wanted.address not in drifts)
        return replace(report, left=rest, created=(*self.left, *unproved), noted=self.noted)


async def adopted_creations(
    terraform: Terraform,
    root: Path,
    events: Sequence[Event],
    live: Mapping[str, Mapping[str, Json]],
    *,
    around: Surroundings,
    how: Adopt,
    more: Sequence[tuple[Created, DriftOrigin]] = (),
) -> AdoptedCreations:
    """What the events tell of creations. `live` has the attributes of the stack's resources by address; `more` are known otherwise. Raises `CodeInvalid`."""
    if not events:
        return AdoptedCreations()
    code = read_code(root, {}, around)
    managed = {address: own for address, own in live.items() if (parsed := parse_address(address)) and not parsed.data}
    stack = DeclaredStack(
        code=code.module,
        declared=managed,
        imported=imports_of(code.module),
    )
    async with import_session(terraform, root) as session:
        adoption = await adopt(session.open, events, stack, how)
    adoption = _with(adoption, more, how)
    origin = {made.import_id: origin for made, origin in adoption.created}

    def placed(created: Sequence[Created]) -> list[Wanted]:
        return wanted_creations(root, created, live, around, identified=True, anywhere=how is Adopt.ALL)

    adoption, wanted = with_places(adoption, placed)
    return AdoptedCreations(
        drifts=tuple(Drift(wanted=each, before=None, origin=origin.get(import_id_of(each))) for each in wanted),
        left=adoption.left,
        noted=adoption.noted,
    )


def _with(adoption: Adoption, more: Sequence[tuple[Created, DriftOrigin]], how: Adopt) -> Adoption:
    """The adoption with creations that are known otherwise."""
    known = {(made.resource_type, made.import_id) for made, _ in adoption.created}
    new = tuple(each for each in more if (each[0].resource_type, each[0].import_id) not in known)
    if how is Adopt.NONE:
        left = tuple(left_creation(made, origin, ONLY_LISTED) for made, origin in new)
        return replace(adoption, left=(*adoption.left, *left))
    return replace(adoption, created=(*adoption.created, *new))


def _unproved(drift: Drift, left: Sequence[Left]) -> LeftCreation:
    assert drift.origin is not None  # noqa: S101  a creation has an event
    reasons = list(dict.fromkeys(each.reason for each in left))
    return LeftCreation(
        resource_type=resource_type_of(drift.wanted.address),
        identity=import_id_of(drift.wanted),
        origin=drift.origin,
        why=" ".join(each for each in reasons if not any(each in other for other in reasons if other != each)),
        diff="".join(each.diff for each in left),
    )
