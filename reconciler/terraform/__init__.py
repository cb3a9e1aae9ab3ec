"""Terraform: the command, its plans, and how its values compare."""
