"""Terraform plans judged as one change before their apply. Read `check` first."""
