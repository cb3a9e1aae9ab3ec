"""Finds out whether AWS carried out a mutation in doubt. No mutation is sent again.

Read `read_back.py` first; the other two files are its evidence. Imports `changes` and `terraform`.
"""
