"""What others are told of records: the content of webhooks and of cards in a chat, and how it is signed. Touches no network."""
