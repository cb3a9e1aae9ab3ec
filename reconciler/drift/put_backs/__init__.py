"""Puts the earlier value back after a change that was wanted for a time only.

Read `put_back.py` first. Imports `terraform` and `retry.py`; the gateway puts the value back, over its JSON API.
"""
