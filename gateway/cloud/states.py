"""Reads Terraform states that are no files: those in S3 by ourselves, those in any other backend by Terraform."""

from dataclasses import dataclass

from gateway.cloud.pulled_states import PulledStates
from gateway.cloud.state_objects import BucketStates
from gateway.terraform.config.backend import StateBackend, StateObject


@dataclass(frozen=True, slots=True)
class States:
    """Both ways."""

    buckets: BucketStates
    backends: PulledStates

    def read(self, wanted: StateObject | StateBackend) -> tuple[bytes, str]:
        """The state and a tag that changes with it; no bytes if there is none yet. Raises `errors.CodeInvalid`."""
        return self.buckets.read(wanted) if isinstance(wanted, StateObject) else self.backends.read(wanted)
