"""Writes the changes that the ledger records back into the Terraform code."""
