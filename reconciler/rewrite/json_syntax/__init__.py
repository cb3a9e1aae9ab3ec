"""Writes edits of code in JSON syntax: the edit is made on HCL that declares the same, and the JSON gets the difference.

Read `write.py` first. Imports `editors`, and `terraform` to ask providers which objects are blocks.
"""
