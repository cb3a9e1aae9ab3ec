"""Telemetry of a gateway: figures for Prometheus, and spans of the line of a mutation. No label names an actor or a resource."""
