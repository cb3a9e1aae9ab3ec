"""The gateway's exceptions: each one a sentence for the user. None of them knows about HTTP; the doors map them to statuses."""


class SentinelError(Exception):
    """Base of every error raised on purpose. `str(error)` is a whole sentence and safe to show: it never holds a secret."""

    code = "internal"
    """Stable machine name, for logs and for the JSON API."""


class NotAuthenticated(SentinelError):
    """The caller did not prove who it is."""

    code = "not_authenticated"

    def __init__(self, reason: str, *, aws_code: str = "InvalidClientTokenId", key_id: str = "") -> None:
        super().__init__(reason)
        self.aws_code = aws_code
        """The error code AWS itself uses for this failure, e.g. `SignatureDoesNotMatch`."""
        self.key_id = key_id
        """The key id that the request named, for the record of strangers only; empty where it named none."""


class Malformed(SentinelError):
    """The request cannot be read in any lawful way."""

    code = "malformed"

    def __init__(self, reason: str, *, aws_code: str = "ValidationError", code: str = "malformed") -> None:
        super().__init__(reason)
        self.aws_code = aws_code
        self.code = code


class BodyTooLarge(Malformed):
    """The body is over the door's limit."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The request body is larger than the {limit} bytes this door takes.",
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
    """No AWS operation answers to this request."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, aws_code="InvalidAction", code="unknown_operation")


class ClaimTaken(SentinelError):
    """Another mutation took or changed a claim between our look and our commit; nothing was stored."""

    code = "claim_taken"


class ApprovalSpent(SentinelError):
    """The approval was redeemed by another attempt, or has ended; nothing was stored."""

    code = "approval_spent"


class AttemptInFlight(SentinelError):
    """The same idempotency key is being carried out right now."""

    code = "concurrent_request"


class AttemptMismatch(SentinelError):
    """The idempotency key was used for another call."""

    code = "idempotency_mismatch"


class LedgerUnavailable(SentinelError):
    """The ledger could not store or read, so nothing was sent."""

    code = "ledger_unavailable"


class LedgerBroken(SentinelError):
    """The ledger's chain does not verify: somebody or something changed history."""

    code = "ledger_broken"


class PolicyUnavailable(SentinelError):
    """The policy engine did not answer, not in time, or oddly. That is a denial."""

    code = "policy_unavailable"


class PolicyInvalid(SentinelError):
    """A policy does not compile, asks for something it may not have, or is newer than the bundle."""

    code = "policy_invalid"


class CodeInvalid(SentinelError):
    """Terraform code, a contract or a state file cannot be read. The message names file and line."""

    code = "code_invalid"


class Ambiguous(SentinelError):
    """What was asked about fits more than one declared thing, so nothing may be concluded."""

    code = "ambiguous"


class SettingsInvalid(SentinelError):
    """One or more settings are wrong; the message lists them all."""

    code = "settings_invalid"


class NotFound(SentinelError):
    """There is no such thing, or it is another actor's."""

    code = "not_found"


class NotAllowed(SentinelError):
    """The caller is known and may not do this (approve its own call, manage keys …)."""

    code = "not_allowed"


class NotSendable(SentinelError):
    """The call cannot be turned into a request to AWS; nothing was sent."""

    code = "not_sendable"


class UpstreamUnavailable(SentinelError):
    """AWS could not be reached for a read, or broke off before the first byte of its answer; nothing was changed, so it may be asked again."""

    code = "upstream_unavailable"
