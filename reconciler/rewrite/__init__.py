"""Edits of Terraform code: traces an attribute to its definition and writes the wanted value there."""
