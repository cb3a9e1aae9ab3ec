"""What changed: applied mutations, foreign changes, and the values that the code should declare."""
