"""Policy bundles: compiled policy, data, titles of rules, and a manifest with the digests of the sources. Selects, reads, writes and builds them."""

import hashlib
import json
import os
import re
import tarfile
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

import structlog
from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.core.errors import PolicyInvalid
from gateway.core.model.claim import Couplings
from gateway.core.model.json import Json
from gateway.core.model.plan_session import PlanRules
from gateway.core.model.verdict import RuleText
from gateway.effects.prices import PriceTable
from gateway.policy import data_schema, opa_command
from gateway.policy.data_schema import is_data
from gateway.policy.member_names import check_member_names
from gateway.policy.opa_command import find_opa
from gateway.policy.plan_rules import plan_rules
from gateway.policy.sources import Sources, check_guardrails, guardrail_packages, parsed_modules, read_sources


def rule_texts(policies: Path, tool: Path) -> dict[str, RuleText]:
    """Title and place of each rule whose METADATA has a `custom.id`, by that id.

    Raises `errors.PolicyInvalid` if opa cannot read the policies, or if two rules have one id: nobody could tell their findings apart.
    """
    output = opa_command.opa_output(tool, ["inspect", "--annotations", "--format", "json", "."], cwd=policies)
    found: dict[str, RuleText] = {}
    for each in sorted(json.loads(output).get("annotations", ()), key=_place):
        annotations: Mapping[str, Any] = each["annotations"]
        custom = annotations.get("custom")
        if isinstance(custom, Mapping) and isinstance(custom.get("id"), str):
            text = RuleText(title=str(annotations.get("title", "")), source=":".join(map(str, _place(each))))
            if found.setdefault(custom["id"], text) != text:
                raise PolicyInvalid(
                    f"{text.source}: The rule at {found[custom['id']].source} has the id {custom['id']} already."
                )
    return found


def _place(each: Mapping[str, Any]) -> tuple[str, int]:
    location = each["location"]
    return Path(location["file"]).as_posix(), location["row"]


ENTRYPOINTS = ("sentinel/arbitration/result", "sentinel/guardrails/result")
DRIFT = "sentinel/drift/result"
"""Decides about changes from outside. Policies without it leave each of them to a human."""
PRIORITIES = "sentinel/priorities/result"
"""The numbers in force for the stacks of a change. Policies without it have no layers."""
EXPLANATION = "sentinel/explanation/result"
"""Takes contests apart, for `sentinel explain`. Policies without it explain a contest by its findings alone."""
APPROVERS = "sentinel/approvers/result"
"""Says who may approve what is held. With policies without it, one person with the role `approver` may."""
BUDGETS = "sentinel/budgets/result"
"""Says how much an actor may do. With policies without it there are no budgets and no circuit breakers."""
OPTIONAL = (DRIFT, EXPLANATION, APPROVERS, PRIORITIES, BUDGETS)
"""Entrypoints that policies need not have."""
_WASM, _DATA, _MANIFEST = "policy.wasm", "data.json", "manifest.json"


class Manifest(BaseModel):
    """`manifest.json`."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    opa: str
    """Version of the compiler."""
    entrypoints: tuple[str, ...]
    packages: tuple[str, ...]
    """Names of the guardrail packages below `sentinel.rules`. Each must be evaluated in every decision."""
    sources: Mapping[str, str]
    """SHA-256 of every source, by its path relative to the policies' directory."""
    wasm_sha256: str
    """SHA-256 of policy.wasm."""
    data_sha256: str
    """SHA-256 of data.json. (Not called `data`, because `opa test policies` merges both files into one document.)"""
    rules: Mapping[str, RuleText] = {}
    """Title and place of each rule that has METADATA with an id, by that id."""


@dataclass(frozen=True, kw_only=True)  # no slots: what is read from the data is kept
class Bundle:
    """A bundle with verified digests and valid data."""

    wasm: bytes = field(repr=False)
    data: bytes = field(repr=False)
    manifest: Manifest

    @property
    def manifest_bytes(self) -> bytes:
        """The manifest as JSON, with sorted keys so that equal sources give equal bytes."""
        return json.dumps(self.manifest.model_dump(mode="json"), indent=2, sort_keys=True).encode() + b"\n"

    @cached_property
    def revision(self) -> str:
        """SHA-256 of the manifest, which contains all other digests; 64 hex digits."""
        return hashlib.sha256(self.manifest_bytes).hexdigest()

    @property
    def packages(self) -> frozenset[str]:
        """Names of the guardrail packages."""
        return frozenset(self.manifest.packages)

    @cached_property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted (`data/priorities.json`: `oscillation.window_seconds`)."""
        priorities = json.loads(self.data)["data"]["priorities"]
        return timedelta(seconds=priorities["oscillation"]["window_seconds"])

    @cached_property
    def couplings(self) -> Couplings:
        """Which attributes belong together (`data/couplings.json`); none where the policies have no such data."""
        return Couplings.of(json.loads(self.data)["data"].get("couplings", {}).get("pairs", ()))

    @cached_property
    def plan_rules(self) -> PlanRules:
        """What the data say about sessions of plans: who opens them (`data/plans.json`), and what guardrails judge."""
        return plan_rules(json.loads(self.data)["data"])

    @cached_property
    def prices(self) -> PriceTable:
        """The price table (`data/prices.json`); an empty one where the policies have no such data."""
        return PriceTable.of(json.loads(self.data)["data"])

    def built_from(self, sources: Sources) -> bool:
        """Whether this bundle was built from exactly these sources."""
        return dict(self.manifest.sources) == dict(sources.digests)


class RunningEngine(ABC):
    """An open policy engine: it evaluates a bundle, and tells of the one in force."""

    @property
    @abstractmethod
    def bundle(self) -> Bundle:
        """The bundle in force."""

    @abstractmethod
    async def ask(self, entrypoint: str, document: Json) -> Json:
        """The value of a rule, with every list in canonical order (lists stand for sets). Raises `errors.PolicyUnavailable`."""

    @abstractmethod
    async def close(self) -> None:
        """Release the engine's resources. It cannot be used afterwards."""

    @property
    def revision(self) -> str:
        """Digest of the bundle in force, 64 hex digits."""
        return self.bundle.revision

    @property
    def flip_window(self) -> timedelta:
        """How far back changes of an attribute's holder are counted, from the data in force."""
        return self.bundle.flip_window

    @property
    def problem(self) -> str:
        """A problem that does not stop the engine, as a sentence; empty if there is none."""
        return ""

    def couplings(self) -> Couplings:
        """Which attributes belong together, from the data in force."""
        return self.bundle.couplings

    def plan_rules(self) -> PlanRules:
        """What holds for sessions of plans, from the data in force."""
        return self.bundle.plan_rules

    def prices(self) -> PriceTable:
        """What resources cost, from the data in force."""
        return self.bundle.prices

    def packages(self) -> frozenset[str]:
        """The guardrail packages in force. Each must be evaluated in every decision."""
        return self.bundle.packages

    def rules(self) -> Mapping[str, RuleText]:
        """Title and place of each rule in force, by its id. A rule without METADATA is not among them."""
        return self.bundle.manifest.rules

    def answers(self, entrypoint: str) -> bool:
        """Whether the policies in force have this entrypoint; some are optional."""
        return entrypoint in self.bundle.manifest.entrypoints


def read_bundle(directory: Path) -> Bundle:
    """Read a bundle from disk. Raises `errors.PolicyInvalid` if it is incomplete or altered or its data is invalid."""
    try:
        wasm, data = (directory / _WASM).read_bytes(), (directory / _DATA).read_bytes()
        manifest = Manifest.model_validate_json((directory / _MANIFEST).read_bytes())
    except (OSError, ValidationError) as error:
        raise PolicyInvalid(f"There is no complete policy bundle in {directory}: {error}") from error
    return verified_bundle(wasm, data, manifest, f" in {directory}")


def verified_bundle(wasm: bytes, data: bytes, manifest: Manifest, where: str = "") -> Bundle:
    """The bundle of these parts. Raises `errors.PolicyInvalid` if they do not belong together, or for invalid data."""
    if (_sha256(wasm), _sha256(data)) != (manifest.wasm_sha256, manifest.data_sha256):
        raise PolicyInvalid(
            f"The policy bundle{where} does not match its manifest; rebuild it with `sentinel policy build`."
        )
    return _validated(Bundle(wasm=wasm, data=data, manifest=manifest))


def write_bundle(bundle: Bundle, directory: Path) -> None:
    """Write the three files, the manifest last, so that an incomplete bundle never has a valid manifest."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in ((_WASM, bundle.wasm), (_DATA, bundle.data), (_MANIFEST, bundle.manifest_bytes)):
        temporary = directory / f".{name}.{os.getpid()}"
        temporary.write_bytes(content)
        temporary.replace(directory / name)


def build(sources: Sources, tool: Path) -> Bundle:
    """Compile sources to Wasm with opa; equal sources and opa give equal bytes.

    Compiles a copy of the sources, so that the digests match what is compiled even if a file is edited meanwhile.
    Raises `errors.PolicyInvalid` with file and line if they do not compile, or if a guardrail package could not be evaluated.
    """
    with tempfile.TemporaryDirectory(prefix="sentinel-policy-") as scratch:
        copy = Path(scratch) / "policies"
        for name, content in sources.files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(content)
        archive = Path(scratch) / "bundle.tar.gz"
        opa_command.opa_output(tool, ["check", "--strict", "."], cwd=copy)
        modules = parsed_modules(copy, tool)
        check_guardrails(copy, tool, modules)
        check_member_names(copy, tool, modules)
        entrypoints, rules = _entrypoints(sources), rule_texts(copy, tool)
        entrypoint_options = [part for entrypoint in entrypoints for part in ("-e", entrypoint)]
        opa_command.opa_output(tool, ["build", "-t", "wasm", *entrypoint_options, "-o", str(archive), "."], cwd=copy)
        wasm, data = _member(archive, "/policy.wasm"), _member(archive, "/data.json")
    manifest = Manifest(
        opa=opa_command.opa_version(tool),
        entrypoints=entrypoints,
        packages=guardrail_packages(modules),
        sources=dict(sorted(sources.digests.items())),
        wasm_sha256=_sha256(wasm),
        data_sha256=_sha256(data),
        rules=rules,
    )
    return _validated(Bundle(wasm=wasm, data=data, manifest=manifest))


def _entrypoints(sources: Sources) -> tuple[str, ...]:
    """The rules that a gateway may ask."""
    return tuple(sorted((*ENTRYPOINTS, *(name for name in OPTIONAL if _has_package(sources, name)))))


def _has_package(sources: Sources, entrypoint: str) -> bool:
    package = entrypoint.rpartition("/")[0].replace("/", r"\.").encode()
    clause = re.compile(rb"^package " + package + rb"\s*$", re.MULTILINE)
    return any(clause.search(content) for name, content in sources.files.items() if name.endswith(".rego"))


def _member(archive: Path, name: str) -> bytes:
    with tarfile.open(archive) as content:
        member = content.extractfile(name)
        if member is None:
            raise PolicyInvalid(f"opa built a bundle without {name}.")
        return member.read()


def _validated(bundle: Bundle) -> Bundle:
    try:
        data = json.loads(bundle.data)
    except ValueError as error:
        raise PolicyInvalid(f"The policy bundle's data is not JSON: {error}.") from error
    data_schema.check_data(data)
    return bundle


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


SHIPPED = "bundle"
"""Subdirectory of the policies' directory with the shipped bundle."""

log = structlog.get_logger()


GET_OPA = (
    "`make opa` in a checkout of Sentinel puts it into .tools/bin (about five minutes, once); "
    "https://www.openpolicyagent.org/docs/#running-opa has it for download."
)
"""How to get the compiler of the rules."""


def has_rules_of(bundle: Bundle, sources: Sources) -> bool:
    """Whether the bundle was built from exactly these rules, so that at most the data of the sources differ."""
    before, now = dict(bundle.manifest.sources), dict(sources.digests)
    return before.keys() == now.keys() and all(is_data(name) for name in now if before[name] != now[name])


def with_data_of(sources: Sources, bundle: Bundle) -> Bundle:
    """The bundle of the same rules with the data of these sources, as opa would build it: compiled rules hold no data.

    Raises `errors.PolicyInvalid` for invalid data.
    """
    document = {"data": data_schema.merged_data(sources.files)}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    data = f"{text}\n".encode()
    changed = {"sources": dict(sorted(sources.digests.items())), "data_sha256": _sha256(data)}
    return _validated(Bundle(wasm=bundle.wasm, data=data, manifest=bundle.manifest.model_copy(update=changed)))


def select_bundle(policies: Path, cache: Path, *, tested: bool = False) -> Bundle:
    """The bundle built from these policies. If there is none, makes it and stores it in `cache`. Never changes `policies`.

    Where only data changed, it takes them into the built bundle; else opa builds another one. `tested` says whether the policies' tests must
    pass before a new bundle counts. Raises `errors.PolicyInvalid` if they do not compile or pass, or if they were changed and there is no opa
    to rebuild or test them.
    """
    sources = read_sources(policies)
    refusals: list[str] = []
    of_other_data: list[Bundle] = []
    for directory in (policies / SHIPPED, cache):
        try:
            bundle = read_bundle(directory)
        except PolicyInvalid as error:
            refusals.append(str(error))
            continue
        if bundle.built_from(sources):
            return bundle
        refusals.append(_differs(bundle, sources))
        of_other_data += [bundle] if has_rules_of(bundle, sources) else []
    tool = find_opa()
    if of_other_data:
        bundle = with_data_of(sources, of_other_data[0])
    elif tool is not None:
        bundle = build(sources, tool)
    else:
        raise PolicyInvalid(
            f"{refusals[0]} There is no `opa` on PATH to rebuild it, and Sentinel refuses to run a policy bundle that does not match its sources. {GET_OPA} Or restore the files."
        )
    if tested and any(policies.rglob("*_test.rego")):
        if tool is None:
            raise PolicyInvalid(
                f"{refusals[0]} The tests beside it must pass first (`policy.green_tests`), and there is no `opa` on PATH to run them. {GET_OPA} Or set `green_tests = false`."
            )
        _require_green_tests(policies, tool)
    write_bundle(bundle, cache)
    log.info("policy_built", revision=bundle.revision, policies=str(policies), opa=bundle.manifest.opa)
    return bundle


def _require_green_tests(policies: Path, tool: Path) -> None:
    """Raise `errors.PolicyInvalid` if a test of the policies fails (`*_test.rego`)."""
    done = opa_command.run_opa(tool, ["test", "--timeout", opa_command.OPA_TEST_TIMEOUT, "."], cwd=policies)
    if done.returncode != 0:
        raise PolicyInvalid(f"The policies' tests fail:\n{(done.stdout + done.stderr).strip()[-4000:]}")


def _differs(bundle: Bundle, sources: Sources) -> str:
    before, now = dict(bundle.manifest.sources), dict(sources.digests)
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    shown = ", ".join(f"{sources.directory.name}/{name}" for name in names[:5]) + (" …" if len(names) > 5 else "")  # noqa: PLR2004  enough to see which
    return f"{shown} changed, but the policy bundle was built from other sources."
