"""Tells callers before they act which values of a resource are declared, recorded and live, its bounds, its holders and its latest changes."""
