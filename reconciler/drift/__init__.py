"""Differences between live and code: a schedule finds them, and each is healed, put back, settled or left to a human.

Read `scan.py` first, then `healing.py`. Imports `changes`, `line`, `publish`, `rewrite` and `terraform`; only the composition root imports it.
"""
