"""Suggested edits, for wanted values that no editor can write: from earlier reconciliations first, then from a language model.

A suggestion is only that. It passes the same proofs as every edit, or is dropped. Off unless `reconcile.suggest` has a key.
"""
