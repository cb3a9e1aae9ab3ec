"""AWS, seen from both sides: the door for clients, the client towards AWS, and the models that both read."""
