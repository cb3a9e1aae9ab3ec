"""The parts of answers about resources: the head of a context, holders, dependants, signals, and the entries of a history."""

from collections.abc import Mapping
from typing import Any

from gateway.context.excerpt import excerpt
from gateway.context.health import DataSource, ReadStatus
from gateway.context.live_values import LiveTarget
from gateway.context.lookup import FoundResource
from gateway.context.ports import KnownResource, SentChange
from gateway.core.model.caller import Caller
from gateway.core.model.claim import Claim
from gateway.core.model.contract import Contract
from gateway.core.model.facts import Dependant
from gateway.core.model.json import Json, to_json
from gateway.core.model.motive import Motive
from gateway.core.model.signal import Signal
from gateway.terraform.config.module import META
from gateway.terraform.stack import Stack
from gateway.terraform.stacks import Stacks


def holder_of(claim: Claim, caller: Caller) -> dict[str, Any]:
    """The holder of a claim and its motive. The free text of another's motive, and the evidence for it, are for people and pipelines."""
    motive = claim.motive
    shown: dict[str, Any] = {
        "holder": claim.actor,
        "kind": claim.kind.value,
        **motive_words(motive),
        "since": to_json(claim.since),
        "until": to_json(claim.until),
        "unsettled": claim.unsettled,
        "mutation_id": claim.mutation_id,
    }
    if motive is not None and (caller.sees_all or caller.actor == claim.actor):
        shown |= {"text": motive.text, "evidence": list(motive.evidence)}
    return shown


def motive_words(motive: Motive | None) -> dict[str, str]:
    """Intent and motivation; empty without a motive."""
    if motive is None:
        return {"intent": "", "motivation": ""}
    return {"intent": motive.intent.value, "motivation": motive.motivation.value}


def header(found: FoundResource) -> dict[str, Any]:
    """What a resource is, and what its owner allows."""
    return {
        "address": found.name,
        "resource_type": found.resource_type,
        "stack": found.stack.name,
        "mode": found.stack.mode.value,
        "source": found.stack.code.source_of(found.address),
        "identity": found.identity(),
        "contract": _contract(found.stack.contract(found.address)),
    }


def _contract(contract: Contract) -> dict[str, Any]:
    grants = contract.grants
    invoke = frozenset.intersection(*(grant.allow_invoke for grant in grants)) if grants else frozenset()
    return {
        "owner": contract.owner,
        "managed_by_agent": contract.managed_by_agent,
        "critical": contract.critical,
        "prevent_delete": contract.prevent_delete,
        "allow_delete": contract.managed_by_agent and not contract.prevent_delete and not contract.withholding_delete(),
        "allow_invoke": sorted(invoke) if contract.managed_by_agent else [],
        "mutable": list(contract.mutable),
        "bounded": list(contract.bounded),
        "immutable": list(contract.immutable),
        "source": contract.source,
    }


def dependant_entry(dependant: Dependant, known: KnownResource, caller: Caller) -> dict[str, Any]:
    """A resource that depends on this one, with who holds which of its attributes."""
    claims = [claim for claim in known.claims if claim.address == dependant.address]
    return {
        "address": dependant.address,
        "direct": dependant.direct,
        "critical": dependant.critical,
        "managed_by_agent": dependant.managed_by_agent,
        "source": dependant.source,
        "claims": [{"attribute": claim.attribute, **holder_of(claim, caller)} for claim in claims],
    }


def signal_entry(signal: Signal) -> dict[str, Any]:
    """An open signal, with the id by which evidence names it."""
    return {"id": signal.id, "source": signal.source, "name": signal.name, "since": to_json(signal.since)}


def history_entry(change: SentChange, caller: Caller) -> dict[str, Any]:
    """One change of a resource. The free text of another's motive, and the evidence for it, are for people and pipelines."""
    return {
        "seq": change.seq,
        "at": to_json(change.at),
        "mutation_id": change.mutation_id,
        "actor": change.actor,
        "kind": change.kind,
        "on_behalf_of": change.on_behalf_of,
        "outcome": change.outcome,
        "operation": change.operation,
        "motive": _motive(change.motive, whole=caller.sees_all or caller.actor == change.actor),
        "changes": [{name: excerpt(value, caller) for name, value in each.items()} for each in change.changes],
        "approver": change.approver,
        "branch": change.branch,
        "commit": change.commit,
    }


def _motive(motive: Mapping[str, Json] | None, *, whole: bool) -> Mapping[str, Json] | None:
    if motive is None or whole:
        return motive
    return {name: motive[name] for name in ("intent", "motivation")}


def live_target(found: FoundResource) -> LiveTarget:
    """The resource as it is read from AWS."""
    return LiveTarget(
        address=found.name,
        resource_type=found.resource_type,
        recorded=found.recorded,
        account=found.place.account,
        region=found.place.region,
    )


def written_names(stack: Stack, address: str) -> frozenset[str]:
    """The names of the arguments and blocks that the code gives a resource; empty if it does not declare it."""
    instance = stack.code.instance(address)
    return frozenset() if instance is None else instance.names - META


def code_sources(stacks: Stacks, stack: str, caller: Caller) -> tuple[DataSource, DataSource]:
    """The code and the state of a stack, or of all; with why a newer version is not in force, which quotes code and paths, for people and pipelines."""
    problems = [each for each in stacks.problems if not stack or each.startswith(f"{stack}: ")]
    status = ReadStatus.FAILED if problems else ReadStatus.OK
    why = " ".join(problems) if caller.sees_all else "Only people and pipelines see why a newer one cannot be loaded."
    error = f"The last valid version is shown. {why}" if problems else ""
    return DataSource(name="code", status=status, error=error), DataSource(name="state", status=status, error=error)


def left_off(count: int, what: str, advice: str) -> str:
    """A sentence about what an answer leaves out; empty if it leaves nothing out."""
    return f"{count} more {what} are not shown. {advice}" if count > 0 else ""
