"""The terraform command, its plans and states, live reads, and the comparison of provider values.

Read `cli.py` and `plan.py` first. Imports no other room of the reconciler.
"""
