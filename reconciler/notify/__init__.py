"""Tells others what was recorded: signed webhooks, and cards in a chat."""
