"""Commits edits to a git branch, pushes it, and keeps its pull request.

Read `git.py` first. Imports `drift`, and of `line` only the backlog and retries.
"""
