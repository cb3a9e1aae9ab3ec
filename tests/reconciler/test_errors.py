"""The reconciler's errors travel through DBOS, which pickles them, and stay sentences."""

import pickle

import pytest

from gateway.core.errors import EventsInvalid, SentinelError
from reconciler.errors import BranchConflict, GitFailed, TerraformFailed, TerraformMissing


@pytest.mark.parametrize(
    "error",
    [
        TerraformMissing.named("tf"),
        TerraformFailed.saying("plan", "Error: no"),
        GitFailed("It failed."),
        BranchConflict("It failed."),
        EventsInvalid("It failed."),
    ],
)
def test_an_error_survives_pickling_with_its_sentence(error: SentinelError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  our own bytes
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert error.code != SentinelError.code
