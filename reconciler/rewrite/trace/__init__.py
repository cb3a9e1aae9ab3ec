"""Traces an attribute to the sites that define it, one file by what is traced.

Read `attribute.py` first; `sites.py` has the values that it finds. Imports how `editors` writes HCL text, and `terraform`'s documents.
"""
