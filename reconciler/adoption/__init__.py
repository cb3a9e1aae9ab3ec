"""Finds what events say was created: its type, the id to import it by, and the block that declares it, all as the provider itself reads it.

Read `adoption.py` first. Imports `changes` and `terraform`.
"""
