"""A bundle is tried as the gateway uses it: what would have every change refused is not loaded."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.errors import PolicyInvalid
from gateway.policy.bundle import Bundle, build
from gateway.policy.bundle_check import check_answers, try_bundle
from gateway.policy.embedded import Embedded
from gateway.policy.engine import ReloadingEngine
from gateway.policy.sources import read_sources, shipped

LOADED = "package sentinel.rules.extra\n\n%s\n"
BUILT = pytest.mark.long
"""Of what `tests/gateway/cli/test_policy.py` has built, which tries it in the same way."""


def test_the_shipped_policies_answer(shipped_bundle: Bundle) -> None:
    try_bundle(shipped_bundle, read_sources(shipped()).files)


@pytest.mark.opa
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param("findings contains 7 if input.mutation", "does not have the members", marks=BUILT),
        ('findings contains found if found := {"id": "", "verdict": "deny", "message": "No.", "address": "", "attribute": ""}', "has no id"),
        pytest.param("findings contains opa.runtime().env if input.flips.never", r"opa\.runtime", marks=BUILT),
        ("value := 1 if input.mutation\n\nvalue := 2 if input.mutation\n\nfindings contains value if value == 3", "contradict"),
    ],
)  # fmt: skip
def test_what_would_have_changes_refused_is_not_loaded(
    with_rule: Callable[[str], Bundle], policies: Path, body: str, reason: str
) -> None:
    bundle = with_rule(body)
    with pytest.raises(PolicyInvalid, match=reason):
        try_bundle(bundle, read_sources(policies).files)


@pytest.mark.opa
async def test_a_package_that_does_not_answer_is_named_with_its_place(policies: Path, opa_tool: Path) -> None:
    joined = policies / "guardrails.rego"
    joined.write_text(joined.read_text().replace("\tsome name\n", '\tsome name\n\tname != "motive"\n', 1))
    sources = read_sources(policies)
    engine = Embedded(build(sources, opa_tool), deadline_ms=1000, memory_mb=64)
    try:
        with pytest.raises(PolicyInvalid, match=r"sentinel\.rules\.motive is in guardrails/motive\.rego:4\."):
            check_answers(engine, sources.files)
    finally:
        await engine.close()


@pytest.mark.opa
def test_a_gateway_does_not_load_them_either(policies: Path, tmp_path: Path) -> None:
    extra = policies / "guardrails" / "extra.rego"
    extra.write_text(LOADED % "findings contains 7 if input.mutation")
    with pytest.raises(PolicyInvalid, match="does not have the members"):
        ReloadingEngine(policies, cache=tmp_path / "cache", deadline_ms=1000, memory_mb=64)
