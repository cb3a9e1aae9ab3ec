"""One module for each form of message, which reads its events. `message_proof` verifies a message before it is parsed."""
