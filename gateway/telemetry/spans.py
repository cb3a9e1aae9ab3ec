"""Spans of the line of a mutation, for OpenTelemetry. Its SDK is an extra (`sentinel-gateway[otel]`), imported only where a collector is set."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from gateway.core.errors import SettingsInvalid
from gateway.core.model.inbound import Inbound

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import SpanProcessor


class TraceSpan(Protocol):
    """A span that is under way."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Add a member."""
        ...


class Spans(Protocol):
    """Makes spans, each inside the one that is under way."""

    def incoming(self, inbound: Inbound) -> None:
        """Make the trace that a request names the parent of the spans that follow."""
        ...

    def span(self, name: str, attributes: Mapping[str, Any] | None = None, *, client: bool = False) -> Any:
        """A context manager for a span, `client` if it calls another server. What is raised in it marks it as failed, by its class only."""
        ...

    def close(self) -> None:
        """Send what waits. Blocks until then."""
        ...


class OtelSpans:
    """Spans of OpenTelemetry's SDK."""

    def __init__(self, processor: "SpanProcessor", *, share: float = 1.0) -> None:
        """`processor` takes the spans that have ended. `share` of the mutations are traced, whatever their callers wish: they do not decide our cost."""
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415  an extra
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased  # noqa: PLC0415
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator  # noqa: PLC0415

        sampled = TraceIdRatioBased(share)
        sampler = ParentBased(sampled, remote_parent_sampled=sampled, remote_parent_not_sampled=sampled)
        resource = Resource.create({"service.name": "sentinel-gateway"})
        self._provider = TracerProvider(sampler=sampler, resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("sentinel")
        self._propagator = TraceContextTextMapPropagator()
        self._parent: ContextVar[Context | None] = ContextVar("parent", default=None)

    def incoming(self, inbound: Inbound) -> None:
        """Make the trace in `traceparent` the parent of this request's spans."""
        named = {name: value for name in ("traceparent", "tracestate") if (value := inbound.header(name))}
        self._parent.set(self._propagator.extract(named) if named else None)

    @contextmanager
    def span(
        self, name: str, attributes: Mapping[str, Any] | None = None, *, client: bool = False
    ) -> "Iterator[TraceSpan]":
        """See `Spans`."""
        from opentelemetry.trace import SpanKind, Status, StatusCode, get_current_span  # noqa: PLC0415  an extra

        inside = get_current_span().get_span_context().is_valid
        with self._tracer.start_as_current_span(
            name,
            context=None if inside else self._parent.get(),
            kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
            attributes=attributes,
            # The text of an exception may hold what a caller wrote.
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def close(self) -> None:
        """Send what waits."""
        self._provider.shutdown()


def otlp_spans(url: str, share: float) -> OtelSpans:
    """Spans that are sent to a collector in batches, by a thread. Raises `errors.SettingsInvalid` if the extra is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415  an extra
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        raise SettingsInvalid(
            "`telemetry.otlp` needs OpenTelemetry, which is not installed: pip install 'sentinel-gateway[otel]'."
        ) from error
    endpoint = url if url.rstrip("/").endswith("/v1/traces") else f"{url.rstrip('/')}/v1/traces"
    return OtelSpans(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)), share=share)


class NoSpans:
    """Makes none."""

    def incoming(self, inbound: Inbound) -> None:
        """Nothing."""

    @contextmanager
    def span(
        self,
        name: str,  # noqa: ARG002  as `Spans` has them
        attributes: Mapping[str, Any] | None = None,  # noqa: ARG002
        *,
        client: bool = False,  # noqa: ARG002
    ) -> "Iterator[TraceSpan]":
        """Nothing."""
        yield _NO_SPAN

    def close(self) -> None:
        """Nothing."""


class _NoSpan:
    def set_attribute(self, key: str, value: Any) -> None:
        pass


_NO_SPAN = _NoSpan()
