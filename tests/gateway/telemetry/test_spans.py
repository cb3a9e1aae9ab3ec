"""Spans: one inside the other, in the caller's trace, without texts of errors; and a sentence where the extra is missing."""

import sys
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.core.errors import SettingsInvalid
from gateway.core.model.inbound import Inbound
from gateway.telemetry.spans import NoSpans, OtelSpans, otlp_spans

TRACE = "0af7651916cd43dd8448eb211c80319c"


def _inbound(*headers: tuple[str, str]) -> Inbound:
    async def body() -> bytes:
        return b""

    return Inbound(method="POST", target="/", headers=headers, read_body=body, received_at=datetime.now(UTC))


def _made() -> tuple[OtelSpans, InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    return OtelSpans(SimpleSpanProcessor(exporter)), exporter


def _trace(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.trace_id:032x}"


def test_spans_are_nested_in_the_trace_of_the_caller() -> None:
    spans, exporter = _made()
    spans.incoming(_inbound(("traceparent", f"00-{TRACE}-b7ad6b7169203331-00")))
    with spans.span("outer") as outer:
        outer.set_attribute("a", 1)
        with spans.span("inner", {"b": 2}, client=True):
            pass
    inner, outer_span = exporter.get_finished_spans()
    assert (inner.name, inner.kind.name, dict(inner.attributes or {})) == ("inner", "CLIENT", {"b": 2})
    assert _trace(inner) == _trace(outer_span) == TRACE
    assert inner.parent is not None
    assert outer_span.context is not None
    assert inner.parent.span_id == outer_span.context.span_id
    spans.incoming(_inbound())
    with spans.span("next"):
        pass
    assert _trace(exporter.get_finished_spans()[-1]) != TRACE
    spans.close()


def test_a_failure_is_marked_by_its_class_and_not_by_its_text() -> None:
    spans, exporter = _made()
    with pytest.raises(ValueError, match="hunter2"), spans.span("broken"):
        raise ValueError("hunter2")
    [span] = exporter.get_finished_spans()
    assert dict(span.attributes or {}) == {"error.type": "ValueError"}
    assert "hunter2" not in span.to_json()
    assert not span.status.is_ok


def test_callers_do_not_decide_what_is_traced() -> None:
    exporter = InMemorySpanExporter()
    spans = OtelSpans(SimpleSpanProcessor(exporter), share=0.0)
    spans.incoming(_inbound(("traceparent", f"00-{TRACE}-b7ad6b7169203331-01")))
    with spans.span("outer"):
        pass
    assert exporter.get_finished_spans() == ()


def test_no_spans_are_no_spans() -> None:
    spans = NoSpans()
    spans.incoming(_inbound())
    with spans.span("a") as span:
        span.set_attribute("b", 1)
    spans.close()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SettingsInvalid, match=r"pip install 'sentinel-gateway\[otel\]'"):
        otlp_spans("http://127.0.0.1:1", 1.0)


class _Collector(BaseHTTPRequestHandler):
    """Takes spans, and keeps the paths that they came to."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.server.paths.append(self.path)  # type: ignore[attr-defined]  # of the server below
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as its base class has it
        pass


@pytest.mark.enable_socket
@pytest.mark.parametrize("path", ["", "/", "/v1/traces"])
def test_a_collector_gets_what_waits_at_the_end(path: str) -> None:
    with HTTPServer(("127.0.0.1", 0), _Collector) as server:
        paths: list[str] = []
        vars(server)["paths"] = paths
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        spans = otlp_spans(f"http://127.0.0.1:{server.server_port}{path}", 1.0)
        with spans.span("outer"):
            pass
        spans.close()
        server.shutdown()
        thread.join()
    assert paths == ["/v1/traces"]
