"""Answers what is declared, recorded and live, within which bounds, who holds it, and what changed lately; for callers before they act."""
