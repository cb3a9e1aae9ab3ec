"""The Terraform language: parsing, expressions, functions, values and evaluation."""
