"""The binding of a hold, for tests that record decisions without running the checks."""

from gateway.core.model.approval import Binding

BOUND = Binding(
    caller="c", motive="m", effects="e", code="t", bundle="b", reasons=("bounds.max",), contests=(), approvers="a"
)
