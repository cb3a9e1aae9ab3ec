"""Rego engines and what policy authors use: bundles, tests, comparison."""
