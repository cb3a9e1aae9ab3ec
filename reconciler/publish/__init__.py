"""Commits edits to a git branch."""
