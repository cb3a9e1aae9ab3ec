"""Edits of Terraform code: traces an attribute to its definition and writes the wanted value there.

Read `edits.py` first, then `value_edits.py`. Imports `terraform` and the nouns of `drift`; starts no process.
"""
