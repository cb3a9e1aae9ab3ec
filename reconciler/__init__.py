"""Writes the changes that the ledger records back into the Terraform code.

Read `line/loop.py` first: the line from a record to a commit. `app.py` is the composition root, `workflows.py` runs the line for every
stack. The rooms, from above: `drift` and `notify`; `line`; `proof` and `publish`; `suggest`; `rewrite`; `changes`; `terraform`. Each
imports only what stands below it. Of the gateway only the nouns, the ledger and the reading of Terraform code are imported.
"""
