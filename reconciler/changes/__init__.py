"""Changes of live resources as values: from our own records, from CloudTrail's events, and which of them belong into code.

Read `applied_mutation.py` first, then `classification.py`. Imports only `terraform`.
"""
