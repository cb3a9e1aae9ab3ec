"""Puts changes back that were wanted for a time only."""
