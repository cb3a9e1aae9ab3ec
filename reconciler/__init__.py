"""Brings the Terraform code back in line with what the ledger says was done."""
