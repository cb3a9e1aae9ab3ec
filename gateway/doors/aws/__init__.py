"""The AWS-compatible endpoint."""
