"""Applied mutations, foreign changes, and the values that the code should declare."""
