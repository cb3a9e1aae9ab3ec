"""Terraform configuration: source files, the module tree, resource instances and references."""
