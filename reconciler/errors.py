"""The reconciler's exceptions. Each message is a sentence for the user, as in the gateway."""

from collections.abc import Sequence

from gateway.core.errors import SentinelError


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


class GatewayUnreachable(SentinelError):
    """The gateway, or the live values that it passes on, cannot be reached now. Nothing was sent."""

    code = "gateway_unreachable"


class PutBackInterrupted(SentinelError):
    """A put-back ended before its outcome was known. The ledger says what came of it."""

    code = "put_back_interrupted"


class NoticeInterrupted(SentinelError):
    """A batch of notices ended before its answers were recorded. They are still open, and sent again with the same ids."""

    code = "notice_interrupted"


class PluginUnavailable(SentinelError):
    """Live resources cannot be read from the provider directly. Terraform itself reads them then; nothing is lost but time."""

    code = "plugin_unavailable"

    @classmethod
    def because(cls, reason: str) -> "PluginUnavailable":
        """The error for a reason, which is a whole sentence."""
        return cls(f"The provider could not be read directly, so terraform reads instead. {reason}")


class StateNotUpdated(SentinelError):
    """A plan that should update the state alone would change more, so it was not applied."""

    code = "state_not_updated"

    @classmethod
    def because(cls, reason: str) -> "StateNotUpdated":
        """The error for what the plan would do beside that."""
        return cls(
            f"The state was not brought up to date: the plan would do more than that ({reason}). Nothing was applied, and the state is as it was."
        )


class GitFailed(SentinelError):
    """A git command failed. The message ends with git's last lines of output."""

    code = "git_failed"


class BranchConflict(SentinelError):
    """The stack's branch and the protected branch changed the same lines; a human must merge them first."""

    code = "branch_conflict"


class ForeignCommit(SentinelError):
    """The stack's branch has a commit that is neither ours nor in the protected branch; none of it is planned."""

    code = "foreign_commit"

    @classmethod
    def on(cls, branch: str, commits: Sequence[str], *, count: int) -> "ForeignCommit":
        """The error for the foreign commits of a branch, of which the latest are named."""
        named = ", ".join(commit[:12] for commit in commits)
        return cls(
            f"The branch {branch} has {count} commit(s) that Sentinel did not make and the protected branch does not contain "
            f"({named}), so nothing of it was planned or written, and the branch was not touched. Look at them; merge the "
            "branch into the protected branch, or delete it. Then Sentinel continues."
        )


class CodeRefused(SentinelError):
    """The code would run a program or reach a server when it is planned, and the settings do not allow that."""

    code = "code_refused"


class GitHubFailed(SentinelError):
    """GitHub could not be reached, refused, or answered something else than its documentation says."""

    code = "github_failed"


class GitHubBusy(GitHubFailed):
    """GitHub wants us to wait."""

    code = "github_busy"
    wait_seconds: float = 60.0

    @classmethod
    def wanting(cls, where: str, seconds: float) -> "GitHubBusy":
        """The error for a request, with the seconds to wait."""
        error = cls(f"GitHub's rate limit was reached at {where}; it is tried again in {seconds:.0f} seconds.")
        error.wait_seconds = seconds
        return error
