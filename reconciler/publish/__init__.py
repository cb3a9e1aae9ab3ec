"""Commits edits to a git branch, pushes it, and keeps its pull request.

Read `git.py` first. Imports `suggest`, `rewrite`, `changes` and `terraform`.
"""
