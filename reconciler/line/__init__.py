"""The line from a record of the ledger to a commit.

Read `loop.py` first. Imports `proof`, `publish`, `rewrite`, `changes` and `terraform`; `drift` and the durable workflows run it.
"""
