"""The body of POLICY_STAGED: how strictly the rules of the policies are taken, since when."""

from collections.abc import Mapping
from typing import Any, ClassVar

from gateway.core.records.record import Body, Stage


class PolicyStagedBody(Body, frozen=True, kw_only=True):
    """The entries of `policies/data/stages.json` changed; the record's actor is the author."""

    stage: ClassVar[Stage] = Stage.POLICY_STAGED

    revision: str
    """Of the policies that they came with."""
    entries: tuple[Mapping[str, Any], ...]
    before: tuple[Mapping[str, Any], ...]
