"""Refuses calls whose reply contains AWS credentials, for every key and in every mode, also where another service is to make them."""

from gateway.core.model.caller import ActorKind
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
            return self._of_inner(mutation)
        operation = f"{mutation.call.service}:{mutation.call.operation}"
        reason = f"{operation} hands out AWS credentials or a URL that opens a session, with which the caller could change things past Sentinel. It is refused for every key and in every mode; nothing was sent."
        denial = Finding(check=self.name, verdict=Verdict.DENY, rule="never.credential", reason=reason, absolute=True)
        return Opinion(findings=(denial,))

    def _of_inner(self, mutation: Mutation) -> Opinion:
        """A denial for the first inner call that the caller may not send itself whatever it is for."""
        for inner in mutation.inner:
            agents = inner.call_class in _NOT_FOR_AGENTS and mutation.caller.kind is ActorKind.AGENT
            if inner.call_class is not CallClass.CREDENTIAL and not agents:
                continue
            what = "which nobody may call" if not agents else "which agents may not call"
            reason = f"{mutation.call.service}:{mutation.call.operation} would make AWS call {inner.name}, {what}: it gives away credentials, a secret or the use of a key. It is refused in every mode; nothing was sent."
            denial = Finding(check=self.name, verdict=Verdict.DENY, rule="never.by_proxy", reason=reason, absolute=True)
            return Opinion(findings=(denial,))
        return passed(self)


_NOT_FOR_AGENTS = (CallClass.SECRET, CallClass.CRYPTO)
