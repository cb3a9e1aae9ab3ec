"""Terraform's JSON syntax (`*.tf.json`, `*.tfvars.json`), read as the HCL that says the same."""
