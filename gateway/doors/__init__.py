"""The only package that knows HTTP: the AWS-compatible endpoint, the JSON API, and what both share."""
