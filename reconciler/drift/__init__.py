"""Differences between live and code: from our own records, from CloudTrail, from a scan on a schedule, and what is done about each.

Read `applied_mutation.py` and `classification.py` first: they are the values of the line. `scan.py` is the schedule. Imports `terraform`;
the scan runs the line, so it imports `line` too.
"""
