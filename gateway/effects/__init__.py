"""What each AWS operation does to Terraform resources: one file per service."""
