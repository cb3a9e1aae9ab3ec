"""The reconciler's exceptions. Each message is a sentence for the user, as in the gateway."""

from gateway.errors import SentinelError


class TerraformMissing(SentinelError):
    """The terraform executable was not found; everything except writing back works without it."""

    code = "terraform_missing"

    @classmethod
    def named(cls, executable: str) -> "TerraformMissing":
        """The error for this executable."""
        return cls(
            f"Terraform was not found as {executable!r}, so nothing can be written back into code; everything else works. "
            "Install Terraform, or set `reconcile.terraform` to its path."
        )


class TerraformFailed(SentinelError):
    """A terraform command failed or timed out. The message ends with terraform's last lines of output."""

    code = "terraform_failed"

    @classmethod
    def saying(cls, command: str, output: str) -> "TerraformFailed":
        """The error for a command and its output."""
        return cls(f"`terraform {command}` failed, and nothing was written. It said:\n{output}")


class GitFailed(SentinelError):
    """A git command failed. The message ends with git's last lines of output."""

    code = "git_failed"


class BranchConflict(SentinelError):
    """The stack's branch and the protected branch changed the same lines; a human must merge them first."""

    code = "branch_conflict"


class EventsInvalid(SentinelError):
    """A file of CloudTrail events cannot be read as a whole."""

    code = "events_invalid"
