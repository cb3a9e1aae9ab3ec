"""Contracts: reading `*.sentinel.hcl`, resolving them for a resource, and what each bound means."""
