"""Suggested edits, for wanted values that no editor can write: from earlier reconciliations first, then from a language model.

Read `suggestions.py` first. Imports `rewrite`; every suggestion is held to the same proofs as an editor's edit.
"""
