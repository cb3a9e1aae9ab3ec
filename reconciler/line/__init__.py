"""The line from a record of the ledger to a commit, and the durable workflows that run it for every stack.

Read `loop.py` first. Imports every other room but `working_copy`; nothing below imports it but the scan of `drift`.
"""
