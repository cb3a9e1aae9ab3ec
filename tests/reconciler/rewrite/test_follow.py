"""The modules of tracing call each other through one type."""

import inspect
from collections.abc import Callable

from reconciler.rewrite import trace_calls, trace_lists
from reconciler.rewrite.follow import Follow


def test_every_tracer_takes_the_function_that_follows() -> None:
    tracers: list[Callable[..., object]] = [tracer for _, tracer in trace_lists.TRACERS.values()]
    tracers += [trace_calls.call, trace_calls.arithmetic, trace_calls.template, trace_calls.condition]
    for tracer in tracers:
        assert inspect.signature(tracer).parameters["follow"].annotation == Follow
