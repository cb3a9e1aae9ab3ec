"""Makes the content of notices about records: of webhooks and of cards in a chat. Touches no network."""
