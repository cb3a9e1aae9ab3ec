"""Proofs that an edit is right, before it may be proposed."""
