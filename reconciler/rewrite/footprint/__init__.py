"""What an edit changes beside its text: the evaluated values of every block before and after it.

Read `changes.py` first. Imports only the evaluator of `gateway.terraform`.
"""
