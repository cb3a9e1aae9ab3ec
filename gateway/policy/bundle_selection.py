"""Selects the bundle for the current sources: the shipped one, the cached one, or a new build."""

from pathlib import Path

import structlog

from gateway.core.errors import PolicyInvalid
from gateway.policy.bundle import Bundle, build, read_bundle, write_bundle
from gateway.policy.opa_command import find_opa
from gateway.policy.sources import Sources, read_sources

SHIPPED = "bundle"
"""Subdirectory of the policies' directory with the shipped bundle."""

log = structlog.get_logger()


def select_bundle(policies: Path, cache: Path) -> Bundle:
    """The bundle built from these policies. If there is none, builds it with opa and stores it in `cache`. Never changes `policies`.

    Raises `errors.PolicyInvalid` if they do not compile, or if they were changed and there is no opa to rebuild them.
    """
    sources = read_sources(policies)
    refusals: list[str] = []
    for directory in (policies / SHIPPED, cache):
        try:
            bundle = read_bundle(directory)
        except PolicyInvalid as error:
            refusals.append(str(error))
            continue
        if bundle.built_from(sources):
            return bundle
        refusals.append(_differs(bundle, sources))
    tool = find_opa()
    if tool is None:
        raise PolicyInvalid(
            f"{refusals[0]} There is no `opa` on PATH to rebuild it, and Sentinel refuses to run a policy bundle that does not match its sources. Install opa, or restore the files."
        )
    bundle = build(sources, tool)
    write_bundle(bundle, cache)
    log.info("policy_built", revision=bundle.revision, policies=str(policies), opa=bundle.manifest.opa)
    return bundle


def _differs(bundle: Bundle, sources: Sources) -> str:
    before, now = dict(bundle.manifest.sources), dict(sources.digests)
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    shown = ", ".join(f"{sources.directory.name}/{name}" for name in names[:5]) + (" …" if len(names) > 5 else "")  # noqa: PLR2004  enough to see which
    return f"{shown} changed, but the policy bundle was built from other sources."
