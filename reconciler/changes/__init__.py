"""Changes of live resources as values: by our own records, by CloudTrail's events, and what of them belongs into code.

Read `applied_mutation.py` first, then `classification.py`. Imports only `terraform`.
"""
