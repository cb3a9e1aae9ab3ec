"""The exceptions of the gateway. The message of each is a sentence for the user. They do not know HTTP; the doors map them to statuses."""

import math


class SentinelError(Exception):
    """Base of every expected error. `str(error)` is a complete sentence and safe to show: it never holds a secret."""

    code = "internal"
    """Stable machine-readable name, for records and the JSON API."""


class NotAuthenticated(SentinelError):
    """The caller is not authenticated."""

    code = "not_authenticated"

    def __init__(self, reason: str, *, aws_code: str = "InvalidClientTokenId", key_id: str = "") -> None:
        super().__init__(reason)
        self.aws_code = aws_code
        """The error code that AWS uses for this failure, e.g. `SignatureDoesNotMatch`."""
        self.key_id = key_id
        """The key id that the request named; empty if none. Used only in the record of the refusal."""


class Malformed(SentinelError):
    """The request is invalid or ambiguous."""

    code = "malformed"

    def __init__(self, reason: str, *, aws_code: str = "ValidationError", code: str = "malformed") -> None:
        super().__init__(reason)
        self.aws_code = aws_code
        self.code = code


class BodyTooLarge(Malformed):
    """The body is larger than the limit."""

    def __init__(self, limit: int, setting: str = "") -> None:
        """`setting` is the name of the setting that the limit comes from."""
        source = f" (the setting `{setting}`)" if setting else ""
        super().__init__(
            f"The request body is larger than the {limit} bytes that are accepted here{source}. Nothing was sent.",
            aws_code="RequestEntityTooLargeException",
            code="body_too_large",
        )


class CallTooLarge(Malformed):
    """The call names more resources, or sets more values, than Sentinel judges in one call."""

    def __init__(self, excess: str) -> None:
        """`excess` says what there is too much of, e.g. `has a list of 5000 items, and 1000 are the most`."""
        super().__init__(
            f"This call {excess}, which is more than Sentinel judges at once. Nothing was sent; split it into several calls.",
            aws_code="ValidationError",
            code="call_too_large",
        )


class UnknownOperation(Malformed):
    """The request matches no AWS operation."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, aws_code="InvalidAction", code="unknown_operation")


class ClaimTaken(SentinelError):
    """Another mutation took or changed a claim after the facts were read; nothing was stored."""

    code = "claim_taken"


class PlanUsed(ClaimTaken):
    """Other calls of a plan's session used up the planned change after the facts were read, or the session ended; nothing was stored."""

    code = "plan_used"


class ApprovalSpent(SentinelError):
    """The approval was used by another attempt, or has expired; nothing was stored."""

    code = "approval_spent"


class AttemptInFlight(SentinelError):
    """An attempt with the same idempotency key is in progress."""

    code = "concurrent_request"


class AttemptMismatch(SentinelError):
    """The idempotency key was used for another call."""

    code = "idempotency_mismatch"


class SignatureSpent(SentinelError):
    """The signature of the request was used by an earlier attempt; nothing was sent again."""

    code = "signature_spent"


class Stopped(SentinelError):
    """A person stopped changes such as this one; nothing was stored and nothing sent."""

    code = "stopped"


class Overloaded(SentinelError):
    """The gateway has no room for the request now; nothing was sent."""

    code = "overloaded"
    retry_after = 1
    """Seconds after which the client should try again."""


class TryLater(SentinelError):
    """The caller has used its share for now; nothing was stored and nothing sent."""

    def __init__(self, reason: str, *, seconds: float = 1) -> None:
        """`seconds` from now it may try again."""
        super().__init__(reason)
        self.retry_after = max(1, math.ceil(seconds))
        """Whole seconds, at least one."""


class BudgetSpent(TryLater):
    """A budget of the caller has too little left for the call."""

    code = "budget_spent"


class TooManyHeld(TryLater):
    """As many calls of the caller wait for people as may."""

    code = "too_many_held"


class BreakerOpen(TryLater):
    """The caller's calls were refused or failed too often in a row."""

    code = "breaker_open"


class LedgerUnavailable(SentinelError):
    """The ledger could not be read or written."""

    code = "ledger_unavailable"


class LedgerBroken(SentinelError):
    """The hash chain of the ledger does not verify: a record was changed, removed or inserted."""

    code = "ledger_broken"


class PolicyUnavailable(SentinelError):
    """The policy engine did not answer, was too late, or gave an unexpected answer. It means a denial."""

    code = "policy_unavailable"


class PolicyInvalid(SentinelError):
    """A policy does not compile, uses something forbidden, or is newer than the bundle."""

    code = "policy_invalid"


class CodeInvalid(SentinelError):
    """Terraform code, a contract or a state file is invalid. The message names file and line."""

    code = "code_invalid"


class Ambiguous(SentinelError):
    """A lookup matches more than one declared resource, so its result is undefined."""

    code = "ambiguous"


class SettingsInvalid(SentinelError):
    """One or more settings are invalid; the message lists them all."""

    code = "settings_invalid"


class NotFound(SentinelError):
    """The object does not exist, or the caller may not see it."""

    code = "not_found"


class NotAllowed(SentinelError):
    """The caller is authenticated but not permitted, e.g. to approve its own call."""

    code = "not_allowed"


class ImpossibleTransition(NotAllowed):
    """A claim is in a state in which this cannot happen to it. Nothing was stored."""

    code = "impossible_transition"


class NotSendable(SentinelError):
    """The call cannot be serialized into a request to AWS; nothing was sent."""

    code = "not_sendable"


class UpstreamUnavailable(SentinelError):
    """AWS could not be reached for a read, or closed the connection before the first byte of its answer. It is safe to retry."""

    code = "upstream_unavailable"


class IdentityProviderUnusable(UpstreamUnavailable):
    """The identity provider did not answer, or not as its standard says. Nobody was signed in."""

    code = "identity_provider"


class EventsInvalid(SentinelError):
    """A file of CloudTrail events cannot be read as a whole."""

    code = "events_invalid"
