"""One file per kind of edit of HCL text; bytes outside the edit never change.

Read `splice.py` first. Imports the sites of `trace`, and from `rewrite` how parts of values are compared.
"""
