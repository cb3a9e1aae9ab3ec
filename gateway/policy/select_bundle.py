"""Which bundle to run for the sources there are: the shipped one, the one kept in the data directory, or a new one."""

from pathlib import Path

import structlog

from gateway.errors import PolicyInvalid
from gateway.policy.bundle import Bundle, build, read_bundle, write_bundle
from gateway.policy.opa_command import find_opa
from gateway.policy.sources import Sources, read_sources

SHIPPED = "bundle"
"""Directory of the shipped bundle, inside the policies' own."""

log = structlog.get_logger()


def select_bundle(policies: Path, kept: Path) -> Bundle:
    """The bundle that these policies build; built with opa and put into `kept` where none is at hand. Never changes `policies`.

    Raises `errors.PolicyInvalid` where they do not compile, or were changed and there is no opa to build them anew.
    """
    sources = read_sources(policies)
    refusals: list[str] = []
    for directory in (policies / SHIPPED, kept):
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
            f"{refusals[0]} There is no `opa` on PATH to build it anew, and Sentinel does not run on law that is not the one written down. Install opa, or restore the files."
        )
    bundle = build(sources, tool)
    write_bundle(bundle, kept)
    log.info("policy_built", revision=bundle.revision, policies=str(policies), opa=bundle.manifest.opa)
    return bundle


def _differs(bundle: Bundle, sources: Sources) -> str:
    before, now = dict(bundle.manifest.sources), dict(sources.digests)
    names = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    some = ", ".join(f"{sources.directory.name}/{name}" for name in names[:5]) + (" …" if len(names) > 5 else "")  # noqa: PLR2004  enough to see which
    return f"{some} changed, but the policy bundle was built from other sources."
