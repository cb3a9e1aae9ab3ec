"""Proofs that an edit is right, and the edits that have all of them."""
