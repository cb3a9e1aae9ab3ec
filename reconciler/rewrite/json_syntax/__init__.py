"""Writes edits of code in JSON syntax: they are made on the HCL that says the same, and what differs there is changed in the JSON.

Read `write.py` first. Imports only `editors.hcl_text`.
"""
