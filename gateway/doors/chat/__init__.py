"""Approvals in a chat: what people click and type there is held to the same rules as the JSON API."""
