"""Refuses calls whose reply contains AWS credentials, for every key and in every mode."""

from gateway.core.model.facts import Facts
from gateway.core.model.mutation import CallClass, Mutation
from gateway.core.model.verdict import Finding, Verdict
from gateway.line.checks.chain import Opinion, passed


class CallClassCheck:
    """Denies calls of the CREDENTIAL class."""

    name = "classes"

    async def examine(self, mutation: Mutation, facts: Facts) -> Opinion:  # noqa: ARG002  the protocol's shape
        """An absolute denial for CREDENTIAL; every other class passes."""
        if mutation.call_class is not CallClass.CREDENTIAL:
            return passed(self)
        operation = f"{mutation.call.service}:{mutation.call.operation}"
        reason = f"{operation} hands out AWS credentials, with which the caller could change things past Sentinel. It is refused for every key and in every mode; nothing was sent."
        denial = Finding(check=self.name, verdict=Verdict.DENY, rule="never.credential", reason=reason, absolute=True)
        return Opinion(findings=(denial,))
