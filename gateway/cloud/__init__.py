"""AWS: sign, send once."""
