"""The evaluated values of every block before and after an edit: what differs there, the edit changes.

Read `changes.py` first. Imports the evaluator of `gateway.terraform`, and how `terraform` reads JSON documents.
"""
