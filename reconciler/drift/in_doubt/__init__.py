"""Finds out whether AWS carried out a mutation in doubt. Nothing is ever sent again.

Read `read_back.py` first; the other two files are its evidence. Imports `drift` and `terraform`.
"""
