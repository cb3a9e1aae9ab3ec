"""Puts changes back that were wanted for a time only.

Read `put_back.py` first. Imports `line.retry` and `terraform`; the gateway is asked over its JSON API.
"""
