"""The reconciler's exceptions: each one a sentence for the user, like the gateway's."""

from gateway.errors import SentinelError


class TerraformMissing(SentinelError):
    """There is no Terraform to run; everything but writing back works without it."""

    code = "terraform_missing"

    @classmethod
    def named(cls, executable: str) -> "TerraformMissing":
        """The error for this executable."""
        return cls(
            f"Terraform was not found as {executable!r}, so nothing can be written back into code; everything else works. "
            "Install Terraform, or set `reconcile.terraform` to its path."
        )


class TerraformFailed(SentinelError):
    """A terraform command ended with an error, or ran out of time. The message ends with terraform's own last lines."""

    code = "terraform_failed"

    @classmethod
    def saying(cls, command: str, said: str) -> "TerraformFailed":
        """The error for a command and what it said."""
        return cls(f"`terraform {command}` failed, and nothing was written. It said:\n{said}")


class GitFailed(SentinelError):
    """A git command ended with an error. The message ends with git's own last lines."""

    code = "git_failed"


class BranchConflict(SentinelError):
    """The branch we write to and the protected branch changed the same lines; a human must merge them first."""

    code = "branch_conflict"


class EventsInvalid(SentinelError):
    """A file of CloudTrail events cannot be read at all."""

    code = "events_invalid"
