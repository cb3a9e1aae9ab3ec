"""Edits of Terraform code: tracing an attribute to its definition, and writing the new value there."""
