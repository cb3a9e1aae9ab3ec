"""Terraform code, state and contracts, read-only."""
