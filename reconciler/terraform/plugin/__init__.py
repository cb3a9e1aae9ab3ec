"""Reads live resources from a provider process directly, without a plan.

Read `reads.py` first. Imports only `terraform`. Source: Terraform's plug-in protocol, version 5.
"""
