"""Edits of Terraform code: traces an attribute to its definition and writes the wanted value there.

Read `edits.py` first, then `value_edits.py`. Imports `changes` and `terraform`; only `json_syntax/nested_blocks.py` starts a process.
"""
