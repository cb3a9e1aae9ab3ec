"""Finds out whether AWS carried out a mutation in doubt. Nothing is ever sent again."""
