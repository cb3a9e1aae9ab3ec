"""Writes the ledger's records in the forms that other tools read, each record exactly once."""
