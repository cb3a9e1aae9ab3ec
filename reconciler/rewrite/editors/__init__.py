"""One file per kind of edit of HCL text; bytes outside the edit never change.

Read `splice.py` first. Imports only the sites of `trace` and the parts of values.
"""
