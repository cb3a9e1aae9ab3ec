"""Proofs that an edit is right, and the edits that have all of them.

Read `proofs.py` first, then `proved_edit.py`. Imports `suggest`, `rewrite`, `changes` and `terraform`.
"""
