"""Parsers from the wire formats to parameters: one module per family of protocols, each the inverse of a botocore serializer."""
