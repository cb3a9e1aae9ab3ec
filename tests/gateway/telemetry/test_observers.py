"""The observed line does what the plain one does, and a mutation has its spans, one inside the other."""

from functools import partial

from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.telemetry.figures import Figures
from gateway.telemetry.observers import ObservedPipeline
from gateway.telemetry.spans import OtelSpans
from gateway.telemetry.watch import Watch
from tests.kit.doubles import AGENT, CloudDouble, LedgerDouble, asked, line


async def test_a_mutation_has_its_spans_and_its_figures() -> None:
    exporter, figures = InMemorySpanExporter(), Figures()
    watch = Watch(figures, OtelSpans(SimpleSpanProcessor(exporter)))
    observed = line(LedgerDouble(), CloudDouble([]), make=partial(ObservedPipeline, watch))
    result = await observed.execute(AGENT, asked())
    assert type(result.outcome).__name__ == "Applied"
    spans = {span.name: span for span in exporter.get_finished_spans()}
    root = spans["sentinel.mutation"]
    assert (root.attributes or {})["sentinel.mutation.id"] == result.mutation.id
    inner = set(spans) - {"sentinel.mutation"}
    assert {"sentinel.record_decision", "sentinel.record_outcome"} < inner
    assert root.context is not None
    for name in inner:
        parent = spans[name].parent
        assert parent is not None
        assert parent.span_id == root.context.span_id
    text = figures.text("")[0].decode()
    assert 'outcome="applied"} 1.0' in text
    assert "sentinel_ledger_commit_duration_seconds_count 2.0" in text
