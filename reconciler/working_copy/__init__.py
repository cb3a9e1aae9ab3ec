"""`sentinel reconcile` on any working copy, without a gateway and without a ledger.

Read `run.py` first. Imports `drift`, `proof`, `publish`, `suggest`, `rewrite`, `changes` and `terraform`; only the command imports it.
"""
