"""The doors through which requests arrive: the AWS-compatible endpoint, the JSON API, MCP, the console and chat, and what they share."""
