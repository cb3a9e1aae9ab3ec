"""The AWS-compatible endpoint for clients: routing, parsing, replies, uploads. Read `endpoint` first."""
