"""Derives from the records what the other tables must hold, and compares. One module per table."""
