"""`sentinel reconcile` on any working copy, without a gateway and without a ledger.

Read `run.py` first. Imports `proof`, `rewrite`, `drift`, `suggest` and `terraform`; only the commands import it.
"""
