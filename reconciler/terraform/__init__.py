"""The terraform command, its plans, and the comparison of provider values."""
